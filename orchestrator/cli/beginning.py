"""How every command that measures begins: what is announced, which runtime, what is written before the first cell."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from orchestrator import __version__
from orchestrator.cli import carried, composition, places
from orchestrator.cli.jobs import Job
from orchestrator.cli.runtime import Chosen, Needed, choose, given
from orchestrator.devices import Allocation, Inventory, allocate, host_facts, idle, inventory
from orchestrator.domain import ImageSpec
from orchestrator.events import Listener
from orchestrator.results.plans import plan_to_json
from orchestrator.results.records import RunRecord
from orchestrator.results.scripts import frozen as frozen_scripts
from orchestrator.results.store import Run
from orchestrator.running import Surroundings, order, unfinished
from orchestrator.running.active_runs import announced
from orchestrator.running.host_lock import Turns


def _nothing(run: Run) -> None:
    del run


@dataclass(frozen=True, slots=True)
class Setting:
    """What a command brings to a run, beside what there is to do."""

    listener: Listener
    stop: threading.Event
    idle_wait_s: float = 0.0
    """Longest wait for an idle host before a cell."""
    keep: Callable[[Run], None] = _nothing
    """Writes what a new run must hold before its record says that there is a run."""
    retry_failed: bool = False
    """Whether a resumed run tries again what has failed."""
    selects: bool = False
    """Whether the command takes `--select` for a new run."""


@contextlib.contextmanager
def begun(job: Job, setting: Setting) -> Iterator[Surroundings]:
    """Choose the runtime, write the record of a new run, and give what it happens in; close it all afterwards.

    Raises `HostError` where this host cannot do it.
    """
    here = inventory()
    with contextlib.ExitStack() as closing:
        closing.enter_context(announced(places.cache_folder(), job.run.folder))
        chosen = _chosen(job, here, setting)
        closing.callback(chosen.close)
        if job.matrix is not None:
            record = _record(job, chosen.runtime.name, host_facts(here, chosen.engine_version))
            # The record comes last: with it there is a run, which must have all that going on with it needs.
            job.run.create()
            composition.store_matrix(job.run, job.matrix, job.own_models)
            frozen_scripts.freeze(job.run.folder, job.scripts)
            setting.keep(job.run)
            job.run.write_record(record)
        yield Surroundings(
            run=job.run,
            runtime=chosen.runtime,
            inventory=here,
            clock=lambda: datetime.now(UTC),
            listener=setting.listener,
            stop=setting.stop,
            turns=Turns(places.turns()),
            answers=places.cache_folder() / "parity",
            idle=(lambda given, stop: idle.wait(given.cpus, setting.idle_wait_s, stop))
            if setting.idle_wait_s
            else None,
            require_room=lambda plan: chosen.require_room(
                _pending_images(replace(job, plan=plan), here, retry_failed=setting.retry_failed)
            ),
        )


def _chosen(job: Job, here: Inventory, setting: Setting) -> Chosen:
    is_new = job.matrix is not None
    needed = Needed(_pending_images(job, here, retry_failed=setting.retry_failed), is_new and setting.selects)
    if job.bundle is not None:
        return given(job.runtime, job.bundle, job.plan, needed, setting.listener)
    return choose(job.runtime, needed, job.settings, setting.listener)


def _pending_images(job: Job, here: Inventory, *, retry_failed: bool) -> tuple[ImageSpec, ...]:
    """Keep the images of cells that have repeats left to run, and that this host has the devices for."""
    repeats = order(job.plan.cells, job.plan.seed)
    cells = {cell.id: cell for cell, _ in unfinished(repeats, job.run.outcome, retry_failed=retry_failed)}.values()
    wanted = {cell.image for cell in cells if isinstance(allocate(cell.system, here), Allocation)}
    return tuple(image for image in job.plan.images if image.name in wanted)


def _record(job: Job, runtime: str, host: dict[str, Any]) -> RunRecord:
    return RunRecord(
        run=job.run.name,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        orchestrator_version=__version__,
        runtime=runtime,
        host=host,
        plan=plan_to_json(job.plan),
        matrix=job.matrix or {},
        bundle=carried.origin(job.bundle) if job.bundle else None,
    )
