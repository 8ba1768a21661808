"""Bounds of percentiles: when they exist, what widens them, and that they hold the truth."""

import numpy as np
import pytest

from orchestrator.analysis.percentiles import bounds, least_steps, percentiles


def steps(repeats: int, count: int, between: float = 0.0, seed: int = 1) -> list[list[float]]:
    """Step times of some repeats: lognormal, with a factor of each repeat."""
    draw = np.random.default_rng(seed)
    logs = between * draw.standard_normal((repeats, 1)) + 0.1 * draw.standard_normal((repeats, count))
    return [[float(step) for step in repeat] for repeat in 0.01 * np.exp(logs)]


@pytest.mark.parametrize(("share", "least"), [(0.5, 6), (0.9, 36), (0.99, 368)])
def test_fewest_steps_with_two_bounds(share: float, least: int) -> None:
    """By order statistics: share ** n and (1 - share) ** n are both at most 0.025 from n on."""
    assert least_steps(share) == least
    assert max(share, 1 - share) ** least <= 0.025 < max(share, 1 - share) ** (least - 1)


def test_too_few_steps_have_no_bounds() -> None:
    short, enough = steps(3, 122), steps(4, 92)

    assert bounds(short, 0.99) is None
    assert bounds(enough, 0.99) is not None
    assert bounds(short, 0.9) is not None


def test_one_repeat_has_no_bounds() -> None:
    """One repeat, however many steps it has, does not show how repeats differ."""
    assert bounds(steps(1, 5000), 0.5) is None
    assert bounds([*steps(1, 5000), []], 0.5) is None
    assert bounds([], 0.5) is None


def test_equal_repeats_have_bounds_of_order_statistics() -> None:
    """Repeats that hold the same values add nothing to what 400 independent steps would say."""
    ordered = [0.001 * (number // 4 + 1) for number in range(400)]
    low, high = bounds([ordered[part::4] for part in range(4)], 0.5) or (0.0, 0.0)

    # The places 179 and 220, from 0, by the binomial distribution of 400 and 0.5.
    assert (low, high) == (ordered[179], ordered[220])


def test_repeats_that_differ_widen_the_bounds() -> None:
    def width(between: float) -> float:
        found = [bounds(steps(3, 150, between, seed), 0.99) or (1.0, 1.0) for seed in range(10)]
        return float(np.median([high / low for low, high in found]))

    assert width(0.2) > 1.5 * width(0.0)


def test_bounds_follow_the_repeats_and_not_the_steps() -> None:
    """A step that is counted ten times says no more of how repeats differ."""
    few = steps(4, 400, between=0.1)
    many = [[step for step in repeat for _ in range(10)] for repeat in few]

    assert bounds(many, 0.99) == pytest.approx(bounds(few, 0.99), rel=0.02)


def test_a_step_of_no_time_has_no_bounds() -> None:
    free = [[0.0] * 200, [0.0] * 200]
    found = percentiles(free)

    assert found is not None
    assert (found.p99_s, found.p99_bounds_s) == (0.0, None)


@pytest.mark.parametrize("repeats", [3, 6])
def test_bounds_hold_the_true_percentile(repeats: int) -> None:
    """Of 300 intervals at 95 %, with repeats that differ by 3 %: seeded, so that it ends the same each time."""
    truth = 0.01 * np.exp(2.326 * np.hypot(0.1, 0.03))
    found = [bounds(steps(repeats, 150, between=0.03, seed=seed), 0.99) or (0.0, 0.0) for seed in range(300)]
    held = sum(low <= truth <= high for low, high in found)

    assert held / 300 >= 0.93


def test_the_order_of_repeats_does_not_matter() -> None:
    repeats = steps(5, 100, between=0.1)
    found = percentiles(repeats)

    assert found is not None
    assert found == percentiles([sorted(repeat, reverse=True) for repeat in reversed(repeats)])
    assert (found.p50_bounds_s, found.p90_bounds_s) == (bounds(repeats, 0.5), bounds(repeats, 0.9))
