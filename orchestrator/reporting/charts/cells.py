"""Charts of a page as lanes, one for each cell, in percent of the axis.

Percentages instead of pixels make a chart as wide as its reader's screen, with text that keeps its size.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from orchestrator import wording
from orchestrator.analysis.measurements import PHASES, Measurement
from orchestrator.analysis.percentiles import quantiles
from orchestrator.reporting.charts.scales import (
    CUT_NOTE,
    UNCUT,
    Cuts,
    Scale,
    between,
    from_zero,
    seconds_from_zero,
    spread,
)
from orchestrator.reporting.findings.model import CellReport
from orchestrator.reporting.inline import AT_ITS_LOOK, interval_name

_LAST_TICK = 93.0
"""Text of a tick further right would not fit a narrow screen."""
LEAST_BOXED = 5
"""Repeats of a cell that a box is drawn from: the quartiles of fewer are little more than the dots."""
MOST_LANES = 40
"""Cells drawn in one chart; the tables have them all."""
Span = tuple[float, float]
"""Start and length, in percent."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A piece of a bar."""

    kind: str
    """Class that gives it its colour."""
    start: float
    length: float
    title: str


@dataclass(frozen=True, slots=True)
class CellLane:
    """The drawing of one cell."""

    cell: CellReport
    value: str
    bars: tuple[Bar, ...] = ()
    dots: tuple[tuple[float, float], ...] = ()
    """Along the axis in percent, and across it in pixels."""
    box: Span | None = None
    """Middle half."""
    middle: float | None = None
    interval: Span | None = None
    outer: Span | None = None
    """A wider interval, drawn thinner."""
    drop: float = 13.0
    """The heights of the intervals, in pixels from above."""
    cuts: Cuts = UNCUT
    """The sides on which its intervals go on beyond the axis."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One figure of a group."""

    name: str
    title: str
    note: str
    scale: Scale
    lanes: tuple[CellLane, ...]
    left_out: int
    """Cells beyond `MOST_LANES`."""
    described: str
    """A text for readers who cannot see it: its content, and the table that holds it."""
    legend: tuple[tuple[str, str], ...] = ()
    """Class and words."""

    @property
    def label_width_ch(self) -> int:
        """Room for the labels of the lanes, in characters."""
        longest = max((len(lane.cell.label) for lane in self.lanes), default=10)
        return min(26, max(8, longest))


def charts(cells: Sequence[CellReport]) -> tuple[Chart, ...]:
    """Every chart of a group, for its measured cells in the order of their rank."""
    measured = [(cell, cell.measurement) for cell in cells if cell.measurement is not None]
    if not measured:
        return ()
    shown = measured[:MOST_LANES]
    made = [_throughput(shown), _repeats(shown), _latency(shown), _phases(shown), _memory(shown)]
    rest = len(measured) - len(shown)
    return tuple(make(rest) for make in made if make is not None)


Shown = Sequence[tuple[CellReport, Measurement]]
Made = Callable[[int], Chart] | None


_MOST_ROOM = 1.6
"""The factor above the highest repeat up to which the axis of throughput may show an interval."""


def _per_s(shown: Shown) -> str:
    """Return the unit of throughput of some cells of one mode."""
    return shown[0][0].cell.workload.rules.per_s


def _throughput(shown: Shown) -> Made:
    known = [value for cell, measurement in shown for value in (measurement.throughput.value, *_repeat_values(cell))]
    # Few repeats that scatter make an interval without end: it runs out of the chart and does not squeeze the rest.
    ends = [
        end
        for _, measurement in shown
        for end in (measurement.throughput.high, measurement.throughput.next_high)
        if end
    ]
    scale = from_zero([*known, *(end for end in ends if end <= _MOST_ROOM * max(known))], wording.rate)
    lanes = []
    for cell, measurement in shown:
        estimate = measurement.throughput
        values = _repeat_values(cell)
        lanes.append(
            CellLane(
                cell,
                wording.rate(estimate.value),
                bars=(Bar("amount", 0.0, scale.at(estimate.value), ""),),
                dots=tuple((scale.at(value), _across(number, len(values))) for number, value in enumerate(values)),
                drop=21.0,
                middle=scale.at(estimate.value),
                interval=_span(scale, estimate.low, estimate.high),
                outer=_span(scale, estimate.next_low, estimate.next_high),
                cuts=scale.cuts((estimate.high, estimate.next_high)),
            )
        )
    level = interval_name((each.throughput for _, each in shown), "95 % interval")
    note = f"a dot per repeat; thick: {level}"
    if level != AT_ITS_LOOK:
        note += "; thin: where one further repeat is expected (99 %)"
    note += f"; {CUT_NOTE}" if any(lane.cuts for lane in lanes) else ""
    return lambda rest: Chart(
        "throughput", "Throughput", f"{_per_s(shown)}, {note}", scale, tuple(lanes), rest,
        "Throughput of every repeat with intervals; the table of the ranking and that of intervals hold these figures.",
    )  # fmt: skip


