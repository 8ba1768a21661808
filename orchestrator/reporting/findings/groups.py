"""Cells of the same work on the same kind of system, compared with each other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.estimates import Estimate
from orchestrator.analysis.gpus.in_turn import Timed, levelled, ratio_in_turn
from orchestrator.analysis.parity.sides import UNQUANTISED, quantisation
from orchestrator.analysis.parity.work import PairParity
from orchestrator.analysis.rankings import RankingLooks, family_of
from orchestrator.analysis.ratios import Ratio, ranks, ranks_by_intervals, ratio_matrix
from orchestrator.domain import Cell, System, Workload
from orchestrator.reporting.findings.certainty.looks import timed
from orchestrator.reporting.findings.model import CellReport, Floor, Group, Placed
from orchestrator.reporting.findings.summary import finding, floor_finding

MOST_IN_MATRIX = 60
"""Cells of a group of which every pair is compared: pairs grow by the square, and nobody reads a thousand."""

_MOST_TRIED = 8

Judge = Callable[[Cell, Cell], PairParity | None]
"""True if two cells do the same work; None if nothing is known about it."""
Compare = Callable[[Sequence[Timed], Sequence[Timed]], Ratio]
"""Compares the repeats of two cells."""
Matrix = tuple[tuple[Ratio | None, ...], ...]


def unknown(one: Cell, other: Cell) -> PairParity | None:
    """Know nothing about the work of two cells."""
    del one, other
    return None


def group(
    system: System,
    workload: Workload,
    cells: Sequence[CellReport],
    judge: Judge = unknown,
    looks: RankingLooks | None = None,
) -> Group:
    """Rank the cells of a group and say what was found.

    What does other work never wins; what computes nothing has no place. Cells of a run until decided are compared at
    the `looks` of it.
    """
    idle, cells = [cell for cell in cells if not cell.computes], [cell for cell in cells if cell.computes]
    compare = partial(looks.ratio, family=family_of(len(cells))) if looks else ratio_in_turn
    measured = [cell for cell in cells if cell.measurement is not None]
    rates = _rates(measured)
    measured.sort(key=lambda cell: -rates[cell.cell.id].value)
    small = len(measured) <= MOST_IN_MATRIX
    best = _pivot(measured, judge)
    if best is not None:
        measured.sort(key=lambda cell: _apart(best, cell, judge))
    parity = _parity(measured, judge) if small else ()
    matrix = _matrix(measured, parity, compare) if small else ()
    to_best = [row[0] for row in matrix] if small else _against(measured, judge, compare)
    same = sum(over is None or over.verdict is not Verdict.NOT_COMPARABLE for over in to_best)
    spans = (
        ranks([row[:same] for row in matrix[:same]])
        if small
        else ranks_by_intervals([rates[cell.cell.id] for cell in measured[:same]])
    )
    placed = [
        Placed(
            cell.cell.id,
            cell.label,
            rank,
            over,
            None if best is None or cell is best else judge(best.cell, cell.cell),
            share_of(cell, idle),
        )
        for cell, rank, over in zip_longest(measured, spans, to_best)
    ]
    placed += [Placed(cell.cell.id, cell.label, None, None) for cell in cells if cell.measurement is None]
    return Group(
        system, workload, tuple(placed), matrix, parity if any(any(row) for row in parity) else (),
        *(finding(measured, to_best, cells) if cells else floor_finding(idle)), floors(idle, measured),
    )  # fmt: skip


def _pivot(measured: Sequence[CellReport], judge: Judge) -> CellReport | None:
    """The cell that all are compared with: of those that no cell of the same work is faster than, the one that does
    the work of the most others. In a large group only the fastest are tried.

    Doing the same work is not transitive: `amp` may do that of two cells that are apart from each other. A quantised
    cell is an approximation of the others, and they are not compared with it.
    """
    plain = [cell for cell in measured if quantisation(cell.cell.options) == UNQUANTISED] or measured
    tried = plain if len(measured) <= MOST_IN_MATRIX else plain[:_MOST_TRIED]
    unbeaten = [
        cell for place, cell in enumerate(tried) if all(_apart(cell, faster, judge) for faster in plain[:place])
    ]
    return max(unbeaten, key=lambda cell: sum(not _apart(cell, other, judge) for other in measured), default=None)


def _apart(one: CellReport, other: CellReport, judge: Judge) -> bool:
    return one is not other and _do_other_work(one, other, judge(one.cell, other.cell))


def _do_other_work(one: CellReport, other: CellReport, pair: PairParity | None) -> bool:
    """Return True if two cells are known to do other work, as those of unlike quantisation are without a check."""
    if pair is not None and pair.is_other_work:
        return True
    return quantisation(one.cell.options) != quantisation(other.cell.options)


def _parity(measured: Sequence[CellReport], judge: Judge) -> tuple[tuple[PairParity | None, ...], ...]:
    return tuple(tuple(None if one is other else judge(one.cell, other.cell) for other in measured) for one in measured)


def _matrix(measured: Sequence[CellReport], parity: Sequence[Sequence[PairParity | None]], compare: Compare) -> Matrix:
    ratios = ratio_matrix([timed(cell) for cell in measured], compare)
    return tuple(
        tuple(
            _judged(over, is_apart=cell is not other and _do_other_work(cell, other, work))
            for other, over, work in zip(measured, row, works, strict=True)
        )
        for cell, row, works in zip(measured, ratios, parity, strict=True)
    )


def _against(measured: Sequence[CellReport], judge: Judge, compare: Compare) -> list[Ratio | None]:
    best = measured[0]
    fastest = timed(best)
    return [
        None,
        *(_judged(compare(timed(cell), fastest), is_apart=_apart(cell, best, judge)) for cell in measured[1:]),
    ]


def _judged(over: Ratio | None, *, is_apart: bool) -> Ratio | None:
    return replace(over, verdict=Verdict.NOT_COMPARABLE, more_repeats=None) if over and is_apart else over


def _rates(measured: Sequence[CellReport]) -> Mapping[str, Estimate]:
    """Return the throughput of each cell; on GPUs of mean speed, if they were given their GPUs in turn."""
    raw = {cell.cell.id: cell.measurement.throughput for cell in measured if cell.measurement is not None}
    return raw | dict(levelled({cell.cell.id: timed(cell) for cell in measured}))


def floors(idle: Sequence[CellReport], measured: Sequence[CellReport]) -> tuple[Floor, ...]:
    """Describe the cells of a group that compute nothing, beside those that were measured."""
    steps = [cell.step_s for cell in measured if cell.step_s is not None]
    return tuple(
        Floor(
            cell.cell.id,
            cell.label,
            cell.step_s,
            None if cell.step_s is None or not steps else cell.step_s / min(steps),
        )
        for cell in idle
    )


def share_of(cell: CellReport, idle: Sequence[CellReport]) -> float | None:
    """Return the part of a cell's step that the slowest floor takes, or None if one was not measured."""
    steps = [one.step_s for one in idle if one.step_s is not None]
    return max(steps) / cell.step_s if steps and cell.step_s is not None else None
