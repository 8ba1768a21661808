"""The places of marks in charts, in percent of their axes."""

import itertools
from dataclasses import replace

import pytest

from orchestrator import wording
from orchestrator.analysis.measurements import PHASES
from orchestrator.reporting.charts.cells import MOST_LANES, charts
from orchestrator.reporting.charts.curves import curves
from orchestrator.reporting.charts.ratios import Compared, plot
from orchestrator.reporting.charts.scales import between, from_zero, seconds_from_zero, spread
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from tests.unit.reporting import synthetic as s


def test_bar_axes_begin_at_zero_with_round_ticks() -> None:
    scale = from_zero([13_515.0, 7_000.0], wording.rate)

    assert scale.low == 0
    assert scale.at(0) == 0
    assert 97 < scale.at(13_515) < 100
    assert [tick.text for tick in scale.ticks] == ["0", "5,000", "10,000"]
    assert scale.ticks[1].at == scale.at(5000)


def test_wide_values_get_a_logarithmic_axis() -> None:
    """Values that span a factor of twelve get a logarithmic axis."""
    assert not spread([0.010, 0.100], wording.seconds).logarithmic
    scale = spread([0.010, 0.130], wording.seconds)

    assert scale.logarithmic
    assert scale.at(0.020) - scale.at(0.010) == pytest.approx(scale.at(0.040) - scale.at(0.020), abs=0.2)
    assert [tick.text for tick in scale.ticks] == ["10 ms", "20 ms", "50 ms", "100 ms"]


@pytest.mark.parametrize("highest_s", [0.13, 0.9, 1.1, 9.0, 80.0, 1e4])
def test_logarithmic_marks_leave_room_for_texts(highest_s: float) -> None:
    """The marks of a logarithmic axis leave room for their texts."""
    marks = [tick.at for tick in spread([0.009, highest_s], wording.seconds).ticks]

    assert len(marks) >= 2
    assert all(right - left >= 15 for left, right in itertools.pairwise(marks))


def test_an_axis_leaves_room_at_both_ends() -> None:
    """An axis between values leaves room at both ends and holds a single value."""
    scale = between([0.6, 0.9], wording.factor)

    assert 0 < scale.at(0.6) < scale.at(0.9) < 100
    assert between([2.0], wording.factor).at(2.0) == 50


@pytest.mark.parametrize(
    ("longest_s", "expected"),
    [
        (0.05, ["0", "10 ms", "20 ms", "30 ms", "40 ms", "50 ms"]),
        (48.0, ["0", "10 s", "20 s", "30 s", "40 s"]),
        (130.0, ["0", "30 s", "60 s", "90 s", "2 min"]),
        (526.0, ["0", "2 min", "4 min", "6 min", "8 min"]),
        (9000.0, ["0", "30 min", "1 h", "1 h 30 min", "2 h", "2 h 30 min"]),
        (400_000.0, ["0", "20 h", "40 h", "60 h", "80 h", "100 h"]),
    ],
)
def test_duration_axes_have_whole_minutes_and_hours(longest_s: float, expected: list[str]) -> None:
    assert [tick.text for tick in seconds_from_zero([longest_s]).ticks] == expected


@pytest.mark.parametrize("values", [[], [0.0], [1e-300, 1e300], [5e-9, 6e-9]])
def test_any_values_make_an_axis(values: list[float]) -> None:
    for make in (from_zero, spread, between):
        scale = make(values, wording.seconds)
        assert all(0 <= scale.at(value) <= 100 for value in values)


def test_a_group_has_one_lane_per_cell() -> None:
    """A group has a lane per measured cell, with every repeat and phase."""
    report = s.example()
    cells = [report.by_id[place.cell_id] for place in report.groups[0].places]

    throughput, latency, phases, memory = charts(cells)

    assert [len(chart.lanes) for chart in (throughput, latency, phases, memory)] == [4] * 4
    assert [len(lane.dots) for lane in throughput.lanes] == [3, 3, 3, 2]
    assert throughput.lanes[0].value == "13,447"
    interval, outer = throughput.lanes[0].interval, throughput.lanes[0].outer
    assert interval is not None
    assert outer is not None
    assert outer[0] < interval[0] < interval[0] + interval[1] < outer[0] + outer[1] <= 100
    assert latency.lanes[0].box is not None
    ends = [bar.start + bar.length for bar in phases.lanes[0].bars]
    assert [bar.start for bar in phases.lanes[0].bars[1:]] == pytest.approx(ends[:-1])
    assert {kind for kind, _ in phases.legend} <= {f"phase-{phase}" for phase in PHASES}


