"""Accuracy and losses of models against epochs and seconds, a line for each cell."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orchestrator.analysis.measurements import CurvePoint
from orchestrator.reporting.charts.scales import Scale, between, from_zero, seconds_from_zero
from orchestrator.reporting.findings.model import CellReport

MOST_LINES = 8
"""Lines in one chart: no more colours can be told apart. The table has all cells."""


@dataclass(frozen=True, slots=True)
class Line:
    """One cell in one chart."""

    cell: CellReport
    series: int
    """Number of its colour and dashes, from 1."""
    points: tuple[tuple[float, float], ...]
    """In percent from the left and from above."""


@dataclass(frozen=True, slots=True)
class Curves:
    """One chart of lines."""

    title: str
    along: str
    """The quantity of the horizontal axis."""
    horizontal: Scale
    vertical: Scale
    lines: tuple[Line, ...]
    left_out: int
    described: str


_Read = Callable[[CurvePoint], float]
_ACROSS: tuple[tuple[str, _Read, Callable[[float], str]], ...] = (
    ("Test accuracy", lambda point: point.test_accuracy, lambda value: f"{100 * value:.3g} %"),
    ("Test loss", lambda point: point.test_loss, lambda value: f"{value:.3g}"),
    ("Training loss", lambda point: point.train_loss, lambda value: f"{value:.3g}"),
)
_ALONG: tuple[tuple[str, _Read, Callable[[Sequence[float]], Scale]], ...] = (
    ("epochs", lambda point: float(point.epoch), lambda values: from_zero(values, lambda value: f"{value:g}")),
    ("seconds of training", lambda point: point.trained_s, seconds_from_zero),
)


def curves(cells: Sequence[CellReport]) -> tuple[Curves, ...]:
    """Draw accuracy and losses of a group against epochs and seconds, nothing if nothing was evaluated."""
    learned = [(cell, cell.epochs.curve) for cell in cells if cell.epochs is not None and cell.epochs.curve]
    if not learned:
        return ()
    shown = learned[:MOST_LINES]
    every = [point for _, points in shown for point in points]
    made = []
    for title, high, words in _ACROSS:
        vertical = between([high(point) for point in every], words)
        for along, far, axis in _ALONG:
            horizontal = axis([far(point) for point in every])
            lines = tuple(
                Line(cell, number, tuple((horizontal.at(far(at)), 100 - vertical.at(high(at))) for at in points))
                for number, (cell, points) in enumerate(shown, 1)
            )
            described = f"{title} against {along}; the table of what was learned holds these figures."
            made.append(Curves(title, along, horizontal, vertical, lines, len(learned) - len(shown), described))
    return tuple(made)
