"""The frontier of latency and throughput as a chart: points with their intervals, a line for each series."""

from dataclasses import dataclass

from orchestrator.analysis.estimates import Estimate
from orchestrator.analysis.frontier.points import FrontierPoint
from orchestrator.reporting.charts.curves import MOST_LINES
from orchestrator.reporting.charts.scales import Scale, from_zero, spread
from orchestrator.reporting.findings.tables.frontiers import FoundFrontier
from orchestrator.wording import rate, seconds


@dataclass(frozen=True, slots=True)
class FrontierMark:
    """One point, in percent from the left and from above."""

    x: float
    y: float
    across: tuple[float, float]
    """Both ends of the interval of the latency."""
    along: tuple[float, float]
    """Both ends of the interval of the rate, the lower rate last."""
    title: str
    is_on: bool
    """True if it is on the frontier."""
    is_best: bool
    """True if it is the best under a limit."""


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """One series."""

    label: str
    series: int
    """Number of its colour and dashes, from 1."""
    marks: tuple[FrontierMark, ...]


@dataclass(frozen=True, slots=True)
class FrontierPlot:
    """One frontier."""

    title: str
    per_s: str
    """The unit of throughput, on the vertical axis."""
    horizontal: Scale
    vertical: Scale
    lines: tuple[MarkedLine, ...]
    steps: tuple[tuple[float, float], ...]
    """The corners of the line of what is reached under each limit."""
    limits: tuple[tuple[float, str], ...]
    """The place and the text of each limit that is on the axis."""
    left_out: int
    """Series beyond those that can be told apart."""


def frontier_plot(frontier: FoundFrontier) -> FrontierPlot:
    """Draw a frontier."""
    every = frontier.points
    ends = [end for point in every for end in _ends(point.latency_s)]
    horizontal = spread([*ends, *frontier.limits_s], seconds)
    vertical = from_zero([end for point in every for end in _ends(point.rate)], rate)
    marked = {id(point) for point in frontier.marked}
    best = {id(point) for _, point in frontier.best if point}

    def mark(label: str, point: FrontierPoint) -> FrontierMark:
        (quick, slow), (low, high) = _ends(point.latency_s), _ends(point.rate)
        return FrontierMark(
            horizontal.at(point.latency_s.value),
            _down(vertical, point.rate.value),
            (horizontal.at(quick), horizontal.at(slow)),
            (_down(vertical, high), _down(vertical, low)),
            f"{label}, batch {point.size}: {seconds(point.latency_s.value)}, {rate(point.rate.value)} {frontier.per_s}",
            id(point) in marked,
            id(point) in best,
        )

    shown = frontier.series[:MOST_LINES]
    return FrontierPlot(
        title=frontier.title,
        per_s=frontier.per_s,
        horizontal=horizontal,
        vertical=vertical,
        lines=tuple(
            MarkedLine(each.label, number, tuple(mark(each.label, point) for point in each.points))
            for number, each in enumerate(shown, 1)
        ),
        steps=_steps(frontier, horizontal, vertical),
        limits=tuple((horizontal.at(limit_s), seconds(limit_s)) for limit_s in frontier.limits_s),
        left_out=len(frontier.series) - len(shown),
    )


def _steps(frontier: FoundFrontier, horizontal: Scale, vertical: Scale) -> tuple[tuple[float, float], ...]:
    corners: list[tuple[float, float]] = []
    for point in frontier.marked:
        x, y = horizontal.at(point.latency_s.value), _down(vertical, point.rate.value)
        corners += [(x, corners[-1][1])] if corners else []
        corners.append((x, y))
    return (*corners, *([(100.0, corners[-1][1])] if corners else []))


def _down(scale: Scale, value: float) -> float:
    return round(100 - scale.at(value), 1)


def _ends(value: Estimate) -> tuple[float, float]:
    return (value.value if value.low is None else value.low), (value.value if value.high is None else value.high)
