"""Jobs of a run, which come from a matrix, from the plan of a bundle, or from an interrupted run.

With one begins whatever measures: a runtime is chosen, and the record of a new run is written.
"""

import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orchestrator import __version__
from orchestrator.build_settings import BuildSettings
from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.bundles.returns.results_manifest import MERGED
from orchestrator.clusters.folder import cluster_runs
from orchestrator.clusters.images import FrozenImages
from orchestrator.devices import (
    Allocation,
    Inventory,
    allocate,
    another_machine,
    gpu_gate,
    host_facts,
    idle,
)
from orchestrator.devices.needs import lacking
from orchestrator.devices.watch.gpu_watch import GpuWatch
from orchestrator.domain import ImageSpec, Plan
from orchestrator.errors import InputError
from orchestrator.images.registries.source import ImageSource
from orchestrator.planning.bounds import plan as bounds
from orchestrator.reporting.live.recorded import recorded
from orchestrator.results.files import frozen as frozen_files
from orchestrator.results.records import ImagesOrigin, RunRecord, plan_to_json
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from orchestrator.running import Surroundings, new_run_name, order, unfinished
from orchestrator.running.active_runs import announced
from orchestrator.running.host_lock.lock import Turns
from orchestrator.running.slots import Slots
from orchestrator.running.surroundings import Free
from orchestrator.user_files import Frozen, ModelFile
from orchestrator.workflows.host import places
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.images import remove_images
from orchestrator.workflows.host.inventory import inventory_of
from orchestrator.workflows.inputs import bundle_plans
from orchestrator.workflows.inputs.data import check_again
from orchestrator.workflows.inputs.planned_matrix import PlannedMatrix
from orchestrator.workflows.inputs.stored_runs import find_run, store_matrix, stored_settings
from orchestrator.workflows.measure.brought_images import choose_brought
from orchestrator.workflows.measure.runtime import Chosen, Needed, choose, choose_of_bundle
from orchestrator.workflows.measure.slots import expected_of, leave
from orchestrator.workflows.option_values import RuntimeName


@dataclass(frozen=True, slots=True)
class Job:
    """A new run, or one to go on with."""

    plan: Plan
    settings: BuildSettings
    run: Run
    runtime: RuntimeName
    matrix: dict[str, Any] | None
    """The long form, for a new run. None for a resumed one."""
    own_models: tuple[ModelFile, ...] = ()
    bundle: LoadedBundle | None = None
    """The bundle that plan and images came from, if not from a matrix."""
    frozen: tuple[tuple[Frozen, Path], ...] = ()
    """The scripts and networks that a new run has to freeze, each with the folder of its files."""
    images: ImageSource | None = None
    """The registry that images come from, if they are not built."""
    frozen_images: FrozenImages | None = None
    """The images that come to the node of a part, if it does not build them."""
    part_of: str | None = None
    """The part that the run comes back to, as its record names it."""


def new(planned: PlannedMatrix, results: Path, runtime: RuntimeName, repeats: int | None) -> Job:
    """Return the job of a new run of a matrix."""
    plan, own = repeated(planned.plan, repeats), planned.own_models
    return Job(plan, planned.settings, named(results), runtime, planned.document, own, frozen=planned.frozen)


def of_bundle(bundle: LoadedBundle, plan: Plan, results: Path, runtime: RuntimeName, repeats: int | None) -> Job:
    """Return the job of a new run of a bundle's plan.

    Raises `InputError` if a script did not come with the bundle.
    """
    frozen_files.refuse_paths(plan, "export the matrix again, or leave its cells out with --exclude '*-script'")
    frozen = tuple((each, frozen_files.folder_of(bundle.folder, each)) for each in frozen_files.frozen_of(plan))
    own, document = bundle.own_models(), bundle.matrix()
    settings, run = BuildSettings(), named(results)
    return Job(repeated(plan, repeats), settings, run, runtime, document, own, bundle, frozen)


