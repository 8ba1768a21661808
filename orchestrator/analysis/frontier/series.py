"""The cells of a frontier: which of them are one series, which series are one group, and what each has measured."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from orchestrator.analysis.estimates import estimate
from orchestrator.analysis.frontier.points import FrontierPoint
from orchestrator.analysis.measurements import RepeatMeasurement
from orchestrator.domain import Cell


@dataclass(frozen=True, slots=True)
class FrontierSeries:
    """Cells that differ by batch size alone, the smallest first."""

    cells: tuple[Cell, ...]

    @property
    def group(self) -> Hashable:
        """Return a key that the series of one frontier share, which differ by CPUs and options alone."""
        cell = self.cells[0]
        return cell.framework, replace(cell.workload, batch_size=1), cell.system.gpus, cell.definition


def series_of(cells: Iterable[Cell]) -> tuple[FrontierSeries, ...]:
    """Return the series of all cells that are a part of a frontier, in the order of their first cells."""
    alike: dict[Hashable, list[Cell]] = {}
    for cell in cells:
        if cell.frontier is not None:
            key = cell.framework, replace(cell.workload, batch_size=1), cell.system, cell.options, cell.definition
            alike.setdefault(key, []).append(cell)
    return tuple(
        FrontierSeries(tuple(sorted(members, key=lambda cell: cell.workload.batch_size))) for members in alike.values()
    )


def point_of(cell: Cell, repeats: Sequence[RepeatMeasurement]) -> FrontierPoint | None:
    """Return the point of a cell from its `ok` repeats, or None without any that has latencies."""
    latencies = [(repeat.latency.p50_s if repeat.latency else repeat.at_once_p50_s, repeat) for repeat in repeats]
    timed = [(latency_s, repeat.samples_per_s) for latency_s, repeat in latencies if latency_s is not None]
    if not timed:
        return None
    latencies_s, rates = zip(*timed, strict=True)
    return FrontierPoint(cell.workload.batch_size, estimate(latencies_s), estimate(rates))
