"""A series of the history along two axes, in percent from the left and from above."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orchestrator.regression.history.series import Series
from orchestrator.reporting.charts.scales import Scale, Tick, between
from orchestrator.wording import clean_line

_MOST_TICKS = 5


@dataclass(frozen=True, slots=True)
class SeriesPlot:
    """A series along two axes, in percent from the left and from above."""

    lines: tuple[tuple[tuple[float, float], ...], ...]
    """Of each stretch that was measured alike."""
    dots: tuple[tuple[float, float, str], ...]
    levels: tuple[tuple[float, float, float], ...]
    """From, to and height of the level between two changes."""
    marks: tuple[tuple[float, str], ...]
    """The places of its changes, and their names."""
    breaks: tuple[float, ...]
    vertical: Scale
    along: tuple[Tick, ...]


def plot(series: Series, text: Callable[[float], str]) -> SeriesPlot:
    """Lay a series out, one run next to the other whatever time lies between them."""
    points = series.points
    vertical = between((point.value for point in points), text)
    last = max(1, len(points) - 1)

    def at(index: float) -> float:
        return round(2 + 96 * index / last, 2)

    def height(value: float) -> float:
        return round(100 - vertical.at(value), 1)

    ends = [0, *series.breaks, len(points)]
    stretches = list(itertools.pairwise(ends))
    step = max(1, -(-len(points) // _MOST_TICKS))
    return SeriesPlot(
        lines=tuple(tuple((at(n), height(points[n].value)) for n in range(*stretch)) for stretch in stretches),
        dots=tuple(
            (
                at(n),
                height(point.value),
                f"{point.created_at[:10]} {point.release}: {text(point.value)}",
            )
            for n, point in enumerate(points)
        ),
        levels=tuple(
            (at(start), at(max(start, end - 1)), height(level)) for start, end, level in _levels(series, stretches)
        ),
        marks=tuple((at(shift.index - 0.5), clean_line(shift.point.release)) for shift in series.shifts),
        breaks=tuple(at(index - 0.5) for index in series.breaks),
        vertical=vertical,
        along=tuple(Tick(at(n), points[n].created_at[:10]) for n in range(0, len(points), step)),
    )


def _levels(series: Series, stretches: Sequence[tuple[int, int]]) -> list[tuple[int, int, float]]:
    """First point, end and height of every level that a change ends or begins."""
    levels = []
    for start, end in stretches:
        inside = [shift for shift in series.shifts if start <= shift.index < end]
        cuts = [start, *(shift.index for shift in inside), end]
        heights = [shift.before for shift in inside[:1]] + [shift.after for shift in inside]
        levels += [(one, other, level) for one, other, level in zip(cuts, cuts[1:], heights, strict=False)]
    return levels
