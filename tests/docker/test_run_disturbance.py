"""A real cell in a container, with and without a neighbour that burns its CPU."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import docker
import pytest

from orchestrator import resources
from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import load
from orchestrator.devices import Allocation, allocate, idle, inventory
from orchestrator.devices.disturbance import judge
from orchestrator.domain import Cell, Duration, Framework, ImageSpec, Mode, Outcome, Plan, Status, System, Workload
from orchestrator.events import Event, Notice
from orchestrator.results.container_answers import read_result
from orchestrator.results.store import Run
from orchestrator.running import Policy, Surroundings, execute
from orchestrator.runtimes import DockerRuntime, limits_of, this_process
from orchestrator.workflows.inputs.planned_matrix import site_settings

pytestmark = pytest.mark.docker

SYSTEM = System("cpu", cpus=1, memory_bytes=1 << 30)
SPINNING = Framework("noop", "1", python="3.11")
CELL = Cell(
    "noop-1-cpu/mlp-train-b32", SPINNING, SYSTEM, Workload("mlp", Mode.TRAIN, 32), "bench/noop:1-cpu",
    duration=Duration(steps=60_000_000), timeout_s=120.0,
)  # fmt: skip
HOGS = 8
"""Processes that burn the CPU. One alone gets less than we judge where its session is busy elsewhere too."""
HOG = "import os\nos.sched_setaffinity(0, [{cpu}])\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


@contextmanager
def hog() -> Iterator[None]:
    """Burn the CPU that the cell is given, as any other process of the host could."""
    given = allocate(SYSTEM, inventory())
    assert isinstance(given, Allocation)
    with ExitStack() as stack:
        for _ in range(HOGS):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", HOG.format(cpu=given.cpus[0])]))
            stack.callback(process.kill)
        yield


def measured(
    engine: docker.DockerClient, base_image: str, folder: Path, policy: Policy, *, idle_wait_s: float = 0.0
) -> tuple[Outcome, list[Event]]:
    """Run the cell, whose steps do nothing but keep one CPU busy, in the image of the builder `noop`."""
    environment = load(resources.IMAGES / "catalog").environment(SPINNING, 0)
    image = ImageSpec("bench/noop", "1-cpu", "cpu", SPINNING, environment)
    runtime = DockerRuntime(
        engine,
        site_settings(BuildSettings(), base_image, os.environ),
        user=f"{os.getuid()}:{os.getgid()}",
        owner=this_process(),
        limits=limits_of(engine),
    )
    events: list[Event] = []
    around = Surroundings(
        Run(folder), runtime, inventory(), lambda: datetime.now(UTC), events.append, threading.Event(),
        idle=(lambda given, stop: idle.wait(given.cpus, idle_wait_s, stop)) if idle_wait_s else None,
    )  # fmt: skip
    (outcome,) = execute(Plan("disturbance", 1, (image,), (CELL,)), around, policy)
    assert (outcome.status, outcome.reason) == (Status.OK, "")
    return outcome, events


def test_disturbed_repeat_is_measured_once_more(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    """A hog next to a run marks its samples, and the repeat is measured once more."""
    with hog():
        outcome, events = measured(engine, base_image, tmp_path, Policy(extra_repeats=1), idle_wait_s=1.0)

    assert (outcome.remeasured, outcome.attempts) == (1, 2), "measured again once, and no more often"
    assert "others used" in outcome.disturbance
    assert "others used" in outcome.busy
    assert any("is measured again" in event.message for event in events if isinstance(event, Notice))
    folder = tmp_path / CELL.id / "0"
    for result in (read_result(folder / "result.json"), read_result(folder / "attempt-1" / "result.json")):
        judgement = judge(result)
        assert judgement is not None
        assert judgement.disturbed
        assert {name for mark in judgement.marks for name, _ in mark.reasons} >= {"other_cpus"}


def test_container_sees_host_figures_the_judgement_needs(
    engine: docker.DockerClient, base_image: str, tmp_path: Path
) -> None:
    """Confined as it is: a masked /proc/stat would leave every sample unjudged."""
    outcome, _ = measured(engine, base_image, tmp_path, Policy())

    result = read_result(tmp_path / CELL.id / "0" / "result.json")
    seen = [block.conditions for block in result.blocks]
    assert outcome.disturbed_blocks is not None
    for conditions in seen:
        assert conditions is not None
        assert None not in (conditions.busy_s, conditions.steal_s, conditions.swapped_bytes, conditions.rss_bytes)
        assert (conditions.memory_pressure_s is not None) is Path("/proc/pressure/memory").exists()
        assert None not in (conditions.read_bytes, conditions.written_bytes, conditions.load)
