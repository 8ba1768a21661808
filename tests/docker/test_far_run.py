"""A plan that came in a bundle, run on a host without a network: nothing is built, and nothing is asked of anyone."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import docker
import pytest
from carried_support import carry
from far_support import FarSide

from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from tests.envelopes import data_of
from tests.until import LIMIT_S, until

pytestmark = pytest.mark.docker
MATRIX = """
version: 1
name: carried
systems: {cpu: {cpus: 1}, 1_gpu: {gpus: 1}}
frameworks: [noop==1]
models: [{name: mlp, batch_size: 32}]
modes: [train, infer]
repeats: 2
"""
TRAIN, INFER = "noop-1-cpu/mlp-train-b32", "noop-1-cpu/mlp-infer-b32"


@pytest.fixture(scope="module")
def bundle(
    far: FarSide, engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory
) -> LoadedBundle:
    folder = tmp_path_factory.mktemp("near")
    (folder / "carried.yaml").write_text(MATRIX)
    return carry(engine, far, folder / "carried.yaml", base_image, "carried")


@pytest.fixture
def place(far: FarSide, tmp_path: Path) -> Path:
    """An empty folder to work in."""
    return tmp_path


def _environment(far: FarSide) -> dict[str, str]:
    """Variables that would lead to an index, were one asked; the idle gate is off, as tests share this machine."""
    urls = dict.fromkeys(("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "http_proxy", "https_proxy"), far.recorder)
    return far.environment(ORCHESTRATOR_IDLE_WAIT="0", **urls)


def _orchestrator(far: FarSide, place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "orchestrator", *arguments)
    return far.run(*command, folder=place, environment=_environment(far))


def _statuses(report: str) -> dict[str, list[str]]:
    return {
        cell["cell"]["id"]: [repeat["outcome"]["status"] for repeat in cell["repeats"]]
        for cell in data_of(report)["cells"]
    }


def test_plan_runs_without_build_index_or_registry(far: FarSide, bundle: LoadedBundle, place: Path) -> None:
    asked = far.asked()

    ended = _orchestrator(far, place, "run", "--plan", "carried", "--json")

    assert ended.returncode == 0, ended.stderr
    found = _statuses(ended.stdout)
    assert (found[TRAIN], found[INFER]) == (["ok", "ok"], ["ok", "ok"])
    assert set(found["noop-1-1_gpu/mlp-train-b32"]) == {"no_device"}
    assert far.asked() == asked, "nothing was asked of anyone"
    (record,) = (json.loads(path.read_text()) for path in place.glob("results/*/run.json"))
    assert record["bundle"] == {"name": "carried", "manifest_sha256": bundle.record.manifest_sha256}
    assert record["runtime"] == "docker"
    (made,) = (json.loads(path.read_text()) for path in place.glob("results/*/environments.json"))
    assert [entry["image_id"] for entry in made["environments"]] == [bundle.record.images[0].image_id]
    assert not list(place.glob("results/*/builds"))


def test_part_of_plan_runs_as_often_as_asked(far: FarSide, bundle: LoadedBundle, place: Path) -> None:
    ended = _orchestrator(
        far, place, "run", "--plan", "carried", "--select", "noop-1-cpu/*-infer-*", "--repeats", "1", "--json"
    )

    assert ended.returncode == 0, ended.stderr
    assert _statuses(ended.stdout) == {INFER: ["ok"]}


def test_interrupted_run_resumes_from_the_same_bundle(far: FarSide, bundle: LoadedBundle, place: Path) -> None:
    asked = ("run", "--plan", "carried", "--select", "noop-1-cpu/*", "--repeats", "3")
    command = far.inside(sys.executable, "-m", "orchestrator", *asked)
    running = subprocess.Popen(command, cwd=place, env=_environment(far), stderr=subprocess.PIPE, text=True)
    until(lambda: list(place.glob("results/*/*/*/*/outcome.json")))
    os.kill(running.pid, signal.SIGTERM)
    _, said = running.communicate(timeout=LIMIT_S)
    assert running.returncode == 130, said

    ended = _orchestrator(far, place, "run", "--resume", "latest", "--json")

    assert ended.returncode == 0, ended.stderr
    assert _statuses(ended.stdout) == {TRAIN: ["ok"] * 3, INFER: ["ok"] * 3}


def test_plan_and_build_say_nothing_is_built(far: FarSide, bundle: LoadedBundle, place: Path) -> None:
    """Both plan and build say that there is nothing to build."""
    planned = _orchestrator(far, place, "plan", "--plan", "carried")
    built = _orchestrator(far, place, "build", "--plan", "carried", "--select", "noop-1-cpu/*")

    assert planned.returncode == 0, planned.stderr
    assert TRAIN in planned.stdout
    assert "nothing is built, the images came with the bundle" in planned.stdout
    assert built.returncode == 0, built.stderr
    assert "nothing to build: all 1 images came with the bundle carried, and are here" in built.stderr


def test_missing_image_is_named_before_anything_runs(
    far: FarSide, bundle: LoadedBundle, place: Path, engine: docker.DockerClient
) -> None:
    """An image that is not there is named, and nothing is tried."""
    asked, image = far.asked(), next(one for one in bundle.record.images if one.name == "bench/noop:1-cpu")
    client = far.client()
    for tag in client.images.get(image.image_id).tags:
        client.images.remove(tag)

    ended = _orchestrator(far, place, "run", "--plan", "carried")
    built = _orchestrator(far, place, "build", "--plan", "carried", "--select", "noop-1-cpu/*")

    line = (
        f"image bench/noop:1-cpu ({image.reference}) is not on this engine; "
        "it came with the bundle carried: bring it with orchestrator load BUNDLE"
    )
    assert (ended.returncode, built.returncode) == (3, 3)
    assert ended.stderr.splitlines()[-1] == line
    assert built.stderr.splitlines()[-1] == line
    assert not (place / "results").exists()
    assert far.asked() == asked, "nothing was asked of anyone"
    client.images.load(engine.images.get(image.reference).save(named=True))
    client.close()


def test_image_of_other_content_is_not_taken(far: FarSide, bundle: LoadedBundle, place: Path) -> None:
    """An image of the same name and other content is not taken."""
    image = next(one for one in bundle.record.images if one.name == "bench/noop:1-cpu")
    repository, tag = image.reference.rsplit(":", 1)
    client = far.client()
    container = client.containers.create(image.image_id, entrypoint=["true"])
    other = container.commit()
    container.remove()
    other.tag(repository, tag)

    ended = _orchestrator(far, place, "run", "--plan", "carried", "--select", "noop-1-cpu/*", "--json")

    client.images.get(image.image_id).tag(repository, tag)
    client.images.remove(other.id)
    client.close()
    assert ended.returncode == 0, ended.stderr
    assert _statuses(ended.stdout) == {TRAIN: ["ok", "ok"], INFER: ["ok", "ok"]}, (
        "by its id, the right one is there still"
    )
    launched = {json.loads(path.read_text())["image_id"] for path in place.glob("results/*/*/*/*/outcome.json")}
    assert launched == {image.image_id}
