"""Images that come to a node of a cluster, which is a second engine without a way out, from a registry and a bundle."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import docker
import pytest
from far_support import FarSide
from registry_server import Registry, free_port, missing, registry

from orchestrator.resources import ROOT
from tests import required

pytestmark = pytest.mark.docker
MATRIX = """
version: 1
name: night
systems: {cpu: {cpus: 1}}
frameworks: [noop==1]
models: [{name: mlp, batch_size: [16, 32]}]
repeats: 1
"""
IMAGE = "bench/noop:1-cpu"
WAYS = {"registry": "{pushed: images.json}", "bundle": "{bundle: carried}"}
EXPORT = ("export", "--offline", "--no-orchestrator", "--no-wheel-check", "--python", "3.11", "-o", "carried")


@pytest.fixture(scope="module")
def address() -> str:
    if reason := missing():
        required.missing(reason, "BENCH_REQUIRE_ENGINE")
    return f"127.0.0.1:{free_port()}"


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("registry")


@pytest.fixture(scope="module")
def shared(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that all hosts see, with the matrix, whose images the submitting host has."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "matrix.yaml").write_text(MATRIX)
    assert submitting(folder, base_image, "build").returncode == 0
    return folder


@pytest.fixture(scope="module")
def _pushed(shared: Path, address: str, storage: Path, base_image: str) -> None:
    with registry(storage, address):
        ended = submitting(shared, base_image, "push", f"{address}/team", "-o", "images.json")
    assert ended.returncode == 0, ended.stderr


@pytest.fixture(scope="module")
def _carried(shared: Path, base_image: str) -> None:
    ended = submitting(shared, base_image, *EXPORT)
    assert ended.returncode == 0, ended.stderr


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    """A way of images to nodes, once there is something at its beginning."""
    way = str(request.param)
    request.getfixturevalue("_pushed" if way == "registry" else "_carried")
    return way


@pytest.fixture
def served(empty_far_of_module: FarSide, storage: Path, address: str) -> Iterator[Registry]:
    """The registry as the node sees it."""
    with registry(storage, address, inside=empty_far_of_module.inside()) as there:
        yield there


@pytest.fixture
def node(empty_far_of_module: FarSide) -> FarSide:
    """A node whose engine has nothing, and no base image to build on."""
    client = empty_far_of_module.client()
    for name in (tag for image in client.api.images() for tag in image["RepoTags"] or ()):
        client.api.remove_image(name, force=True)
    client.close()
    return empty_far_of_module


def submitting(folder: Path, base_image: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command on the host that submits."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache"), "XDG_DATA_HOME": str(folder / "data"),
        "ORCHESTRATOR_BASE_IMAGE": base_image, "PATH": f"{folder}/slurm:{os.environ['PATH']}", "COLUMNS": "200",
    }  # fmt: skip
    command = [sys.executable, "-m", "orchestrator", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def frozen(shared: Path, base_image: str, way: str) -> Path:
    """Submit a run to a scheduler that takes every job and starts none. Return its folder."""
    (shared / "slurm").mkdir(exist_ok=True)
    (shared / "slurm" / "sbatch").write_text("#!/bin/sh\necho 12\n")
    (shared / "slurm" / "sbatch").chmod(0o755)
    (shared / "site.yaml").write_text(f"version: 1\nexecutor: slurm\nimages: {WAYS[way]}\n")
    ended = submitting(shared, base_image, "run", "--detach")
    assert ended.returncode == 0, ended.stderr
    return shared / "results" / ended.stdout.strip()


def measured(node: FarSide, run: Path, part: str) -> subprocess.CompletedProcess[str]:
    """Measure a part as its job does, without the variables of the host that submitted."""
    environment = node.environment(PYTHONPATH=str(ROOT), SLURMD_NODENAME="node7", ORCHESTRATOR_IDLE_WAIT="0")
    command = (sys.executable, "-m", "orchestrator", "run", "--part", str(run / "parts" / part))
    return node.run(*command, environment=environment)


def outcomes(run: Path) -> list[tuple[str, str]]:
    read = (json.loads(path.read_text()) for path in sorted(run.glob("parts/*/node7/*/mlp-*/*/outcome.json")))
    return [(outcome["status"], outcome["reason"]) for outcome in read]


@pytest.mark.usefixtures("served")
def test_images_come_to_a_node_once(way: str, node: FarSide, shared: Path, base_image: str) -> None:
    run = frozen(shared, base_image, way)
    first, second = (measured(node, run, part) for part in ("000", "001"))

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert outcomes(run) == [("ok", ""), ("ok", "")]
    said = "note: pulling " if way == "registry" else f"loaded {IMAGE} from {shared}/carried"
    assert (first.stderr.count(said), second.stderr.count(said)) == (1, 0)
    record = json.loads((run / "parts" / "000" / "node7" / "run.json").read_text())
    assert record["images"] == {"kind": way, "place": str(shared / ("images.json" if way == "registry" else "carried"))}


@pytest.mark.usefixtures("_carried")
def test_a_bundle_is_opened_once_on_a_node(node: FarSide, shared: Path, base_image: str) -> None:
    """The second part of a node finds the images, and goes on without the bundle."""
    run = frozen(shared, base_image, "bundle")
    measured(node, run, "000")
    with gone(shared / "carried"):
        measured(node, run, "001")

    assert outcomes(run) == [("ok", ""), ("ok", "")]


def test_an_image_that_does_not_come_blames_nobody(
    way: str, node: FarSide, shared: Path, base_image: str, storage: Path
) -> None:
    """No registry answers, or the bundle has gone. The run goes on when it is back."""
    run = frozen(shared, base_image, way)
    with gone(shared / "carried") if way == "bundle" else nullcontext():
        ended = measured(node, run, "000")

    assert ended.returncode == 0, ended.stderr
    ((status, reason),) = outcomes(run)
    assert status == "not_run"
    assert ("no registry answers there" if way == "registry" else "/carried: no such bundle") in reason
    with back(node, shared, storage) if way == "registry" else nullcontext():
        again = measured(node, run, "000")
    assert again.returncode == 0, again.stderr
    assert outcomes(run) == [("ok", "")]


@contextmanager
def gone(folder: Path) -> Iterator[None]:
    folder.rename(folder.with_name("away"))
    try:
        yield
    finally:
        folder.with_name("away").rename(folder)


def back(node: FarSide, shared: Path, storage: Path) -> AbstractContextManager[Registry]:
    """Serve the registry again, at the address that the pushed images have."""
    address = str(json.loads((shared / "images.json").read_text())["data"]["registry"]).partition("/")[0]
    return registry(storage, address, inside=node.inside())


@pytest.mark.usefixtures("served", "_pushed")
@pytest.mark.parametrize("words", [("build",), ("regress", "--baseline", "noop==1", "--candidate", "noop==1")])
def test_other_commands_pull_images_too(
    words: tuple[str, ...], node: FarSide, shared: Path, base_image: str, tmp_path: Path
) -> None:
    """Without a base image on the engine, which a build would need."""
    own = {"PYTHONPATH": str(ROOT), "ORCHESTRATOR_IDLE_WAIT": "0", "ORCHESTRATOR_BASE_IMAGE": base_image}
    more = () if words == ("build",) else ("--repeats", "2", "--no-confirm", "--results", str(tmp_path))
    source = ("-f", str(shared / "matrix.yaml"), "--images", str(shared / "images.json"))
    ended = node.run(sys.executable, "-m", "orchestrator", *words, *source, *more, environment=node.environment(**own))

    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("note: pulling ") == 1
    records = [json.loads(path.read_text()) for path in tmp_path.glob("*/run.json")]
    assert [record["images"]["kind"] for record in records] == ["registry"] * (words != ("build",))


@pytest.mark.usefixtures("_carried")
def test_another_bundle_at_the_place_is_refused(node: FarSide, shared: Path, base_image: str) -> None:
    run = frozen(shared, base_image, "bundle")
    kept = shared / "kept"
    (shared / "carried").rename(kept)
    (shared / "other.yaml").write_text(MATRIX.replace("night", "other"))
    try:
        ended = submitting(shared, base_image, *EXPORT, "-f", "other.yaml")
        assert ended.returncode == 0, ended.stderr
        measured(node, run, "000")
    finally:
        shutil.rmtree(shared / "carried")
        kept.rename(shared / "carried")

    ((status, reason),) = outcomes(run)
    assert (status, "is another bundle than when this run began" in reason) == ("not_run", True)
