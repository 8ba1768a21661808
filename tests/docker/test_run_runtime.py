"""The docker runtime on the project's own images: from an `ImageSpec` to a measured cell."""

import os
import shutil
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import docker
import pytest

from orchestrator import resources
from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import load
from orchestrator.devices import inventory
from orchestrator.domain import Cell, Duration, Framework, ImageSpec, Mode, Plan, Status, System, Workload
from orchestrator.errors import HostError
from orchestrator.events import ignore
from orchestrator.results.container_answers import read_result
from orchestrator.results.store import Run
from orchestrator.running import Surroundings, execute
from orchestrator.runtimes import DockerRuntime, Ready, image_problems, limits_of, this_process
from orchestrator.workflows.inputs.planned_matrix import site_settings

pytestmark = pytest.mark.docker

SYSTEM = System("cpu", cpus=1, memory_bytes=1 << 30)
NOOP = Framework("noop", "1", python="3.11")


@pytest.fixture
def settings(base_image: str) -> BuildSettings:
    return site_settings(BuildSettings(), base_image, os.environ)


def spec() -> ImageSpec:
    environment = load(resources.IMAGES / "catalog").environment(NOOP, 0)
    return ImageSpec("bench/noop", "1-cpu", "cpu", NOOP, environment)


def test_a_noop_cell_is_built_launched_and_measured(
    engine: docker.DockerClient, settings: BuildSettings, tmp_path: Path
) -> None:
    cell = Cell(
        "noop-1-cpu/mlp-train-b32", NOOP, SYSTEM, Workload("mlp", Mode.TRAIN, 32), spec().name,
        options=(("env.MALLOC_ARENA_MAX", 1),), duration=Duration(steps=20),
    )  # fmt: skip
    user = f"{os.getuid()}:{os.getgid()}"
    runtime = DockerRuntime(engine, settings, user=user, owner=this_process(), limits=limits_of(engine))
    around = Surroundings(Run(tmp_path), runtime, inventory(), lambda: datetime.now(UTC), ignore, threading.Event())
    (outcome,) = execute(Plan("noop", 1, (spec(),), (cell,)), around)

    assert (outcome.status, outcome.reason) == (Status.OK, "")
    result = read_result(tmp_path / cell.id / "0/result.json")
    assert result.facts["python"].startswith("3.11")
    assert sum(block.steps for block in result.blocks) >= 20
    assert result.facts["variables"] == {"MALLOC_ARENA_MAX": "1"}
    assert outcome.image_id == engine.images.get(spec().name).id
    (made,) = Run(tmp_path).environments().environments
    assert (made.image, made.image_id) == (spec().name, outcome.image_id)
    assert made.reference is not None
    assert engine.images.get(made.reference).id == outcome.image_id
    assert made.base_digest is not None
    assert made.base_digest.split("@")[-1].startswith("sha256:")
    assert made.versions == result.facts["versions"]


def test_existing_image_is_asked_what_it_holds(
    engine: docker.DockerClient, settings: BuildSettings, tmp_path: Path
) -> None:
    runtime = DockerRuntime(engine, settings, user="0:0", owner=this_process(), limits=limits_of(engine))
    first, again = (
        runtime.provide([spec()], jobs=1, logs=tmp_path, listener=ignore, stop=threading.Event()) for _ in range(2)
    )

    assert isinstance(again[spec().name], Ready)
    assert again == first
    assert "numpy" in dict(again[spec().name].versions)


def test_missing_base_image_is_named_before_building(engine: docker.DockerClient, settings: BuildSettings) -> None:
    (problem,) = image_problems(engine, [spec()], replace(settings, base_image="127.0.0.1:1/none:{python}"))

    assert "127.0.0.1:1/none:3.11" in problem


def test_a_stopped_runtime_provides_nothing(
    engine: docker.DockerClient, settings: BuildSettings, tmp_path: Path
) -> None:
    stop = threading.Event()
    stop.set()
    unbuilt = replace(spec(), environment=replace(spec().environment, requirements=("six==1.16.0",)))
    runtime = DockerRuntime(engine, settings, user="0:0", owner=this_process(), limits=limits_of(engine))
    provided = runtime.provide([unbuilt], jobs=1, logs=tmp_path, listener=ignore, stop=stop)

    assert [one.status for one in provided.values() if not hasattr(one, "handle")] == [Status.NOT_RUN]


def test_engine_without_gpu_support_is_told_first(
    engine: docker.DockerClient, settings: BuildSettings, tmp_path: Path
) -> None:
    """Before anything is launched, and with what to install."""
    if shutil.which("nvidia-container-runtime-hook") or shutil.which("nvidia-container-runtime"):
        pytest.skip("this engine may give containers GPUs")
    runtime = DockerRuntime(engine, settings, user="0:0", owner=this_process(), limits=limits_of(engine))
    image = replace(spec(), image_class="1_gpu")

    with pytest.raises(
        HostError, match=r"^this engine gives containers no GPUs: .*; (install the NVIDIA Container|use Podman 5)"
    ):
        runtime.provide([image], jobs=1, logs=tmp_path, listener=ignore, stop=threading.Event())