def test_a_chart_draws_only_the_fastest() -> None:
    """A chart draws the fastest cells and says how many it leaves to the tables."""
    cells = [s.cell(s.Framework("mxnet", f"1.{number}", python="3.11"), repeats=1) for number in range(MOST_LANES + 3)]
    plan = s.plan(cells)
    report = compose(s.record(plan), plan, [item for cell in cells for item in s.ok(cell, [100.0])])

    for chart in charts(report.cells):
        assert (len(chart.lanes), chart.left_out) == (MOST_LANES, 3)


def test_learning_is_drawn_against_epochs_and_seconds() -> None:
    """Curves of learning are drawn against epochs and against seconds."""
    report = s.example()
    cells = [report.by_id[place.cell_id] for place in report.groups[2].places]

    drawn = curves(cells)

    assert [(chart.title, chart.along) for chart in drawn] == [
        (title, along)
        for title in ("Test accuracy", "Test loss", "Training loss")
        for along in ("epochs", "seconds of training")
    ]
    accuracy = drawn[0].lines[0].points
    assert [line.series for line in drawn[0].lines] == [1, 2]
    assert len(accuracy) == 3
    assert accuracy[0][1] > accuracy[2][1], "up is better, and percent count from above"
    assert curves([report.by_id[place.cell_id] for place in report.groups[0].places]) == ()


def test_an_interval_that_is_cut_is_marked() -> None:
    """Two repeats that scatter have an interval without end; the other cell's lies inside the axis."""
    wide, narrow = s.cell(s.MXNET), s.cell(s.TORCH)
    plan = s.plan([wide, narrow])
    stored = [*s.ok(wide, [900.0, 1100.0], spread=0), *s.ok(narrow, [1000.0, 1001.0, 999.0], spread=0)]
    report = compose(s.record(plan), plan, stored)

    throughput = charts([report.by_id[place.cell_id] for place in report.groups[0].places])[0]

    cuts = {lane.cell.cell.id: (lane.cuts.low, lane.cuts.high) for lane in throughput.lanes}
    assert cuts == {wide.id: (False, True), narrow.id: (False, False)}
    assert throughput.note.endswith("an arrow: it goes on beyond the axis")
    assert render(RUN, report, "html").count('<svg class="cut" x="100%"') == 1
    (alone,) = charts([report.by_id[narrow.id]])[:1]
    assert "arrow" not in alone.note


def test_a_cut_ratio_is_marked() -> None:
    """A ratio that is cut at the axis is marked on its side."""
    wide = Compared("wide", 1.0, 0.2, 9.0, 0.02, (1.0, 1.01))
    narrow = Compared("narrow", 1.0, 0.99, 1.01, 0.02, (1.0,))
    low = Compared("low", 1.0, 0.99, 1.01, 0.02, (0.3,))

    drawn = plot([wide, narrow, low])
    assert drawn is not None
    assert [(lane.cuts.low, lane.cuts.high) for lane in drawn.lanes] == [(True, True), (False, False), (True, False)]
    assert drawn.note == "an arrow: it goes on beyond the axis"
    alone = plot([narrow])
    assert alone is not None
    assert alone.note == ""


def _of_repeats(*rates: list[float]) -> list[str]:
    cells = [replace(s.cell(framework), repeats=len(each)) for framework, each in zip(_FRAMEWORKS, rates, strict=False)]
    plan = s.plan(cells)
    stored = [item for cell, each in zip(cells, rates, strict=True) for item in s.ok(cell, each, spread=0.0)]
    return [
        f"{lane.cell.label}: {lane.value}, {len(lane.dots)} dots"
        for chart in charts(compose(s.record(plan), plan, stored).cells)
        for lane in chart.lanes
        if chart.name == "repeats"
    ]


_FRAMEWORKS = (s.MXNET, s.TORCH)


def test_a_box_needs_five_repeats() -> None:
    assert _of_repeats([100.0, 101.0, 102.0, 103.0], [50.0] * 3) == []
    assert _of_repeats([100.0, 101.0, 102.0, 103.0, 110.0], [50.0] * 3) == ["mxnet 1.9.1: 102, 5 dots"]


def test_a_box_holds_the_middle_half_of_repeats() -> None:
    cell = replace(s.cell(s.MXNET), repeats=5)
    plan = s.plan([cell])
    report = compose(s.record(plan), plan, s.ok(cell, [100.0, 101.0, 102.0, 103.0, 110.0], spread=0.0))
    (chart,) = [chart for chart in charts(report.cells) if chart.name == "repeats"]
    (lane,) = chart.lanes

    def span(low: float, high: float) -> tuple[float, float]:
        return chart.scale.at(low), pytest.approx(chart.scale.at(high) - chart.scale.at(low), abs=0.2)

    assert (lane.box, lane.outer) == (span(101.0, 103.0), span(100.0, 110.0))
    assert lane.middle == chart.scale.at(102.0)
    assert {round(at, 1) for at, _ in lane.dots} == {
        round(chart.scale.at(value), 1) for value in (100.0, 101.0, 102.0, 103.0, 110.0)
    }
