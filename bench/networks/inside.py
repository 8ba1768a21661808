"""A run with one cell, for benchmarks that compare a part of a run with the same work by hand."""

import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from orchestrator import resources
from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import load
from orchestrator.devices import idle, inventory
from orchestrator.domain import (
    Cell,
    Duration,
    Framework,
    ImageSpec,
    Mode,
    Options,
    Outcome,
    Plan,
    Status,
    System,
    Workload,
)
from orchestrator.engine.client import connect
from orchestrator.events import BuildFinished, Event, Listener
from orchestrator.modes.parts.lengths import Generation
from orchestrator.results.store import Run
from orchestrator.running import Surroundings, execute
from orchestrator.running.host_lock.lock import Turns
from orchestrator.runtimes import DockerRuntime, Runtime, this_process
from orchestrator.workflows.host.places import turns
from orchestrator.workflows.inputs.planned_matrix import site_settings

IDLE_WAIT_S = 10.0
"""The default of the command."""
SYSTEM = System("cpu", cpus=2, memory_bytes=8 << 30)


def one_cell(
    framework: Framework,
    *,
    tag: str,
    model: str,
    batch: int,
    duration: Duration,
    repeats: int,
    options: Options = (),
    system: System = SYSTEM,
    mode: str = "train",
) -> Plan:
    """Return the plan of one cell with a model in several repeats, which trains unless another mode is named."""
    environment = load(resources.IMAGES / "catalog").environment(framework, system.gpus)
    spec = ImageSpec(f"bench/{framework.name}", tag, "gpu" if system.gpus else "cpu", framework, environment)
    cell = Cell(
        f"{framework.name}-{framework.version}-{system.name}/{model}-{mode}-b{batch}", framework, system,
        Workload(model, Mode(mode), batch, generation=Generation() if mode == "generate" else None), spec.name,
        options, duration, repeats=repeats,
    )  # fmt: skip
    return Plan("bench", 1, (spec,), (cell,))


def no_failed_build(event: Event) -> None:
    """Stop if an image cannot be built."""
    assert not (isinstance(event, BuildFinished) and event.reason), event


def containers(cache: Path | None = None) -> Runtime:
    """Return the runtime of containers, with a cache folder for what frameworks compile, or without one."""
    user = f"{os.getuid()}:{os.getgid()}"
    return DockerRuntime(
        connect(os.environ), site_settings(BuildSettings(), None, os.environ), user=user, owner=this_process(),
        cache=cache,
    )  # fmt: skip


def begin(
    plan: Plan, folder: Path, runtime: Runtime, *, is_alone: bool = True, listener: Listener = no_failed_build
) -> tuple[Run, Iterator[Outcome]]:
    """Begin a run as the command does. It gives outcomes that are all ok, each at the cost of one repeat.

    It waits for an idle host and for other runs, unless it is not alone there on purpose.
    """
    folder.mkdir()
    run = Run(folder)
    around = Surroundings(
        run, runtime, inventory(), lambda: datetime.now(UTC), listener, threading.Event(),
        turns=Turns(turns(os.environ)) if is_alone else Turns(),
        idle=(lambda given, stop: idle.wait(given.cpus, IDLE_WAIT_S, stop)) if is_alone else None,
    )  # fmt: skip
    return run, map(_ok, execute(plan, around))


def image_of(run: Run, plan: Plan) -> str:
    """Return the id of the image that the first repeat ran in."""
    stored = run.outcome(plan.cells[0].id, 0)
    assert stored is not None
    assert stored.image_id is not None
    return stored.image_id


def _ok(outcome: Outcome) -> Outcome:
    assert outcome.status is Status.OK, outcome
    return outcome
