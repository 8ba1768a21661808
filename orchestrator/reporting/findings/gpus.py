"""The notes of a report on the GPUs that cells ran on at once."""

import statistics
from collections.abc import Iterable, Sequence

from orchestrator.analysis.gpus.device_effects import Observed, device_effects
from orchestrator.reporting.findings.model import CellReport
from orchestrator.results.records import ProvedWith
from orchestrator.wording import clean_line, listing, plural

_MOST_NAMED = 3
_HEAVIER = 1.1
"""Times the busy cores of another cell; one cell differs by less from one run to the next."""


def gpu_warnings(cells: Sequence[CellReport], proved_with: ProvedWith | None = None) -> Iterable[str]:
    """Yield the repeats that ran beside others, and the differences between the GPUs of a run."""
    outcomes = [repeat.outcome for cell in cells for repeat in cell.repeats if repeat.outcome.ran_on]
    beside = [outcome for outcome in outcomes if outcome.beside]
    if beside:
        yield (
            f"{len(beside)} of {len(outcomes)} {plural('repeat', len(outcomes))} on GPUs ran beside others, each with "
            "its share of the CPUs; cells that are compared shared their GPUs in each repeat"
        )
        if proved_with:
            yield _proof(cells, proved_with)
    observed = [
        Observed(cell.cell.id, repeat.outcome.ran_on, repeat.measurement.samples_per_s)
        for cell in cells
        if cell.computes and not cell.cell.workload.searches
        for repeat in cell.repeats
        if repeat.measurement and repeat.outcome.ran_on and "," not in repeat.outcome.ran_on
    ]
    for effects in device_effects([each for each in observed if each.rate > 0]):
        repeats = sum(each.device in effects for each in observed)
        named = [f"{uuid} {factor:.3f}" for uuid, factor in effects.items()]
        yield f"speed of each GPU over the mean of all, estimated from {repeats} repeats: {listing(named)}"


def _proof(cells: Sequence[CellReport], proved_with: ProvedWith) -> str:
    """Name the cell that proved that others may run beside it, and the cells that are heavier than it.

    A cell is heavier if it keeps over a tenth more cores busy, as the median over its repeats.
    """
    cell, proved_cores = clean_line(proved_with.cell), proved_with.cpu_cores
    proof = (
        f"that cells beside others are as fast as alone was proved with {cell} "
        f"({proved_with.ratio:.3f} ×, {proved_with.low:.3f}–{proved_with.high:.3f})"
    )
    cores = {each.cell.id: busy for each in cells if (busy := _cores_beside_others(each)) is not None}
    if proved_cores is None:
        return f"{proof}; how many CPU cores it kept busy is not known, nor which cells are heavier"
    if not cores:
        return f"{proof}, which kept {proved_cores:.2f} CPU cores busy; those of the cells here are not known"
    heavier = sorted(
        (name for name, busy in cores.items() if busy > _HEAVIER * proved_cores), key=lambda name: -cores[name]
    )
    if not heavier:
        return f"{proof}, and none of {len(cores)} {plural('cell', len(cores))} kept over a tenth more CPU cores busy"
    named = [f"{name} {cores[name]:.2f}" for name in heavier[:_MOST_NAMED]]
    return (
        f"{proof}, which kept {proved_cores:.2f} CPU cores busy; {len(heavier)} of {len(cores)} "
        f"{plural('cell', len(cores))} kept over a tenth more busy, the most {listing(named)}: "
        f"prove it with such a cell (orchestrator doctor --interference --select '{heavier[0]}')"
    )


def _cores_beside_others(cell: CellReport) -> float | None:
    """Return the cores that a cell kept busy beside others, or None if it ran alone or that is not known."""
    busy = [
        repeat.measurement.cpu_cores
        for repeat in cell.repeats
        if repeat.measurement and repeat.outcome.beside and repeat.measurement.cpu_cores is not None
    ]
    return statistics.median(busy) if busy else None
