"""The beginning of a run on a cluster: its plan is split, estimated and frozen."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orchestrator import __version__, planning
from orchestrator.catalog import shipped_catalog
from orchestrator.clusters.folder import ClusterRun
from orchestrator.clusters.images import FrozenImages
from orchestrator.clusters.parts import Part, parts
from orchestrator.clusters.record import ClusterRecord, PartRecord
from orchestrator.clusters.sbatch import MOST_SCRIPT_BYTES
from orchestrator.clusters.site import Executor, Site
from orchestrator.devices import inventory
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.planning import collector
from orchestrator.results.files import frozen as frozen_files
from orchestrator.results.records import plan_to_json
from orchestrator.results.store import Run
from orchestrator.wording import listing
from orchestrator.workflows import option_values
from orchestrator.workflows.cluster.frozen_images import frozen_images
from orchestrator.workflows.cluster.options import ClusterOptions, part_settings
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.data import with_data
from orchestrator.workflows.inputs.planned_matrix import PlannedMatrix, plan_matrix
from orchestrator.workflows.inputs.stored_runs import store_matrix
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.slots import known
from orchestrator.workflows.run import RunOptions

_UNFIT = re.compile(r"[^\w ./+,:=@~-]")
"""Characters that mean something else in an `#SBATCH` line, or in the name of a log."""


@dataclass(frozen=True, slots=True)
class FrozenParts:
    """The plan of a run on a cluster, with the parts that its jobs measure."""

    planned: PlannedMatrix
    plan: Plan
    """The cells that its report is of."""
    parts: tuple[tuple[Part, Plan], ...]


def freeze(options: ClusterOptions, site: Site, host: Host) -> tuple[ClusterRun, ClusterRecord]:
    """Plan a matrix, and write the run with all its parts. Return it with its record.

    Raises `InputError` with every mistake of the matrix, `HostError` if the run cannot be written.
    """
    return write(split(options, host), options, site, results_of(options, site))


def split(options: ClusterOptions, host: Host) -> FrozenParts:
    """Plan a matrix and split it. Raises as `freeze` does."""
    planned = plan_matrix(options, host)
    plan = with_data(planned.plan, planned.matrix, options.data, host)
    plan = jobs.repeated(plan, options.repeats)
    for warning in plan.warnings:
        host.say(f"warning: {warning}")
    with collector.paused():
        return FrozenParts(planned, plan, tuple(parts(plan, estimated(planned, plan))))


def results_of(options: RunOptions, site: Site) -> Path:
    """Return the results folder that the options name, or else that of the site, or else the default one."""
    is_named = options.results != option_values.RESULTS
    return Path(site.results if site.results and not is_named else options.results).absolute()


def write(frozen: FrozenParts, options: RunOptions, site: Site, results: Path) -> tuple[ClusterRun, ClusterRecord]:
    """Write a run with its parts. Return it with its record. Raises as `freeze` does."""
    planned, run = frozen.planned, jobs.named(results)
    if site.executor is Executor.SLURM and _UNFIT.search(str(run.folder)):
        raise InputError(f"{run.folder}: a batch script cannot name this folder; choose a plain path with --results")
    if site.on_nodes:
        _refuse_large(frozen.plan, site.on_nodes)
    images = frozen_images(site.images, frozen.plan.images, planned.settings)
    run.create()
    store_matrix(run, planned.document, planned.own_models)
    frozen_files.freeze(run.folder, planned.frozen)
    with collector.paused():
        return _written(run, frozen, options, site, images)


def _refuse_large(plan: Plan, folder: str) -> None:
    """Raise `InputError` for networks that no batch script can carry to nodes which share no folder."""
    most = MOST_SCRIPT_BYTES * 3 // 4  # in base64
    size_bytes = sum(network.size_bytes for network in plan.networks)
    if size_bytes > most:
        named = listing([network.name for network in plan.networks])
        raise InputError(
            f"the files of {named} have {size_bytes / 1e6:,.1f} MB, and a batch script carries {most / 1e6:.1f} MB to "
            f"nodes with a folder of their own ({folder}); put the results into a folder that every node sees"
        )


def _written(
    run: Run, frozen: FrozenParts, options: RunOptions, site: Site, images: FrozenImages
) -> tuple[ClusterRun, ClusterRecord]:
    """Write the parts and the record of a run."""
    stored = plan_to_json(frozen.plan)
    record = ClusterRecord(
        run=run.name,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        orchestrator_version=__version__,
        site=site,
        options=part_settings(options),
        parts=tuple(part for part, _ in frozen.parts),
        plan=stored,
    )
    cells = dict(zip((cell.id for cell in frozen.plan.cells), stored["cells"], strict=True))
    cluster = ClusterRun(run.folder)
    cluster.create(record, frozen.parts, lambda name, own: _part_record(record, name, own, images, cells))
    return cluster, record


def _part_record(
    record: ClusterRecord, name: str, plan: Plan, images: FrozenImages, cells: Mapping[str, Any]
) -> PartRecord:
    """Return the record of a part, with its cells as the record of the whole run has them by their ids."""
    own = plan_to_json(replace(plan, cells=())) | {"cells": [cells[cell.id] for cell in plan.cells]}
    chosen = images.of({image.name for image in plan.images})
    return PartRecord(
        run=record.run, part=name, replicate=record.site.replicate, images=chosen, options=record.options, plan=own,
    )  # fmt: skip


def estimated(planned: PlannedMatrix, plan: Plan) -> Callable[[Plan], float]:
    """Return a function that estimates the seconds of a part on a node which has nothing yet.

    No run of this host says anything of a node.
    """
    about = replace(known(plan, (), inventory(), planned.matrix.own_datasets), systems=None)
    return planning.seconds_of_parts(plan, shipped_catalog(), about)
