"""The efficiency of several GPUs, from a cell on them and the cell that does the same work on one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from orchestrator.analysis.gpus.in_turn import Timed, levelled_rates
from orchestrator.analysis.ratios import Ratio, ratio
from orchestrator.domain import Cell, System, Workload
from orchestrator.modes.parts.settings import Scaling
from orchestrator.reporting.findings.certainty.looks import timed
from orchestrator.reporting.findings.model import CellReport, Efficiency, Group
from orchestrator.reporting.inline import factor_range
from orchestrator.wording import clean_line, factor

EFFICIENCY_TITLE = "What several GPUs bring"
EFFICIENCY_HEADS = ("Cell", "GPUs", "Scaling", "One GPU", "Speed-up", "Efficiency", "Its interval")
EFFICIENCY_NUMBERS = (1, 4, 5, 6)
EFFICIENCY_NOTE = (
    "Efficiency is the throughput of all GPUs over that of one, by their number. By weak scaling each takes a whole "
    "batch, by strong scaling an equal part of one. Batch norm sees the part of a batch that lies on its GPU."
)


def with_efficiencies(groups: Iterable[Group], cells: Iterable[CellReport]) -> Iterator[Group]:
    """Yield every group, with the efficiency of each measured cell on several GPUs beside each on one."""
    by_id = {cell.cell.id: cell for cell in cells}
    rates = _rates(by_id.values())
    alone: dict[Workload, list[CellReport]] = {}
    for cell in by_id.values():
        if cell.cell.system.gpus == 1:
            alone.setdefault(cell.cell.workload, []).append(cell)
    for group in groups:
        one_gpu = replace(group.workload, scaling=Scaling.WEAK)  # one GPU has no other
        found = _efficiencies(group, by_id, alone.get(one_gpu, ()), rates) if group.system.gpus > 1 else ()
        yield replace(group, efficiencies=tuple(found))


def _efficiencies(
    group: Group,
    cells: Mapping[str, CellReport],
    others: Sequence[CellReport],
    rates: Mapping[str, Sequence[float]],
) -> Iterator[Efficiency]:
    if not group.workload.rules.has_loss:
        return
    for cell in (cells[place.cell_id] for place in group.places):
        for alone in others:
            values, base = rates[cell.cell.id], rates[alone.cell.id]
            if _is_alike(cell.cell, alone.cell) and values and base:
                yield _efficiency(cell.cell, alone.cell, ratio(values, base))


def _efficiency(cell: Cell, alone: Cell, over: Ratio) -> Efficiency:
    gpus = cell.system.gpus
    low, high = (None if end is None else end / gpus for end in (over.low, over.high))
    return Efficiency(cell.id, alone.id, over.value, over.value / gpus, low, high)


def efficiency_rows(group: Group, cells: Mapping[str, CellReport]) -> list[tuple[str, ...]]:
    """Return a row for every pair, in the order of the ranking."""
    return [
        (
            clean_line(cells[each.cell_id].label),
            str(group.system.gpus),
            group.workload.scaling.value,
            clean_line(each.one_gpu_cell_id),
            f"{factor(each.speed_up)} ×",
            factor(each.value),
            factor_range(each.low, each.high),
        )
        for each in group.efficiencies
    ]


def _is_alike(cell: Cell, alone: Cell) -> bool:
    """Return true if two cells of one work differ in the number of their GPUs alone."""
    own, other = (
        (each.framework, each.options, each.definition, each.duration, _kind(each.system)) for each in (cell, alone)
    )
    return own == other


def _kind(system: System) -> tuple[object, ...]:
    return system.gpu, system.gpu_memory_bytes, system.mig


def _rates(cells: Iterable[CellReport]) -> Mapping[str, Sequence[float]]:
    """Return the rates of the repeats of each cell; on GPUs of mean speed, if those of its system took them in turn."""
    by_system: dict[System, dict[str, Sequence[Timed]]] = {}
    rates: dict[str, Sequence[float]] = {}
    for cell in cells:
        repeats = timed(cell)
        rates[cell.cell.id] = [each.rate for each in repeats]
        if cell.computes and repeats and all(each.rate > 0 for each in repeats):
            by_system.setdefault(cell.cell.system, {})[cell.cell.id] = repeats
    for of_system in by_system.values():
        rates |= levelled_rates(of_system)
    return rates
