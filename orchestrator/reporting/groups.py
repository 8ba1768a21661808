"""Cells of the same work on the same kind of system, compared with each other."""

from collections.abc import Sequence

from orchestrator.analysis import Rank, Ratio, ranks, ranks_by_intervals, ratio, ratio_matrix
from orchestrator.domain import System, Workload
from orchestrator.reporting.model import CellReport, Group, Placed
from orchestrator.reporting.summary import finding

MOST_IN_MATRIX = 60
"""Cells of a group of which every pair is compared: pairs grow by the square, and nobody reads a thousand."""

Matrix = tuple[tuple[Ratio | None, ...], ...]


def group(system: System, workload: Workload, cells: Sequence[CellReport]) -> Group:
    """Rank the cells of a group and say what was found."""
    measured = [(cell, cell.measurement.throughput) for cell in cells if cell.measurement is not None]
    measured.sort(key=lambda pair: -pair[1].value)
    ordered = [cell for cell, _ in measured]
    matrix: Matrix = ()
    places: Sequence[Rank]
    if len(ordered) <= MOST_IN_MATRIX:
        matrix = ratio_matrix([_values(cell) for cell in ordered])
        to_best = [row[0] for row in matrix]
        places = ranks(matrix)
    else:
        best = _values(ordered[0])
        to_best = [None, *(ratio(_values(cell), best) for cell in ordered[1:])]
        places = ranks_by_intervals([estimate for _, estimate in measured])
    placed = [
        Placed(cell.cell.id, cell.label, rank, over) for cell, rank, over in zip(ordered, places, to_best, strict=True)
    ]
    placed += [Placed(cell.cell.id, cell.label, None, None) for cell in cells if cell.measurement is None]
    return Group(system, workload, tuple(placed), matrix, *finding(ordered, to_best, cells))


def _values(cell: CellReport) -> list[float]:
    return [repeat.measurement.samples_per_s for repeat in cell.repeats if repeat.measurement is not None]
