"""Images pushed to a registry and run on another engine, as docs/registry.md walks it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from carried_support import carry
from docker_images import tells_no_layers
from far_support import FarSide
from registry_server import Registry, free_port, missing, registry

from orchestrator.engine.images import facts
from orchestrator.images import labels
from orchestrator.resources import ROOT
from tests import required
from tests.documented import blocks
from tests.envelopes import data_of

pytestmark = pytest.mark.docker
PAGE = "registry.md"
MATRIX = """
version: 1
name: night
systems: {cpu: {cpus: 1}}
frameworks: [noop==1]
models: [{name: mlp, batch_size: 32}]
repeats: 2
"""
IMAGE = "bench/noop:1-cpu"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the matrix, on the first host."""
    folder = tmp_path_factory.mktemp("near")
    (folder / "night.yaml").write_text(MATRIX)
    return folder


@pytest.fixture(scope="module")
def served(
    engine: docker.DockerClient, empty_far_of_module: FarSide, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Registry]:
    """A registry that both hosts have at the same address: two processes serve one folder."""
    if reason := missing():
        required.missing(reason, "BENCH_REQUIRE_ENGINE")
    folder, address = tmp_path_factory.mktemp("registry"), f"127.0.0.1:{free_port()}"
    with (
        registry(folder, address) as near,
        registry(folder, address, inside=empty_far_of_module.inside()),
    ):
        yield near


@pytest.fixture(scope="module")
def walked(served: Registry, place: Path, base_image: str) -> str:
    """The first section of the page, and what its commands said."""
    ended = _walk("Where images are built", served, place, _near(place, base_image))
    assert ended.returncode == 0, ended.stderr
    return ended.stdout + ended.stderr


def _near(place: Path, base_image: str) -> dict[str, str]:
    return os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
        "XDG_CACHE_HOME": str(place / "cache"), "XDG_DATA_HOME": str(place / "data"),
        "ORCHESTRATOR_BASE_IMAGE": base_image, "COLUMNS": "200",
    }  # fmt: skip


def _script(section: str, served: Registry) -> str:
    text = "".join(blocks(PAGE, section, "sh"))
    return "set -eu\n" + text.replace("registry.example.org", served.address)


def _walk(section: str, served: Registry, place: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = ["sh", "-c", _script(section, served)]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)


def _far(far: FarSide, base_image: str) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return far.environment(
        PATH=path, PYTHONPATH=str(ROOT), ORCHESTRATOR_BASE_IMAGE=base_image, ORCHESTRATOR_IDLE_WAIT="0", COLUMNS="200"
    )


def _names(client: docker.DockerClient) -> set[str]:
    listed = client.api.images()
    return {name for image in listed for name in (*(image["RepoTags"] or ()), *(image["RepoDigests"] or ()))}


def _content_tag(place: Path) -> str:
    (image,) = data_of((place / "images.json").read_bytes())["images"]
    return str(image["reference"])


def test_a_pushed_image_is_named_by_digest(walked: str, served: Registry, place: Path) -> None:
    document = data_of((place / "images.json").read_bytes())
    (image,) = document["images"]

    assert (document["registry"], document["missing"]) == (f"{served.address}/team", [])
    assert image["image"] == IMAGE
    assert image["digest"].startswith(f"{served.address}/team/bench/noop@sha256:")
    assert image["layers_sent"] is None if tells_no_layers() else image["layers_sent"] > 0
    assert image["digest"] in walked
    repositories = served.folder / "storage" / "docker" / "registry" / "v2" / "repositories"
    assert (repositories / "team" / "bench" / "noop" / "_manifests" / "tags").is_dir()


@pytest.mark.usefixtures("walked")
def test_the_engine_keeps_no_name_of_the_registry(engine: docker.DockerClient, served: Registry) -> None:
    assert not [name for name in _names(engine) if name.startswith(served.address)]


