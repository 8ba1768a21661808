"""The plan of a matrix or of a loaded bundle, with an estimate for this host."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.domain import Plan
from orchestrator.planning import PlanEstimate
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.bundle_plans import PlanSource, chosen_bundle, wanted_plan
from orchestrator.workflows.inputs.estimate import estimated
from orchestrator.workflows.inputs.planned_matrix import plan_matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions(PlanSource):
    """The options of `plan`."""

    results: Path = option_values.RESULTS
    """The results folder, whose runs of this host the estimate is made from."""


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


def plan(options: PlanOptions, host: Host) -> PlanResult:
    """Plan a matrix, or take the plan of a bundle, and estimate it.

    Raises `InputError` with every mistake of the matrix.

    Example: `plan(PlanOptions(select=["mxnet-*"]), this_host()).estimate.run_s`
    """
    bundle = chosen_bundle("plan", options, host)
    if bundle is not None:
        wanted = wanted_plan(bundle, options)
        return PlanResult(wanted, estimated(wanted, options.results), bundle.matrix(), bundle)
    planned = plan_matrix(options, host)
    estimate = estimated(planned.plan, options.results, planned.matrix.own_datasets)
    return PlanResult(planned.plan, estimate, planned.document)
