"""The plan of a matrix or of a loaded bundle, with an estimate for this host."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from orchestrator import planning
from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.catalog import DatasetInfo, shipped_catalog
from orchestrator.devices import inventory
from orchestrator.domain import ImageSpec, Plan
from orchestrator.images import without_source
from orchestrator.planning import PlanEstimate
from orchestrator.results.results_folder import runs
from orchestrator.wording import counted, listing
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.bundle_plans import PlanSource, chosen_bundle, wanted_plan
from orchestrator.workflows.inputs.cluster_runs import every_measured
from orchestrator.workflows.inputs.planned_matrix import plan_matrix
from orchestrator.workflows.measure.precision import PlanPrecision, plan_precision, wanted_share
from orchestrator.workflows.measure.slots import known

MAX_NAMED = 3


def _estimated(plan: Plan, results: Path, own_datasets: Sequence[DatasetInfo] = ()) -> PlanEstimate:
    """Estimate a plan for this host, with the runs of a results folder that were measured here."""
    return planning.estimate(plan, shipped_catalog(), known(plan, runs(results), inventory(), own_datasets))


def _too_slow(estimate: PlanEstimate) -> str:
    """Return a warning with the cells that would need longer than their time-out, or nothing."""
    if not estimate.slow:
        return ""
    named = ", ".join(
        f"{one.id} (about {_duration(one.needs_s)}, time-out {_duration(one.timeout_s)})"
        for one in estimate.slow[:MAX_NAMED]
    )
    more = f" and {len(estimate.slow) - MAX_NAMED} more" if len(estimate.slow) > MAX_NAMED else ""
    return f"estimated to end as timeout: {named}{more}; raise `timeout`, or ask for fewer epochs or steps"


def _duration(seconds: float) -> str:
    """Return seconds, minutes or hours in words."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{seconds / 3600:.1f} h"


def _of_frontier(plan: Plan) -> str:
    """Return a line on the cells of frontiers, of which a run measures a few, or nothing."""
    cells = sum(1 for cell in plan.cells if cell.frontier)
    return (
        f"{counted(cells, 'cell')} of frontiers: a run measures as many of them as it needs, all of them at most\n"
        if cells
        else ""
    )


def _deleted(images: Sequence[ImageSpec]) -> str:
    """Return a line on the images that cannot be built, as NVIDIA has deleted what they copy from, or nothing."""
    if not images:
        return ""
    releases = sorted({image.environment.cuda.version for image in images if image.environment.cuda}, key=Version)
    return (
        f"\nwithout copies in build.cuda_images, {counted(len(images), 'image')} cannot be built: "
        f"NVIDIA has deleted its images of CUDA {listing(releases)}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions(PlanSource):
    """The options of `plan`."""

    results: Path = option_values.RESULTS
    """The results folder, whose runs of this host the estimate is made from."""
    wanted: str | None = None
    """Half of the interval that each throughput is to have, such as `2%`."""


@dataclass(frozen=True, slots=True)
class PlanResult:
    """A plan and what it would take."""

    plan: Plan
    """Cells, images, skips and warnings."""
    estimate: PlanEstimate
    """Seconds to build and to measure on this host, and bytes of disk."""
    matrix: dict[str, Any]
    """The matrix with every field spelled out, without passwords."""
    bundle: LoadedBundle | None = None
    """The bundle that the plan came in."""
    without_source: tuple[ImageSpec, ...] = ()
    """Images whose CUDA libraries come from an image that NVIDIA has deleted."""
    precision: PlanPrecision | None = None
    """The price of a wanted interval; None if none was asked for."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings of the plan, and one of cells that would need longer than their time-out."""
        return tuple(filter(None, (*self.plan.warnings, _too_slow(self.estimate))))

    @property
    def summary(self) -> str:
        """Return the numbers of the plan and its estimate in words."""
        plan, estimate = self.plan, self.estimate
        building = (
            "; nothing is built, the images came with the bundle"
            if self.bundle is not None
            else f", {_duration(estimate.build_s)} to build and {estimate.disk_bytes / 1e9:.1f} GB of disk "
            "where nothing is there"
        )
        claims = counted(len(plan.study.claims), "published claim") if plan.study else ""
        without_device = sum(cell.repeats for cell in plan.cells) - estimate.containers
        unserved = (
            f"\n{counted(without_device, 'repeat')} would end as no_device on this host" if without_device else ""
        )
        return (
            f"{counted(len(plan.cells), 'cell')}, {counted(estimate.containers, 'container')}, "
            f"{counted(estimate.parity_containers, 'parity check')}, "
            f"{counted(len(plan.images), 'image')}, {len(plan.skips)} skipped{claims and f', {claims}'}\n"
            f"{_of_frontier(plan)}"
            f"about {_duration(estimate.run_s)} to measure "
            f"(at most {_duration(estimate.longest_run_s)}){building}{unserved}{_deleted(self.without_source)}"
        )


def plan(options: PlanOptions, host: Host) -> PlanResult:
    """Plan a matrix, or take the plan of a bundle, and estimate it.

    Raises `InputError` with every mistake of the matrix.

    Example: `plan(PlanOptions(select=["mxnet-*"]), this_host()).estimate.run_s`
    """
    share = None if options.wanted is None else wanted_share(options.wanted)
    bundle = chosen_bundle("plan", options, host)
    if bundle is not None:
        wanted = wanted_plan(bundle, options)
        precision = _precision(wanted, options.results, share)
        return PlanResult(wanted, _estimated(wanted, options.results), bundle.matrix(), bundle, precision=precision)
    planned = plan_matrix(options, host)
    estimate = _estimated(planned.plan, options.results, planned.matrix.own_datasets)
    without = without_source(planned.plan.images, planned.settings)
    precision = _precision(planned.plan, options.results, share)
    return PlanResult(planned.plan, estimate, planned.document, without_source=without, precision=precision)


def _precision(plan: Plan, results: Path, share: float | None) -> PlanPrecision | None:
    return None if share is None else plan_precision(plan, every_measured(results), inventory(), share)
