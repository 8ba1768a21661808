"""Whole orchestrator processes that are stopped, killed and resumed."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import docker
import pytest
import run_support as support

from orchestrator.domain import Status
from orchestrator.results.store import Run
from orchestrator.runtimes import remove_leftovers, this_process
from tests.until import LIMIT_S, until

pytestmark = pytest.mark.docker

HANG = "behave-1-cpu/hang-train-b10"


@pytest.fixture(scope="module", autouse=True)
def _image(engine: docker.DockerClient, base_image: str) -> None:
    support.build_image(engine, base_image.format(python="3.11"))


def containers(engine: docker.DockerClient, run: Path) -> list[str]:
    return [found.id for found in engine.containers.list(all=True, filters={"label": f"bench.run={run.name}"})]


def orchestrator(engine: docker.DockerClient, run: Path) -> "subprocess.Popen[bytes]":
    """Start a process that runs three repeats that hang, and wait until the first one does."""
    process = subprocess.Popen([sys.executable, support.__file__, str(run), "hang", "3"], stderr=subprocess.DEVNULL)
    log = Run(run).repeat_folder(HANG, 0) / "log.txt"
    until(lambda: process.poll() is not None or hangs(log))
    assert process.poll() is None, "the orchestrator ended by itself"
    return process


def hangs(log: Path) -> bool:
    return log.exists() and "hanging" in log.read_text()


def test_sigterm_removes_container_and_begins_no_repeat(engine: docker.DockerClient, tmp_path: Path) -> None:
    """SIGTERM removes the running container and begins no other repeat."""
    run = tmp_path / "run-sigterm"
    process = orchestrator(engine, run)
    assert len(containers(engine, run)) == 1

    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=LIMIT_S) == 0

    assert containers(engine, run) == []
    first, *rest = [Run(run).outcome(HANG, repeat) for repeat in range(3)]
    assert first
    assert (first.status, first.reason, first.attempts) == (Status.NOT_RUN, "stopped", 1)
    assert rest == [None, None]


def test_leftovers_of_a_killed_orchestrator_are_removed(engine: docker.DockerClient, tmp_path: Path) -> None:
    """The next orchestrator removes what a killed one left and runs its repeat again."""
    run = tmp_path / "run-sigkill"
    process = orchestrator(engine, run)

    remove_leftovers(engine, this_process())
    assert len(containers(engine, run)) == 1, "the container of a live orchestrator must stay"
    process.kill()
    process.wait()
    assert Run(run).outcome(HANG, 0) is None

    remove_leftovers(engine, this_process())  # unless another worker's orchestrator was the next one
    assert containers(engine, run) == []

    (outcome,) = support.execute_all(engine, run, threading.Event(), support.cell("hang", timeout_s=1.0))
    assert (outcome.status, outcome.attempts) == (Status.TIMEOUT, 2)
    assert "hanging" in (Run(run).repeat_folder(HANG, 0) / "attempt-1" / "log.txt").read_text()


def test_stop_ends_a_running_repeat(engine: docker.DockerClient, tmp_path: Path) -> None:
    run = tmp_path / "run-stop"
    log, stop = Run(run).repeat_folder(HANG, 0) / "log.txt", threading.Event()

    def stop_once_it_hangs() -> None:
        until(lambda: hangs(log))
        stop.set()

    threading.Thread(target=stop_once_it_hangs, daemon=True).start()
    began = time.monotonic()
    (outcome,) = support.execute_all(engine, run, stop, support.cell("hang"))

    assert (outcome.status, outcome.reason) == (Status.NOT_RUN, "stopped")
    assert time.monotonic() - began < 600  # it hangs for an hour
    assert containers(engine, run) == []
