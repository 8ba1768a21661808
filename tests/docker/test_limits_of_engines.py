"""The limits that the engine claims to set, held against those that its containers show."""

import threading
from pathlib import Path

import docker
import pytest
import run_support as support
from whole_command import ONCE, orchestrator

from orchestrator.domain import Status, System
from orchestrator.engine import abilities
from orchestrator.errors import HostError
from orchestrator.results.container_answers import read_result
from orchestrator.results.store import Run
from orchestrator.runtimes import limits_of

pytestmark = pytest.mark.docker
MEMORY_BYTES = 192 * 2**20
MATRIX = """\
version: 1
frameworks: [noop==1]
models: [mlp]
repeats: 1
systems: {cpu: {cpus: 1}}
"""


def test_limits_are_set_or_refused(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    """An engine that sets none starts no container; in one of any other, the kernel shows the limits."""
    if abilities.read(engine).unlimited:
        with pytest.raises(HostError, match="sets no limit on"):
            limits_of(engine)
        return
    support.build_image(engine, base_image.format(python="3.11"))
    cell = support.cell("look", system=System("cpu", cpus=1, memory_bytes=MEMORY_BYTES))
    (outcome,) = support.execute_all(engine, tmp_path / "run", threading.Event(), cell)
    seen = read_result(Run(tmp_path / "run").repeat_folder(outcome.cell_id, 0) / "result.json").facts

    assert outcome.status is Status.OK
    assert (seen["memory_bytes"], seen["pids"], len(seen["cpus"])) == (str(MEMORY_BYTES), "4096", 1)


def test_run_without_limits_ends_with_3(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    """It names the remedy, builds nothing and launches nothing."""
    if not abilities.read(engine).unlimited:
        pytest.skip("this engine sets all limits")
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    ended = orchestrator(tmp_path, base_image, "run", "--runtime", "docker", "--quick", *ONCE)

    assert ended.returncode == 3
    assert "sets no limit on CPUs, memory and processes" in ended.stderr
    assert "or use --runtime venv" in ended.stderr
    assert not list(tmp_path.rglob("outcome.json"))
    assert "build" not in ended.stdout
