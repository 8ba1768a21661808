import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.estimates import estimate
from orchestrator.analysis.ratios import Rank, RatioRule, ranks, ranks_by_intervals, ratio, ratio_matrix

repeats = st.lists(st.floats(min_value=10, max_value=1000), min_size=1, max_size=8)


def around(rate: float, spread: float, n: int, seed: int = 1) -> list[float]:
    draw = random.Random(seed)
    return [rate * draw.lognormvariate(0, spread) for _ in range(n)]


def test_ratio_is_scipys_welch_interval() -> None:
    """A ratio is SciPy's Welch interval on the logarithms."""
    fast, slow = around(200, 0.03, 6), around(100, 0.1, 4, seed=2)
    test = stats.ttest_ind([math.log(x) for x in fast], [math.log(x) for x in slow], equal_var=False)
    expected = test.confidence_interval(0.95)

    found = ratio(fast, slow)

    assert found.value == pytest.approx(stats.gmean(fast) / stats.gmean(slow))
    assert (found.low, found.high) == pytest.approx((math.exp(expected.low), math.exp(expected.high)))


@pytest.mark.parametrize(
    ("candidate", "verdict"),
    [
        ([120.0, 121.0, 119.0], Verdict.FASTER),
        ([80.0, 81.0, 79.0], Verdict.SLOWER),
        ([100.1, 99.9, 100.0], Verdict.SAME),
        ([90.0, 125.0, 101.0], Verdict.INCONCLUSIVE),
    ],
)
def test_the_verdict_says_what_the_interval_allows(candidate: list[float], verdict: Verdict) -> None:
    assert ratio(candidate, [100.0, 100.2, 99.8]).verdict is verdict


def test_sure_difference_within_tolerance_is_the_same() -> None:
    candidate, baseline = [101.0, 101.01, 100.99], [100.0, 100.01, 99.99]

    assert ratio(candidate, baseline).verdict is Verdict.SAME
    assert ratio(candidate, baseline, RatioRule(tolerance=0.005)).verdict is Verdict.FASTER


def test_single_repeat_gives_no_interval_or_verdict() -> None:
    """A single repeat on either side gives no interval and no verdict."""
    for found in (ratio([200.0], [100.0, 101.0]), ratio([200.0, 201.0], [100.0])):
        assert (found.low, found.high, found.verdict) == (None, None, Verdict.INCONCLUSIVE)
        assert found.more_repeats is None


def test_more_repeats_are_the_fewest_that_settle() -> None:
    noisy, other = [104.0, 96.0, 110.0, 98.0], [99.0, 92.0, 103.0, 95.0]
    found = ratio(noisy, other)
    assert found.more_repeats is not None
    a, b = (stats.tvar([math.log(x) for x in values]) for values in (noisy, other))

    def settled(n: int) -> bool:
        degrees = (a + b) ** 2 / (a**2 + b**2) * (n - 1)
        half = stats.t.ppf(0.975, degrees) * math.sqrt((a + b) / n)
        difference = abs(math.log(found.value))
        return half < difference or half + difference <= math.log(1.02)

    assert settled(4 + found.more_repeats)
    assert not settled(4 + found.more_repeats - 1)


def test_hopeless_comparison_promises_no_repeats() -> None:
    """A ratio that a thousand repeats would not settle promises nothing."""
    assert ratio([50.0, 200.0], [99.0, 103.0]).more_repeats is None


@given(repeats, repeats)
def test_the_other_way_round_is_the_inverse(a: list[float], b: list[float]) -> None:
    there, back = ratio(a, b), ratio(b, a).inverse

    assert there.value == pytest.approx(back.value)
    assert (there.verdict, there.more_repeats) == (back.verdict, back.more_repeats)
    assert (there.low is None) == (back.low is None)
    if there.low is not None:
        assert (there.low, there.high) == pytest.approx((back.low, back.high))


def test_false_alarms_are_as_rare_as_promised() -> None:
    """False alarms are as rare as the confidence says."""
    draw = random.Random(3)
    alarms = 0
    for _ in range(1000):
        a, b = ([100 * draw.lognormvariate(0, 0.05) for _ in range(5)] for _ in range(2))
        alarms += ratio(a, b).verdict in {Verdict.FASTER, Verdict.SLOWER}

    assert 25 <= alarms <= 75


def test_ranks_are_shared_by_indistinguishable_cells() -> None:
    """Ranks are shared where the repeats do not separate cells."""
    cells = [[200.0, 201.0, 199.0], [110.0, 90.0, 101.0], [105.0, 95.0, 99.0], [50.0, 50.5, 49.5]]

    assert ranks(ratio_matrix(cells, ratio)) == (Rank(1, 1), Rank(2, 3), Rank(2, 3), Rank(4, 4))
    assert [rank.label for rank in ranks(ratio_matrix(cells, ratio))] == ["1", "2–3", "2–3", "4"]


def test_cells_measured_once_all_share_every_rank() -> None:
    assert ranks(ratio_matrix([[300.0], [200.0], [100.0]], ratio)) == (Rank(1, 3),) * 3


def test_a_group_of_one_is_first() -> None:
    assert ranks(ratio_matrix([[300.0, 310.0]], ratio)) == (Rank(1, 1),)


def test_ranks_differ_only_where_intervals_do_not_overlap() -> None:
    """Ranks by intervals separate what does not overlap, and nothing without an interval."""
    fast, near, alone, slow = [200.0, 201.0, 202.0], [199.0, 200.5, 201.0], [150.0], [100.0, 100.5, 101.0]

    found = ranks_by_intervals([estimate(values) for values in (fast, near, alone, slow)])

    assert found == (Rank(1, 3), Rank(1, 3), Rank(1, 4), Rank(3, 4))


@given(st.lists(repeats, min_size=2, max_size=6))
def test_ranks_are_no_narrower_than_intervals_allow(cells: list[list[float]]) -> None:
    """Ranks by intervals are no narrower than two intervals allow."""
    found = ranks_by_intervals([estimate(values) for values in cells])

    ends = [(each.low, each.high) for each in map(estimate, cells)]
    for (low, high), rank in zip(ends, found, strict=True):
        above = [each for each, _ in ends if each is not None and high is not None and each > high]
        below = [each for _, each in ends if each is not None and low is not None and each < low]
        assert (rank.first, rank.last) == (1 + len(above), len(cells) - len(below))


def test_repeats_worlds_apart_still_make_a_ratio() -> None:
    """Repeats that are worlds apart still make a ratio and its inverse."""
    found = ratio([1e-200, 1e200], [1e-300, 1e300])

    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < found.high < math.inf
    assert found.inverse.high == 1 / found.low
    assert found.verdict is Verdict.INCONCLUSIVE