def resumed(results: Path, name: str, runtime: RuntimeName, base_image: str | None, host: Host) -> Job:
    """Return the job of a stored run.

    Raises `InputError` if it cannot go on here as it began.
    """
    run = find_run(results, name)
    record = run.record()
    recorded = RuntimeName(record.runtime)
    if runtime not in {RuntimeName.AUTO, recorded}:
        raise InputError(f"{run.name} was measured with --runtime {recorded}; numbers of two runtimes do not mix")
    other = elsewhere(run, record.host, host)
    if other:
        whose = record.host.get("hostname") or "another host"
        raise InputError(
            f"{run.name} was begun on {whose} ({other}): go on there; numbers of two hosts do not mix in one run"
        )
    plan = run.plan()
    frozen_files.refuse_paths(plan, "begin a new run of the matrix; what this one has measured stays")
    frozen_files.check(run.folder, frozen_files.frozen_of(plan))
    check_again(plan)
    if record.bundle is None:
        return Job(plan, stored_settings(run, base_image, host.environment), run, recorded, None)
    bundle_plans.refuse_settled([] if base_image is None else ["--base-image"])
    return Job(plan, BuildSettings(), run, recorded, None, bundle=bundle_plans.bundle_of(record.bundle, host))


def elsewhere(run: Run, begun_on: Mapping[str, Any], host: Host) -> str | None:
    """Return the reason that a run cannot go on here: it came in a file, or was begun on another machine."""
    merged = (run.folder / MERGED).exists()
    return "it was merged" if merged else another_machine(begun_on, host_facts(inventory_of(host)))


def named(results: Path) -> Run:
    """Return the folder of a new run, whose name comes after those of all others."""
    others = [*(run.name for run in runs(results)), *(run.name for run in cluster_runs(results))]
    return Run(results / new_run_name(datetime.now(UTC), secrets.token_hex(2), others))


def repeated(plan: Plan, repeats: int | None) -> Plan:
    """Return a plan with so many repeats of each cell, if a number is given.

    Raises `InputError` if that is beyond the bounds of a plan.
    """
    if repeats is None:
        return plan
    repeated = replace(plan, cells=tuple(replace(cell, repeats=repeats) for cell in plan.cells))
    bounds.check(repeated, "--repeats: ")
    return repeated


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
    """True if a resumed run tries again what has failed."""
    selects: bool = False
    """True if the command takes `--select` for a new run."""
    prune_images: bool = False
    """True if an image is removed after its last repeat."""
    exclusive: bool = False
    """True if one cell at a time is measured, whatever else could be at once."""
    slots: Slots | None = None
    """The leave to measure side by side; without it, the host's own proof decides."""


@contextlib.contextmanager
def begun(job: Job, setting: Setting, host: Host) -> Iterator[Surroundings]:
    """Choose the runtime, write the record of a new run, yield its surroundings, and close them afterwards.

    Raises `HostError` if this host cannot do it.
    """
    here = inventory_of(host)
    with contextlib.ExitStack() as closing:
        closing.enter_context(announced(host.cache, job.run.folder))
        chosen = _chosen(job, here, setting, host)
        closing.callback(chosen.close)
        slots = _slots(job, here, setting, host)
        if job.matrix is not None:
            record = _record(job, chosen.runtime.name, host_facts(here, chosen.engine_version), slots)
            # The record comes last: with it there is a run, which must have all that going on with it needs.
            job.run.create()
            store_matrix(job.run, job.matrix, job.own_models)
            frozen_files.freeze(job.run.folder, job.frozen)
            setting.keep(job.run)
            job.run.write_record(record)
        listener = closing.enter_context(recorded(job.run.folder, host.listener, _now))
        yield Surroundings(
            run=job.run,
            runtime=chosen.runtime,
            inventory=here,
            clock=_now,
            listener=listener,
            stop=host.stop,
            turns=Turns(places.turns(host.environment)),
            answers=host.cache / "parity",
            idle=(lambda allocated, stop: idle.wait(allocated.cpus, setting.idle_wait_s, stop))
            if setting.idle_wait_s
            else None,
            has_published_builds=_has_published_builds(job, chosen.runtime.name),
            gpu_gate=(lambda allocated, stop: gpu_gate.wait(allocated.gpus, setting.idle_wait_s, stop))
            if setting.idle_wait_s
            else None,
            slots=slots,
            gpu_watch=lambda allocated: GpuWatch(allocated.gpus),
            free=_free(job, host) if setting.prune_images and chosen.runtime.name == RuntimeName.DOCKER else None,
            require_room=lambda plan: chosen.require_room(
                _pending_images(replace(job, plan=plan), here, retry_failed=setting.retry_failed)
            ),
            expected=lambda plan: expected_of(plan, runs(job.run.folder.parent), here),
        )


