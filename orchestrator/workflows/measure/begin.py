"""The beginning of every workflow that measures, with the choice of a runtime and the record of a new run."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from orchestrator import __version__
from orchestrator.devices import Allocation, Inventory, allocate, host_facts, idle, inventory
from orchestrator.domain import ImageSpec
from orchestrator.results.plans import plan_to_json
from orchestrator.results.records import RunRecord
from orchestrator.results.scripts import frozen as frozen_scripts
from orchestrator.results.store import Run
from orchestrator.running import Surroundings, order, unfinished
from orchestrator.running.active_runs import announced
from orchestrator.running.host_lock import Turns
from orchestrator.running.last_cells import Free
from orchestrator.workflows.host import places
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.unneeded_images import remove_images
from orchestrator.workflows.inputs import bundle_plans
from orchestrator.workflows.inputs.stored_runs import store_matrix
from orchestrator.workflows.measure.jobs import Job
from orchestrator.workflows.measure.runtime import Chosen, Needed, choose, of_bundle
from orchestrator.workflows.option_values import RuntimeName


def _nothing(run: Run) -> None:
    del run


@dataclass(frozen=True, slots=True)
class Setting:
    """The manner in which a job is carried out."""

    idle_wait_s: float = 0.0
    """Longest wait for an idle host before a cell."""
    keep: Callable[[Run], None] = _nothing
    """Writes the further files of a new run, before its record says that there is a run."""
    retry_failed: bool = False
    """Whether a resumed run tries again what has failed."""
    selects: bool = False
    """Whether the command takes `--select` for a new run."""
    prune_images: bool = False
    """Whether an image is removed after its last repeat."""


@contextlib.contextmanager
def begun(job: Job, setting: Setting, host: Host) -> Iterator[Surroundings]:
    """Choose the runtime, write the record of a new run, yield its surroundings, and close them afterwards.

    Raises `HostError` if this host cannot do it.
    """
    here = inventory()
    with contextlib.ExitStack() as closing:
        closing.enter_context(announced(host.cache, job.run.folder))
        chosen = _chosen(job, here, setting, host)
        closing.callback(chosen.close)
        if job.matrix is not None:
            record = _record(job, chosen.runtime.name, host_facts(here, chosen.engine_version))
            # The record comes last: with it there is a run, which must have all that going on with it needs.
            job.run.create()
            store_matrix(job.run, job.matrix, job.own_models)
            frozen_scripts.freeze(job.run.folder, job.scripts)
            setting.keep(job.run)
            job.run.write_record(record)
        yield Surroundings(
            run=job.run,
            runtime=chosen.runtime,
            inventory=here,
            clock=lambda: datetime.now(UTC),
            listener=host.listener,
            stop=host.stop,
            turns=Turns(places.turns(host.environment)),
            answers=host.cache / "parity",
            idle=(lambda allocated, stop: idle.wait(allocated.cpus, setting.idle_wait_s, stop))
            if setting.idle_wait_s
            else None,
            free=_free(job, host) if setting.prune_images and chosen.runtime.name == RuntimeName.DOCKER else None,
            require_room=lambda plan: chosen.require_room(
                _pending_images(replace(job, plan=plan), here, retry_failed=setting.retry_failed)
            ),
        )


def _free(job: Job, host: Host) -> Free:
    return lambda reference, needed: remove_images((reference,), host, job.run.folder, needed)


def _chosen(job: Job, here: Inventory, setting: Setting, host: Host) -> Chosen:
    is_new = job.matrix is not None
    needed = Needed(_pending_images(job, here, retry_failed=setting.retry_failed), is_new and setting.selects)
    if job.bundle is not None:
        return of_bundle(job.runtime, job.bundle, job.plan, needed, host)
    return choose(job.runtime, needed, job.settings, host)


def _pending_images(job: Job, here: Inventory, *, retry_failed: bool) -> tuple[ImageSpec, ...]:
    """Return the images of cells that have repeats left to run and that this host has the devices for."""
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
        bundle=bundle_plans.origin_of(job.bundle) if job.bundle else None,
    )
