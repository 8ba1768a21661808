"""The figure on a frontier tells a search that misses a point from one that is near it."""

import pytest

from bench.networks.frontier import ROWS, Series, beaten_by, figure, not_offered
from orchestrator.analysis.estimates import Estimate
from orchestrator.analysis.frontier.points import FrontierPoint


def point(size: int, latency_s: float, rate: float, half: float = 0.001) -> FrontierPoint:
    spans = (Estimate(each, each * (1 - half), each * (1 + half), 3) for each in (latency_s, rate))
    return FrontierPoint(size, *spans)


def series(*points: FrontierPoint) -> dict[str, Series]:
    return {"one": {each.size: each for each in points}}


@pytest.mark.parametrize(("slower", "missed", "missed_by_intervals"), [(1.001, 0, 0), (1.015, 0, 1), (1.05, 1, 1)])
def test_tolerance_is_no_part_of_the_intervals(slower: float, missed: int, missed_by_intervals: int) -> None:
    """A search of 1.5 % less is within the tolerance of searches, and apart by the intervals alone."""
    grid = series(point(1, 0.010, 100.0), point(2, 0.015, 133.0))
    found = series(point(1, 0.010, 100.0), point(2, 0.015 * slower, 133.0 / slower))

    assert len(list(not_offered(found, grid))) == missed
    assert len(list(not_offered(found, grid, 0.0))) == missed_by_intervals
    assert len(list(beaten_by(found, grid))) == missed
    assert len(list(beaten_by(found, grid, 0.0))) == missed_by_intervals


def test_figure_counts_both() -> None:
    grid = series(*(point(size, 0.010 * size, 100.0 * (1 + 0.1 * size)) for size in (1, 2, 3, 4, 6)))
    found = series(point(1, 0.010, 110.0), point(6, 0.06 * 1.015, 160.0 / 1.015))

    shown = figure(ROWS["encoder"], found, grid)

    assert "2 of 5 cells (0.40)" in shown["text"]
    assert "by intervals alone 4 not offered (batches of 2, 3, 4, 6), 1 beaten (batches of 6)" in shown["text"]
    assert (shown["within"], shown["within_by_intervals_alone"]) == (False, False)


@pytest.mark.parametrize(("slower", "by_intervals"), [(1.0, True), (1.015, False)])
def test_search_may_be_within_by_its_tolerance_alone(slower: float, by_intervals: bool) -> None:
    beaten = [point(size, 0.070, 50.0) for size in (2, 3, 4)]
    grid = series(point(1, 0.010, 110.0), *beaten, point(6, 0.060, 160.0))

    shown = figure(ROWS["encoder"], series(point(1, 0.010, 110.0), point(6, 0.060 * slower, 160.0 / slower)), grid)

    assert (shown["within"], shown["within_by_intervals_alone"]) == (True, by_intervals)
