"""How every command that measures begins: what is announced, which runtime, what is written before the first cell."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from orchestrator import __version__
from orchestrator.cli import carried, composition, places
from orchestrator.cli.jobs import Job
from orchestrator.cli.runtime import Chosen, choose, given
from orchestrator.devices import Inventory, host_facts, idle, inventory
from orchestrator.events import Listener
from orchestrator.results.contract import RunRecord
from orchestrator.results.plans import plan_to_json
from orchestrator.results.store import Run
from orchestrator.running import Surroundings
from orchestrator.running.presence import announced


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


@contextlib.contextmanager
def begun(job: Job, setting: Setting) -> Iterator[Surroundings]:
    """Choose the runtime, write the record of a new run, and give what it happens in; close it all afterwards.

    Raises `HostError` where this host cannot do it.
    """
    here = inventory()
    with contextlib.ExitStack() as closing:
        closing.enter_context(announced(places.cache_folder(), job.run.folder))
        chosen = _chosen(job, here, setting.listener)
        closing.callback(chosen.close)
        if job.matrix is not None:
            record = _record(job, chosen.runtime.name, host_facts(here, chosen.engine_version))
            # The record comes last: with it there is a run, which must have all that going on with it needs.
            job.run.create()
            composition.store_matrix(job.run, job.matrix, job.own_models)
            setting.keep(job.run)
            job.run.write_record(record)
        yield Surroundings(
            run=job.run,
            runtime=chosen.runtime,
            inventory=here,
            clock=lambda: datetime.now(UTC),
            listener=setting.listener,
            stop=setting.stop,
            turns=places.turns(),
            answers=places.cache_folder() / "parity",
            idle=(lambda given, stop: idle.wait(given.cpus, setting.idle_wait_s, stop))
            if setting.idle_wait_s
            else None,
        )


def _chosen(job: Job, here: Inventory, listener: Listener) -> Chosen:
    if job.bundle is not None:
        return given(job.runtime, job.bundle, job.plan, here, listener)
    return choose(job.runtime, job.plan, job.settings, here, listener)


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
