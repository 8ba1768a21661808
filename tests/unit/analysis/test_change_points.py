import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.analysis.change_points import ChangePoint, change_points

NOISE = 0.015


def series(*levels: tuple[float, int], noise: float = NOISE, seed: int = 1) -> list[float]:
    """Values around levels, each so many nights long."""
    draw = np.random.default_rng(seed)
    steps = np.concatenate([np.full(nights, level) for level, nights in levels])
    return list(steps * np.exp(noise * draw.standard_normal(len(steps))))


def test_step_is_found_with_levels_and_certainty() -> None:
    """A step is found at its place, with its levels and its certainty."""
    (found,) = change_points(series((100, 30), (93, 30)))

    assert found.index == pytest.approx(30, abs=1)
    assert (found.before, found.after) == pytest.approx((100, 93), rel=0.01)
    assert 0 < found.p_value < 1e-9


def test_a_series_without_a_change_has_none() -> None:
    assert change_points(series((100, 60))) == []


@pytest.mark.parametrize("at", [0, 1, 20, 21, 40, 58, 59])
@pytest.mark.parametrize("nights", [1, 2])
def test_spikes_of_two_nights_are_no_change(at: int, nights: int) -> None:
    """Spikes of one night or two are no change."""
    for seed in range(10):
        values = series((100, 60), seed=seed)
        values[at : at + nights] = [0.7 * each for each in values[at : at + nights]]

        assert change_points(values) == []


def test_spike_changes_nothing_about_a_step() -> None:
    """A spike in a series with a step changes nothing about the step."""
    values = series((100, 30), (93, 30))
    (without,) = change_points(values)
    values[45] *= 0.6

    (found,) = change_points(values)

    assert found.index == without.index
    assert (found.before, found.after) == pytest.approx((without.before, without.after), rel=2e-3)


def test_small_step_is_placed_by_all_nights() -> None:
    """A small step in a long series is placed by all the nights around it."""
    off = [
        min((abs(each.index - 100) for each in change_points(series((100, 100), (97, 100), seed=seed))), default=100)
        for seed in range(300)
    ]

    assert np.mean(np.less_equal(off, 1)) >= 0.83
    assert np.mean(np.less_equal(off, 3)) >= 0.96


def test_several_changes_are_found_though_they_cancel() -> None:
    """Every one of several changes is found, even where they cancel out."""
    found = change_points(series((100, 40), (92, 12), (100, 40), (110, 30), (104, 30)))

    assert [each.index for each in found] == pytest.approx([40, 52, 92, 122], abs=2)
    assert [each.after for each in found] == pytest.approx([92, 100, 110, 104], rel=0.015)
    assert all(one.after == other.before for one, other in pairwise(found))


def test_a_change_shows_from_its_third_night_on() -> None:
    values = series((100, 30), (85, 10))

    assert change_points(values[:32]) == []
    assert [each.index for each in change_points(values[:33])] == [30]


def test_effects_below_the_smallest_are_no_change() -> None:
    values = series((100, 200), (101.5, 200), noise=0.002)

    assert change_points(values) == []
    assert [each.index for each in change_points(values, min_effect=0.01)] == [200]


def test_exact_values_change_where_they_change() -> None:
    """Values that do not scatter change where they change."""
    sizes = [1000.0] * 10 + [1100.0] * 10

    assert change_points(sizes) == [ChangePoint(10, pytest.approx(1000), pytest.approx(1100), pytest.approx(0))]
    assert change_points([1000.0] * 20) == []


@pytest.mark.parametrize("length", range(6))
def test_too_short_series_has_no_change(length: int) -> None:
    """A series too short to have three values on either side has no change."""
    assert change_points([100.0, 100.1, 99.9, 50.0, 50.1][:length]) == []


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf, 10**400])
def test_values_that_have_no_logarithm_are_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="positive and finite"):
        change_points([1.0, wrong, 1.0])


@pytest.mark.parametrize("wrong", [-0.1, math.nan, math.inf, 10**400])
def test_a_smallest_effect_below_nothing_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="smallest effect is 0 or a share"):
        change_points([1.0] * 10, min_effect=wrong)


@given(st.integers(0, 10_000), st.floats(min_value=1e-6, max_value=1e6))
@settings(max_examples=30)
def test_rates_and_their_times_change_alike(seed: int, factor: float) -> None:
    """The unit does not matter, and a time changes where its rate does."""
    values = series((100, 20), (90, 15), (97, 25), seed=seed)
    found = change_points(values)

    scaled = change_points([factor * each for each in values])
    inverse = change_points([1 / each for each in values])

    assert [each.index for each in scaled] == [each.index for each in inverse] == [each.index for each in found]
    assert [each.before for each in scaled] == pytest.approx([factor * each.before for each in found])
    assert [each.before for each in inverse] == pytest.approx([1 / each.before for each in found])


@pytest.mark.parametrize("seed", range(30))
def test_series_read_backwards_has_the_same_changes(seed: int) -> None:
    """Give or take a value beside the step that is taken for a spike: it may belong to either side.

    Fixed seeds: where several such values meet, as in one of some thousand series, it may be two or three of them.
    """
    values = series((100, 20), (88, 20), noise=0.01, seed=seed)

    backwards = sorted(len(values) - each.index for each in change_points(values[::-1]))

    assert backwards == pytest.approx([each.index for each in change_points(values)], abs=1)


@given(st.lists(st.floats(min_value=1e-6, max_value=1e6), max_size=60))
def test_changes_are_ordered_large_and_sure_enough(values: list[float]) -> None:
    """Changes of any series rise, lie inside it, and are as large and as sure as asked."""
    found = change_points(values)

    places = [0, *(each.index for each in found), len(values)]
    if found:
        assert all(b - a >= 3 for a, b in pairwise(places))
    assert all(abs(math.log(each.after / each.before)) >= math.log(1.02) * (1 - 1e-9) for each in found)
    assert all(0 <= each.p_value <= 0.005 for each in found)


def test_one_steady_series_in_a_hundred_shows_changes() -> None:
    """At most one in a hundred series without a change shows one."""
    found = [change_points(series((100, 60), seed=seed)) for seed in range(500)]

    assert sum(map(bool, found)) <= 8
