import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from orchestrator.analysis.estimates import PREDICTION, estimate, prediction, variation

positive = st.floats(min_value=1e-3, max_value=1e6)


def test_estimate_is_the_geometric_mean_with_interval() -> None:
    """An estimate is the geometric mean with SciPy's t interval on the logarithms."""
    values = [980.0, 1010.0, 1005.0, 1050.0]
    logs = [math.log(value) for value in values]
    low, high = stats.t.interval(0.95, 3, loc=sum(logs) / 4, scale=stats.sem(logs))

    found = estimate(values)

    assert found.value == pytest.approx(stats.gmean(values))
    assert (found.low, found.high) == pytest.approx((math.exp(low), math.exp(high)))
    assert (found.n, found.confidence) == (4, 0.95)


def test_one_repeat_has_a_value_and_no_interval() -> None:
    found = estimate([12.5])

    assert found.value == pytest.approx(12.5)
    assert (found.low, found.high, found.n) == (None, None, 1)
    assert (found.next_low, found.next_high) == prediction([12.5]) == (None, None)


def test_interval_holds_the_truth_as_promised() -> None:
    """The interval holds the truth about as often as it says."""
    draw = random.Random(7)
    hits = 0
    for _ in range(1000):
        found = estimate([100 * draw.lognormvariate(0, 0.05) for _ in range(5)])
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 100 <= found.high

    assert 930 <= hits <= 970


@given(st.lists(positive, min_size=2, max_size=20), st.floats(min_value=0.1, max_value=10))
def test_estimate_scales_and_lies_in_its_interval(values: list[float], factor: float) -> None:
    """An estimate scales with its unit and lies in its interval."""
    one, other = estimate(values), estimate([factor * value for value in values])

    assert other.value == pytest.approx(factor * one.value)
    assert one.low is not None
    assert one.high is not None
    assert one.low <= one.value * (1 + 1e-9)
    assert one.value <= one.high * (1 + 1e-9)


@pytest.mark.parametrize("values", [[], [0.0], [1.0, -1.0], [float("nan")], [float("inf"), 1.0], [10**400]])
def test_values_that_cannot_be_a_rate_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"no repeats|positive and finite"):
        estimate(values)


def test_variation_is_the_sample_deviation_over_the_mean() -> None:
    assert variation([9.0, 10.0, 11.0]) == pytest.approx(0.1)
    assert variation([9.0]) is None


@pytest.mark.parametrize("further", [1, 4])
def test_prediction_interval_follows_its_formula(further: int) -> None:
    """A prediction interval is t times the deviation times the root of both shares."""
    values = [980.0, 1010.0, 1005.0, 1050.0]
    logs = [math.log(value) for value in values]
    half = stats.t.ppf(0.995, 3) * stats.tstd(logs) * math.sqrt(1 / 4 + 1 / further)

    low, high = prediction(values, further)

    assert (low, high) == pytest.approx((stats.gmean(values) * math.exp(-half), stats.gmean(values) * math.exp(half)))
    found = estimate(values)
    assert (found.next_low, found.next_high, found.prediction) == (*prediction(values), PREDICTION)


@pytest.mark.parametrize("further", [1, 6])
def test_prediction_interval_holds_nine_of_ten_repeats(further: int) -> None:
    """Nine of ten re-measurements lie in the prediction interval nearly always."""
    draw = random.Random(11)

    def measured(repeats: int) -> list[float]:
        return [100 * draw.lognormvariate(0, 0.05) for _ in range(repeats)]

    kept = 0
    for _ in range(500):
        low, high = prediction(measured(6), further)
        assert low is not None
        assert high is not None
        again = [stats.gmean(measured(further)) for _ in range(10)]
        kept += sum(low <= value <= high for value in again) >= 9

    assert kept >= 0.95 * 500