def _now() -> datetime:
    return datetime.now(UTC)


def _slots(job: Job, here: Inventory, setting: Setting, host: Host) -> Slots | None:
    """Return the leave to measure side by side."""
    if setting.exclusive or setting.slots:
        return setting.slots
    return leave(job.plan, runs(job.run.folder.parent), here, host)


def _has_published_builds(job: Job, runtime: str) -> bool:
    """Return true if packages come from the public index alone, so that the catalog knows what they are built for."""
    settings = job.settings
    own_sources = settings.pip_index or settings.extra_indexes or settings.find_links
    return runtime != RuntimeName.HOST and job.bundle is None and not own_sources


def _free(job: Job, host: Host) -> Free:
    return lambda reference, needed: remove_images((reference,), host, job.run.folder, needed)


def _chosen(job: Job, here: Inventory, setting: Setting, host: Host) -> Chosen:
    is_new = job.matrix is not None
    pending = _pending_images(job, here, retry_failed=setting.retry_failed)
    needed = Needed(pending, is_new and setting.selects, job.images)
    if job.frozen_images is not None:
        return choose_brought(job.frozen_images, host)
    if job.bundle is not None:
        return choose_of_bundle(job.runtime, job.bundle, job.plan, needed, host)
    return choose(job.runtime, needed, job.settings, host)


def _pending_images(job: Job, here: Inventory, *, retry_failed: bool) -> tuple[ImageSpec, ...]:
    """Return the images of cells that have repeats left to run and that this host has the devices for."""
    repeats = order(job.plan.cells, job.plan.seed)
    cells = {cell.id: cell for cell, _ in unfinished(repeats, job.run.outcome, retry_failed=retry_failed)}.values()
    checked = _has_published_builds(job, job.runtime)
    systems: dict[str, list[Allocation]] = {}
    for cell in cells:
        given = allocate(cell.system, here)
        if isinstance(given, Allocation):
            systems.setdefault(cell.image, []).append(given)
    return tuple(
        image
        for image in job.plan.images
        if any(not (checked and lacking(image, given.gpus, here.driver)) for given in systems.get(image.name, ()))
    )


def _record(job: Job, runtime: str, host: dict[str, Any], slots: Slots | None) -> RunRecord:
    return RunRecord(
        run=job.run.name,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        orchestrator_version=__version__,
        runtime=runtime,
        host=host,
        plan=plan_to_json(job.plan),
        matrix=job.matrix or {},
        bundle=bundle_plans.origin_of(job.bundle) if job.bundle else None,
        images=_images_origin(job) if runtime == RuntimeName.DOCKER else None,
        part_of=job.part_of,
        proved_with=slots.proved_with if slots else None,
    )


def _images_origin(job: Job) -> ImagesOrigin:
    """Return the place that the images of a run come from, where the engine lacks them."""
    if job.frozen_images is not None:
        return ImagesOrigin(kind=job.frozen_images.kind.value, place=job.frozen_images.place)
    if job.images is not None:
        return ImagesOrigin(kind="registry", place=job.images.place)
    return ImagesOrigin(kind="bundle", place=job.bundle.name) if job.bundle else ImagesOrigin(kind="build")