def _repeats(shown: Shown) -> Made:
    """Draw every repeat with a box, if there are cells with enough repeats for one."""
    boxed = [(cell, _repeat_values(cell)) for cell, _ in shown if len(_repeat_values(cell)) >= LEAST_BOXED]
    if not boxed:
        return None
    scale = between([value for _, values in boxed for value in values], wording.rate)
    scale = replace(scale, ticks=tuple(tick for tick in scale.ticks if tick.at <= _LAST_TICK))
    lanes = []
    for cell, values in boxed:
        lowest, lower, middle, upper, highest = quantiles(values, (0.0, 0.25, 0.5, 0.75, 1.0))
        lanes.append(
            CellLane(
                cell,
                wording.rate(middle),
                dots=tuple((scale.at(value), _across(number, len(values))) for number, value in enumerate(values)),
                drop=21.5,
                box=_span(scale, lower, upper),
                middle=scale.at(middle),
                outer=_span(scale, lowest, highest),
            )
        )
    note = "a dot per repeat; box: middle half, line: median, whiskers: lowest to highest; the axis does not begin at 0"
    return lambda rest: Chart(
        "repeats", "Repeats", f"{_per_s(shown)}, {note}", scale, tuple(lanes), rest,
        "Throughput of every repeat with its quartiles; the table of every repeat holds these figures.",
    )  # fmt: skip


def _latency(shown: Shown) -> Made:
    timed = [
        (cell, measurement, measurement.step_quantiles_s) for cell, measurement in shown if measurement.step_quantiles_s
    ]
    if not timed:
        return None
    scale = spread([value for _, _, steps in timed for value in (steps[0], steps[-1])], wording.seconds)
    lanes = [
        CellLane(
            cell,
            wording.seconds(steps[10]),
            dots=tuple((scale.at(step), 3.0 + 11.0 * (number * 0.618 % 1)) for number, step in enumerate(steps)),
            drop=21.5,
            box=_span(scale, steps[5], steps[15]),
            middle=scale.at(steps[10]),
            outer=_span(scale, steps[1], steps[19]),
        )
        for cell, _, steps in timed
    ]
    axis = "logarithmic axis; " if scale.logarithmic else ""
    note = f"{axis}a dot per twentieth of the steps; box: middle half, line: median, whiskers: 5 % to 95 %"
    return lambda rest: Chart(
        "latency", "Step time", f"each step synchronised; {note}", scale, tuple(lanes), rest,
        "Distribution of the times of single steps; the table of the ranking holds median and 99th percentile.",
    )  # fmt: skip


def _phases(shown: Shown) -> Made:
    totals = [sum(seconds for _, seconds in measurement.phases_s) for _, measurement in shown]
    scale = seconds_from_zero(totals)
    lanes = []
    for (cell, measurement), total in zip(shown, totals, strict=True):
        ends = [scale.at(end) for end in accumulate((seconds for _, seconds in measurement.phases_s), initial=0.0)]
        bars = tuple(
            Bar(f"phase-{phase}", start, round(end - start, 1), f"{_words(phase)}: {wording.seconds(seconds)}")
            for (phase, seconds), (start, end) in zip(measurement.phases_s, pairwise(ends), strict=True)
            if seconds
        )
        lanes.append(CellLane(cell, wording.seconds(total), bars=bars))
    seen = {bar.kind for lane in lanes for bar in lane.bars}
    legend = tuple((f"phase-{phase}", _words(phase)) for phase in PHASES if f"phase-{phase}" in seen)
    return lambda rest: Chart(
        "phases", "Phases", "where a container's time goes: mean over the repeats", scale, tuple(lanes), rest,
        "Duration of every phase of a container's life; the table of phases holds these figures.", legend,
    )  # fmt: skip


def _words(phase: str) -> str:
    return phase.replace("_", " ").replace("warmup", "warm-up")


def _memory(shown: Shown) -> Made:
    device = any(measurement.peak_device_bytes for _, measurement in shown)
    scale = from_zero(
        [
            float(size)
            for _, measurement in shown
            for size in (measurement.peak_rss_bytes, measurement.peak_device_bytes or 0)
        ],
        lambda size: wording.memory(round(size)),
    )
    lanes = []
    for cell, measurement in shown:
        on_device = measurement.peak_device_bytes
        bars = [
            Bar(
                "host", 0.0, scale.at(measurement.peak_rss_bytes), f"host: {wording.memory(measurement.peak_rss_bytes)}"
            )
        ]
        if on_device is not None:
            bars.append(Bar("device", 0.0, scale.at(on_device), f"device: {wording.memory(on_device)}"))
        value = wording.memory(
            measurement.peak_rss_bytes if on_device is None else max(on_device, measurement.peak_rss_bytes)
        )
        lanes.append(CellLane(cell, value, bars=tuple(bars)))
    legend = (("host", "host, resident"), ("device", "device")) if device else ()
    return lambda rest: Chart(
        "memory", "Peak memory", "the highest of any repeat", scale, tuple(lanes), rest,
        "Highest memory of any repeat; the table of the ranking holds these figures.", legend,
    )  # fmt: skip


def _repeat_values(cell: CellReport) -> list[float]:
    return [repeat.measurement.samples_per_s for repeat in cell.repeats if repeat.measurement is not None]


def _across(number: int, of: int) -> float:
    """Spread dots across the upper half of their lane, in the order of the repeats."""
    return 8.5 if of < 2 else 8.5 + 4.5 * (2 * number / (of - 1) - 1)


def _span(scale: Scale, low: float | None, high: float | None) -> Span | None:
    if low is None or high is None:
        return None
    start, end = scale.at(low), scale.at(high)
    return start, round(end - start, 1)
