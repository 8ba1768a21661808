"""Estimates of a plan for this host, from its CPUs and from what earlier runs measured here."""

from collections.abc import Sequence
from pathlib import Path

from orchestrator import planning
from orchestrator.catalog import DATASETS, DatasetInfo, carried_model
from orchestrator.devices import Allocation, allocate, another_machine, host_facts, inventory
from orchestrator.domain import Plan
from orchestrator.results.contract import LATENCY_LIMIT_S, LEAST_LATENCY_STEPS
from orchestrator.results.listing.measured import earlier
from orchestrator.results.results_folder import runs
from orchestrator.workflows.host.shipped import shipped_catalog, shipped_models

MAX_NAMED = 3


def estimated(plan: Plan, results: Path, own_datasets: Sequence[DatasetInfo] = ()) -> planning.PlanEstimate:
    """Estimate a plan for this host, with the runs of a results folder that were measured here."""
    here = inventory()
    facts = host_facts(here)
    systems = {cell.system for cell in plan.cells}
    own = {model.name: info for model in plan.models if (info := carried_model(model))}
    known = planning.Known(
        models=shipped_models() | own,
        datasets={**DATASETS, **{info.name: info for info in own_datasets}},
        assumed=planning.Assumed(
            least_latency_steps=LEAST_LATENCY_STEPS,
            latency_limit_s=LATENCY_LIMIT_S,
            cpus=len(here.cpus),
        ),
        earlier=earlier(runs(results), lambda host: not another_machine(host, facts)),
        systems=frozenset(system.name for system in systems if isinstance(allocate(system, here), Allocation)),
    )
    return planning.estimate(plan, shipped_catalog(), known)


def too_slow(estimate: planning.PlanEstimate) -> str:
    """Return a warning with the cells that would need longer than their time-out, or nothing."""
    if not estimate.slow:
        return ""
    named = ", ".join(
        f"{one.id} (about {duration(one.needs_s)}, time-out {duration(one.timeout_s)})"
        for one in estimate.slow[:MAX_NAMED]
    )
    more = f" and {len(estimate.slow) - MAX_NAMED} more" if len(estimate.slow) > MAX_NAMED else ""
    return f"estimated to end as timeout: {named}{more}; raise `timeout`, or ask for fewer epochs or steps"


def duration(seconds: float) -> str:
    """Return seconds, minutes or hours in words."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{seconds / 3600:.1f} h"
