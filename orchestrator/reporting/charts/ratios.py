"""Ratios with their intervals and the tolerance on one axis, a lane for each comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.reporting.charts.scales import CUT_NOTE, UNCUT, Cuts, Scale, between
from orchestrator.reporting.inline import ratio

MOST_LANES = 60


@dataclass(frozen=True, slots=True)
class Compared:
    """A ratio that is drawn in a lane."""

    label: str
    ratio: float
    low: float | None
    high: float | None
    tolerance: float
    of_blocks: tuple[float, ...]
    """The ratio of each block."""


@dataclass(frozen=True, slots=True)
class RatioLane:
    """One comparison, along the axis in percent."""

    label: str
    value: str
    dots: tuple[tuple[float, float], ...]
    """The ratio of each block, and where across the lane it is drawn, in pixels."""
    middle: float
    interval: tuple[float, float] | None
    tolerance: tuple[float, float]
    cuts: Cuts = UNCUT
    """The sides on which its interval, or the ratio of a block, lies beyond the axis."""


@dataclass(frozen=True, slots=True)
class Plot:
    """Ratios with their intervals, beside the tolerance."""

    scale: Scale
    lanes: tuple[RatioLane, ...]
    one: float
    """The place of the ratio of 1."""
    left_out: int

    @property
    def note(self) -> str:
        """Return the remark on the drawing itself, empty if nothing is cut."""
        return CUT_NOTE if any(lane.cuts for lane in self.lanes) else ""


def plot(compared: Sequence[Compared]) -> Plot | None:
    """Lay comparisons out on one axis, None if there is none."""
    shown = compared[:MOST_LANES]
    if not shown:
        return None
    scale = between([end for each in shown for end in _ends(each)], lambda value: f"{value:.3g}")
    return Plot(scale, tuple(_lane(each, scale) for each in shown), scale.at(1.0), len(compared) - len(shown))


def _ends(compared: Compared) -> tuple[float, ...]:
    wide = (compared.low or compared.ratio, compared.high or compared.ratio)
    # Few blocks that scatter make an interval without end: it runs out of the chart and does not squeeze the rest.
    near = (end for end in wide if 0.5 < end / compared.ratio < 2)
    return (1 / (1 + compared.tolerance), 1 + compared.tolerance, compared.ratio, *near)


def _lane(compared: Compared, scale: Scale) -> RatioLane:
    dots = tuple((scale.at(each), 4.0 + 9.0 * (number * 0.618 % 1)) for number, each in enumerate(compared.of_blocks))
    return RatioLane(
        label=compared.label,
        value=ratio(compared.ratio),
        dots=dots,
        middle=scale.at(compared.ratio),
        interval=None if compared.low is None or compared.high is None else _span(scale, compared.low, compared.high),
        tolerance=_span(scale, 1 / (1 + compared.tolerance), 1 + compared.tolerance),
        cuts=scale.cuts((compared.low, compared.high, *compared.of_blocks)),
    )


def _span(scale: Scale, low: float, high: float) -> tuple[float, float]:
    start, end = scale.at(low), scale.at(high)
    return start, round(end - start, 1)
