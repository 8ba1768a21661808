"""Cells whose containers get fake GPUs from a real engine: the hook of its `nvidia` driver and the driver are fakes."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import docker
import pytest

from tests.docker.far_engine import Engine
from tests.gpu.fake_engine import engine_with_gpus, made_toolkit
from tests.gpu.fake_host import FakeHost

pytestmark = [pytest.mark.docker, pytest.mark.slow]
UUIDS = [f"GPU-{digit * 8}-0000-4000-8000-{digit * 12}" for digit in "ab"]
MATRIX = """\
version: 1
frameworks: [noop==1]
systems: {1_gpu: {gpus: 1, gpu: "Fake B"}}
models: [mlp]
repeats: 1
blocks: 2
parity: false
"""


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_toolkit(tmp_path_factory.mktemp("toolkit"))


@pytest.fixture(scope="module")
def second(toolkit: Path, engine: docker.DockerClient, base_image: str) -> Iterator[Engine]:
    """An engine that has the hook, and the image of the cell."""
    with engine_with_gpus(toolkit, MATRIX, engine, base_image) as second:
        yield second


@pytest.fixture
def host(fake_host: FakeHost, toolkit: Path, second: Engine, base_image: str) -> FakeHost:
    """A host with two GPUs and this engine."""
    host = replace(fake_host, variables={"DOCKER_HOST": second.address, "ORCHESTRATOR_BASE_IMAGE": base_image})
    host.set(gpus=2, cpus=len(os.sched_getaffinity(0)))
    for number, uuid in enumerate(UUIDS):
        host.change(number, uuid=uuid, name=f"Fake {'AB'[number]}", memory_bytes=2**30 * (1 + number))
    shutil.copy(host.state, toolkit)
    (toolkit / "given").unlink(missing_ok=True)
    (host.folder / "matrix.yaml").write_text(MATRIX)
    return host


def test_containers_see_the_gpu_they_were_given(host: FakeHost, toolkit: Path) -> None:
    """A cell on the second GPU: the engine is asked for its UUID, and the container sees that GPU alone."""
    ended = host.run("run", "--runtime", "docker", "--idle-wait", "0")
    assert ended.returncode == 0, ended.stderr
    (outcome,) = [json.loads(path.read_text()) for path in host.folder.glob("results/*/*/*/*/outcome.json")]
    (result,) = [json.loads(path.read_text()) for path in host.folder.glob("results/*/*/*/*/result.json")]

    assert (outcome["status"], outcome["ran_on"]) == ("ok", UUIDS[1])
    assert result["facts"]["gpus"] == [{"uuid": UUIDS[1], "name": "Fake B", "driver": "550.1", "memory_bytes": 2**31}]
    assert (toolkit / "given").read_text().splitlines()[-1] == UUIDS[1]


def test_engine_that_knows_no_gpu_ends_the_run(host: FakeHost, toolkit: Path) -> None:
    """The hook refuses the GPUs that it is asked for first: nothing is launched, and the run says what it answered."""
    (toolkit / "state.json").write_text('{"gpus": []}')
    ended = host.run("run", "--runtime", "docker", "--idle-wait", "0")

    assert ended.returncode == 3, ended.stderr
    assert f"unknown device: {UUIDS[0]}" in ended.stderr
    assert not list(host.folder.glob("results/*/*/*/*/outcome.json"))