@pytest.mark.usefixtures("walked")
def test_a_second_push_sends_no_blob(served: Registry, place: Path, base_image: str) -> None:
    """A push with nothing missing asks for every layer and sends none."""
    sent = served.blob_uploads()
    assert sent > 0
    first = data_of((place / "images.json").read_bytes())["images"]

    command = [sys.executable, "-m", "orchestrator", "push", f"{served.address}/team", "-f", "night.yaml", "--json"]
    ended = subprocess.run(
        command, cwd=place, env=_near(place, base_image), capture_output=True, text=True, check=False
    )

    assert ended.returncode == 0, ended.stderr
    assert served.blob_uploads() == sent
    none = None if tells_no_layers() else 0
    assert data_of(ended.stdout)["images"] == [each | {"layers_sent": none} for each in first]


@pytest.mark.usefixtures("walked")
def test_an_image_not_built_is_named(served: Registry, place: Path, base_image: str) -> None:
    """An image that the engine lacks is named with the remedy, and the others are pushed."""
    (place / "two.yaml").write_text(MATRIX.replace("noop==1", "noop==1, torch==1.13.1"))

    command = [sys.executable, "-m", "orchestrator", "push", served.address, "-f", "two.yaml", "--json"]
    ended = subprocess.run(
        command, cwd=place, env=_near(place, base_image), capture_output=True, text=True, check=False
    )

    document = data_of(ended.stdout)
    assert ended.returncode == 1
    assert [image["image"] for image in document["images"]] == [IMAGE]
    assert document["missing"] == ["bench/torch:1.13.1-cpu"]
    assert "bench/torch:1.13.1-cpu is not on this engine; bring it first with: orchestrator build" in ended.stderr


@pytest.mark.usefixtures("walked")
def test_another_host_runs_pulled_images(
    empty_far_of_module: FarSide, served: Registry, place: Path, base_image: str, tmp_path: Path
) -> None:
    """An engine without images pulls them by digest, names them by content, and measures."""
    far = empty_far_of_module
    for name in ("night.yaml", "images.json"):
        shutil.copy(place / name, tmp_path)

    script = _script("On another host", served)
    ended = far.run("sh", "-c", script, folder=tmp_path, environment=_far(far, base_image))

    assert ended.returncode == 0, ended.stderr
    outcomes = [json.loads(path.read_text()) for path in tmp_path.glob("results/*/*/mlp-*/*/outcome.json")]
    assert [outcome["status"] for outcome in outcomes] == ["ok", "ok"]
    client = far.client()
    assert _names(client) == {IMAGE, _content_tag(tmp_path)}
    client.close()
    assert not list(tmp_path.glob("results/*/builds/*"))


@pytest.mark.usefixtures("walked")
def test_an_image_outside_the_file_is_refused(
    empty_far_of_module: FarSide, place: Path, base_image: str, tmp_path: Path
) -> None:
    """Before anything is pulled or written, a missing image that the file does not list is named."""
    far = empty_far_of_module
    (tmp_path / "two.yaml").write_text(MATRIX.replace("noop==1", "torch==1.13.1"))
    command = (sys.executable, "-m", "orchestrator", "run", "-f", "two.yaml", "--images", str(place / "images.json"))

    ended = far.run(*command, folder=tmp_path, environment=_far(far, base_image))

    assert ended.returncode == 2
    assert "images.json: lists no bench/torch:1.13.1-cpu-" in ended.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.usefixtures("walked")
def test_a_bundles_images_come_from_a_registry(
    empty_far_of_module: FarSide, engine: docker.DockerClient, place: Path, base_image: str, tmp_path: Path
) -> None:
    """The plan of a bundle runs with images that its host lacks, if the registry has the very same."""
    far = empty_far_of_module
    bundle = carry(engine, far, place / "night.yaml", base_image, "carried")
    client = far.client()
    for name in _names(client):
        client.api.remove_image(name)
    (identity,) = (image.image_id for image in bundle.record.images)
    assert facts(client, identity) is None
    command = (sys.executable, "-m", "orchestrator", "run", "--plan", "carried", "--json")
    environment = _far(far, base_image)

    without = far.run(*command, folder=tmp_path, environment=environment)
    ended = far.run(*command, "--images", str(place / "images.json"), folder=tmp_path, environment=environment)

    assert (without.returncode, ended.returncode) == (3, 0), ended.stderr
    pulled = facts(client, identity)
    assert pulled is not None
    assert pulled.labels[labels.KIND] == labels.IMAGE
    client.close()
