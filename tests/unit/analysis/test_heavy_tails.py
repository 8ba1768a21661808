"""Heavy tails of repeats, against values whose tails are known."""

import math
import random
from collections.abc import Callable
from statistics import fmean, pvariance, stdev

import pytest

from orchestrator.analysis.estimates import estimate
from orchestrator.analysis.scatter.allocation import half_width
from orchestrator.analysis.scatter.moderation import KnownVariance
from orchestrator.analysis.scatter.precision import CellToPlan, StoredCell, precision
from orchestrator.analysis.scatter.tails import LEAST_VALUES, MOST_EXCESS, effective_degrees, excess_kurtosis
from orchestrator.analysis.scatter.variance import RepeatScatter

SHIFT, SHARE = 4.0, 0.1


def normal(draw: random.Random) -> float:
    return draw.gauss(0, 1)


def burst(draw: random.Random) -> float:
    """Draw a value that is now and then lower."""
    return draw.gauss(0, 1) - SHIFT * (draw.random() < SHARE)


def groups(value: Callable[[random.Random], float], seed: int, count: int, size: int) -> list[list[float]]:
    """Draw groups whose means and deviations differ."""
    draw = random.Random(seed)
    scales = [math.exp(draw.gauss(0, 0.5)) for _ in range(count)]
    return [[scale * (7 + value(draw)) for _ in range(size)] for scale in scales]


def excess_of_bursts() -> float:
    """Return the excess kurtosis of `burst`, by its moments."""
    both = SHARE * (1 - SHARE)
    return both * (1 - 6 * both) * SHIFT**4 / (1 + both * SHIFT**2) ** 2


def test_tails_of_a_mixture_are_known() -> None:
    draw = random.Random(5)
    values = [burst(draw) for _ in range(200_000)]
    mean, variance = fmean(values), pvariance(values)

    assert fmean((value - mean) ** 4 for value in values) / variance**2 - 3 == pytest.approx(
        excess_of_bursts(), abs=0.1
    )


@pytest.mark.parametrize("size", [10, 20, 40])
def test_heavy_tails_are_found_in_groups(size: int) -> None:
    """A difference of scale between groups is no heavy tail."""
    assert excess_kurtosis(groups(normal, 1, 200, size)) < 0.15
    assert excess_kurtosis(groups(burst, 2, 200, size)) == pytest.approx(excess_of_bursts(), rel=0.4)


def test_few_values_say_nothing_of_tails() -> None:
    few = groups(burst, 3, 1, LEAST_VALUES - 1)

    assert excess_kurtosis(few) == 0
    assert excess_kurtosis(groups(burst, 3, 40, 3)) == 0
    assert excess_kurtosis([[1.0] * LEAST_VALUES]) == 0
    assert excess_kurtosis([]) == 0


def test_tails_are_bounded() -> None:
    """One far value in each group is the heaviest tail that its size can show."""
    assert excess_kurtosis([[0.0] * 99 + [1.0]] * 3) == MOST_EXCESS


def test_normal_values_keep_their_degrees() -> None:
    assert effective_degrees(19, 0) == pytest.approx(19)
    assert effective_degrees(19, 6) == pytest.approx(2 / (2 / 19 + 6 / 20))


def test_variances_scatter_as_their_degrees_say() -> None:
    """The relative variance of an estimated variance is two over its degrees of freedom."""
    draw = random.Random(6)
    found = [stdev(burst(draw) for _ in range(10)) ** 2 for _ in range(20_000)]

    assert pvariance(found) / fmean(found) ** 2 == pytest.approx(2 / effective_degrees(9, excess_of_bursts()), rel=0.1)


def test_stated_range_holds_with_heavy_tails() -> None:
    """A range that takes the values as normal holds less than four times in five."""
    draw = random.Random(7)
    variance = 0.02**2 * (1 + SHARE * (1 - SHARE) * SHIFT**2)
    told, plain = (half_width(KnownVariance(variance, 1000, excess), 10) for excess in (excess_of_bursts(), 0.0))
    widths = []
    for _ in range(2000):
        over = estimate([math.exp(0.02 * burst(draw)) for _ in range(10)])
        widths.append((over.high or over.value) / over.value - 1)

    assert sum(told.low <= width <= told.high for width in widths) / 2000 >= 0.88
    assert sum(plain.low <= width <= plain.high for width in widths) / 2000 <= 0.8
    assert told.expected / fmean(widths) == pytest.approx(1, abs=0.06)


def test_a_plan_promises_less_on_a_host_with_bursts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tails are those of all stored cells, so that a cell with few repeats of its own has them too."""
    draw = random.Random(8)
    stored = {
        str(number): StoredCell([[_repeat(math.exp(0.02 * burst(draw))) for _ in range(20)]], (), None)
        for number in range(12)
    }
    few = CellToPlan("few", 10, False, 8.0, StoredCell([[_repeat(rate) for rate in (0.98, 1.0, 1.02)]], (), None))
    (told,) = precision([few], stored, 0.02)
    monkeypatch.setattr("orchestrator.analysis.scatter.precision.excess_kurtosis", lambda _: 0.0)
    (plain,) = precision([few], stored, 0.02)

    assert told.reached is not None
    assert plain.reached is not None
    assert told.reached.high / told.reached.low > 1.1 * plain.reached.high / plain.reached.low


def _repeat(rate: float) -> RepeatScatter:
    return RepeatScatter(rate, 10, 0.0001, None, 30)
