"""The notes of a report on the GPUs that cells ran on at once."""

from collections.abc import Iterable, Sequence

from orchestrator.analysis.device_effects import Observed, device_effects
from orchestrator.reporting.findings.model import CellReport
from orchestrator.wording import listing, plural


def gpu_warnings(cells: Sequence[CellReport]) -> Iterable[str]:
    """Yield the repeats that ran beside others, and the differences between the GPUs of a run."""
    outcomes = [repeat.outcome for cell in cells for repeat in cell.repeats if repeat.outcome.ran_on]
    beside = [outcome for outcome in outcomes if outcome.beside]
    if beside:
        yield (
            f"{len(beside)} of {len(outcomes)} {plural('repeat', len(outcomes))} on GPUs ran beside others, each with "
            "its share of the CPUs; cells that are compared shared their GPUs in each repeat"
        )
    observed = [
        Observed(cell.cell.id, repeat.outcome.ran_on, repeat.measurement.samples_per_s)
        for cell in cells
        if cell.computes and not cell.cell.workload.searches
        for repeat in cell.repeats
        if repeat.measurement and repeat.outcome.ran_on and "," not in repeat.outcome.ran_on
    ]
    effects = device_effects([each for each in observed if each.rate > 0])
    if effects:
        named = [f"{uuid} {factor:.3f}" for uuid, factor in effects.items()]
        yield f"speed of each GPU over the mean of all, estimated from {len(observed)} repeats: {listing(named)}"
