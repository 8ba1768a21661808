"""What a group of cells shows, said in one or two plain sentences."""

from collections import Counter
from collections.abc import Sequence

from orchestrator.analysis import Ratio, Verdict
from orchestrator.domain import Status
from orchestrator.reporting.model import CellReport
from orchestrator.reporting.text import factor, factor_interval, listing, plural, rate, statuses

Matrix = Sequence[Sequence[Ratio | None]]


def sentence(measured: Sequence[CellReport], ratios: Matrix, cells: Sequence[CellReport]) -> str:
    """Say which cell won, by how much and how surely.

    `measured` is ordered by throughput, highest first, and `ratios` belongs to it, row over column; `cells` are all
    cells of the group.
    """
    if not measured:
        found = Counter(repeat.outcome.status for cell in cells for repeat in cell.repeats)
        return f"Nothing was measured: {statuses([(status, found[status]) for status in Status if found[status]])}."
    return " ".join([_winner(measured, ratios), *_left_out(cells)])


def _winner(measured: Sequence[CellReport], ratios: Matrix) -> str:
    best = measured[0]
    speed = f"{_rate(best)} samples/s"
    if len(measured) == 1:
        return f"{best.label} reached {speed}; there is nothing to compare it with."
    beside = [(cell, over) for cell, over in zip(measured, ratios[0], strict=True) if over is not None]
    tied = [(cell, over) for cell, over in beside if over.verdict is not Verdict.FASTER]
    if not tied:
        second, over = beside[0]
        return f"{best.label} is the fastest at {speed}, {_over(over, f' as fast as the next, {second.label}')}."
    return f"{_tie(best, speed, tied)} {_behind(beside)}".rstrip()


def _tie(best: CellReport, speed: str, tied: Sequence[tuple[CellReport, Ratio]]) -> str:
    names = listing([cell.label for cell, _ in tied])
    if all(over.low is None for _, over in tied):
        return (
            f"Inconclusive: {best.label} came out highest at {speed}, {factor(tied[0][1].value)} × {tied[0][0].label}, "
            "but with a single repeat nothing says how sure that is."
        )
    if all(over.verdict is Verdict.SAME for _, over in tied):
        return (
            f"{best.label} and {names} are equally fast, within {100 * tied[0][1].tolerance:.0f} %, at about {speed}."
        )
    open_ones = [over for _, over in tied if over.verdict is Verdict.INCONCLUSIVE]
    needed = [over.more_repeats for over in open_ones if over.more_repeats is not None]
    more = f"; about {max(needed)} more {plural('repeat', max(needed))} would tell" if needed else ""
    closest = next(over for _, over in tied if over.verdict is Verdict.INCONCLUSIVE)
    return (
        f"Inconclusive: {best.label} came out highest at {speed}, but the repeats do not tell it from {names} "
        f"({_bare(closest)}){more}."
    )


def _behind(beside: Sequence[tuple[CellReport, Ratio]]) -> str:
    slower = [(cell, over) for cell, over in beside if over.verdict is Verdict.FASTER]
    if not slower:
        return ""
    cell, over = slower[0]
    return f"The first that is surely slower is {cell.label}, by {_over(over)}."


def _left_out(cells: Sequence[CellReport]) -> list[str]:
    without = [cell.label for cell in cells if cell.measurement is None]
    return [f"Not measured: {listing(without)}."] if without else []


def _over(over: Ratio, whom: str = "") -> str:
    return f"{factor(over.value)} ×{whom} ({_interval(over)})"


def _bare(over: Ratio) -> str:
    return f"ratio {factor(over.value)}, {_interval(over)}"


def _interval(over: Ratio) -> str:
    return "no interval" if over.low is None else f"{100 * over.confidence:.0f} % interval {factor_interval(over)}"


def _rate(cell: CellReport) -> str:
    return "–" if cell.measurement is None else rate(cell.measurement.throughput.value)
