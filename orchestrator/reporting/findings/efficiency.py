"""The efficiency of several GPUs, from a cell on them and the cell that does the same work on one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from orchestrator.analysis.ratios import Ratio, ratio
from orchestrator.domain import Cell, System
from orchestrator.modes.parts.settings import Scaling
from orchestrator.reporting.findings.model import CellReport, Group
from orchestrator.reporting.inline import factor_interval
from orchestrator.wording import clean_line, factor

EFFICIENCY_TITLE = "What several GPUs bring"
EFFICIENCY_HEADS = ("Cell", "GPUs", "Scaling", "One GPU", "Speed-up", "Efficiency", "Its interval")
EFFICIENCY_NUMBERS = (1, 4, 5, 6)
EFFICIENCY_NOTE = (
    "Efficiency is the throughput of all GPUs over that of one, by their number. By weak scaling each takes a whole "
    "batch, by strong scaling an equal part of one. Batch norm sees the part of a batch that lies on its GPU."
)


@dataclass(frozen=True, slots=True)
class Efficiency:
    """The throughput of a cell on several GPUs over that of one GPU, as a factor for each of them."""

    cell: CellReport
    alone: CellReport
    speed_up: float
    each: Ratio
    """The speed-up by the number of GPUs. Its verdict means nothing."""


def efficiencies(group: Group, cells: Mapping[str, CellReport]) -> Iterator[Efficiency]:
    """Yield every measured cell of a group beside each measured cell of the same work on one GPU."""
    gpus = group.system.gpus
    if gpus < 2 or not group.workload.rules.has_loss:
        return
    work = replace(group.workload, scaling=Scaling.WEAK)  # one GPU has no other
    others = [each for each in cells.values() if each.cell.system.gpus == 1 and each.cell.workload == work]
    for cell in (cells[place.cell_id] for place in group.places):
        for alone in others:
            if _is_alike(cell.cell, alone.cell) and (values := _rates(cell)) and (base := _rates(alone)):
                over = ratio(values, base)
                low, high = (None if end is None else end / gpus for end in (over.low, over.high))
                yield Efficiency(cell, alone, over.value, replace(over, value=over.value / gpus, low=low, high=high))


def efficiency_rows(group: Group, cells: Mapping[str, CellReport]) -> list[tuple[str, ...]]:
    """Return a row for every pair, in the order of the ranking."""
    return [
        (
            clean_line(found.cell.label),
            str(group.system.gpus),
            group.workload.scaling.value,
            clean_line(found.alone.cell.id),
            f"{factor(found.speed_up)} ×",
            factor(found.each.value),
            factor_interval(found.each),
        )
        for found in efficiencies(group, cells)
    ]


def _is_alike(cell: Cell, alone: Cell) -> bool:
    """Return true if two cells of one work differ in the number of their GPUs alone."""
    own, other = (
        (each.framework, each.options, each.definition, each.duration, _kind(each.system)) for each in (cell, alone)
    )
    return own == other


def _kind(system: System) -> tuple[object, ...]:
    return system.gpu, system.gpu_memory_bytes, system.mig


def _rates(cell: CellReport) -> list[float]:
    return [repeat.measurement.samples_per_s for repeat in cell.repeats if repeat.measurement is not None]
