import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from orchestrator.analysis.comparison import Comparison, Verdict, compare
from tests.effort import examples

value = st.floats(min_value=1e-3, max_value=1e6)
repeats = st.lists(value, min_size=2, max_size=12)
pairs = st.lists(st.tuples(value, value), min_size=2, max_size=12)
TOLERANCE = 0.02


def drawn(center: float, deviation: float, n: int, seed: int = 1) -> list[float]:
    draw = random.Random(seed)
    return [center * draw.lognormvariate(0, deviation) for _ in range(n)]


def paired(baseline: list[float], candidate: list[float], tolerance: float = TOLERANCE) -> Comparison:
    return compare(baseline, candidate, tolerance=tolerance, higher_is_better=True, paired=True)


def test_pairs_are_judged_by_scipys_t_interval() -> None:
    """Pairs are judged by SciPy's t interval on the logarithms of their ratios."""
    baseline, candidate = drawn(100, 0.05, 8), drawn(97, 0.05, 8, seed=2)
    logs = [math.log(c / b) for b, c in zip(baseline, candidate, strict=True)]
    test = stats.ttest_1samp(logs, 0)
    expected = test.confidence_interval(0.99)

    found = paired(baseline, candidate)

    assert found.ratio == pytest.approx(stats.gmean(candidate) / stats.gmean(baseline))
    assert (found.low, found.high) == pytest.approx((math.exp(expected.low), math.exp(expected.high)))
    assert found.p_value == pytest.approx(test.pvalue)
    assert found.repeats == 8


def test_independent_sides_are_judged_by_scipys_welch_interval() -> None:
    baseline, candidate = drawn(100, 0.03, 9), drawn(97, 0.08, 5, seed=2)
    test = stats.ttest_ind([math.log(x) for x in candidate], [math.log(x) for x in baseline], equal_var=False)
    expected = test.confidence_interval(0.9)

    found = compare(baseline, candidate, tolerance=TOLERANCE, higher_is_better=True, confidence=0.9)

    assert (found.low, found.high) == pytest.approx((math.exp(expected.low), math.exp(expected.high)))
    assert found.p_value == pytest.approx(test.pvalue)


def test_what_pairs_share_cancels() -> None:
    """Blocks that differ by half do not hide a difference of four per cent within each of them."""
    draw = random.Random(4)
    blocks = [draw.uniform(50, 150) for _ in range(6)]
    baseline = [block * draw.lognormvariate(0, 0.002) for block in blocks]
    candidate = [0.96 * block * draw.lognormvariate(0, 0.002) for block in blocks]

    assert paired(baseline, candidate).verdict is Verdict.SLOWER
    alone = compare(baseline, candidate, tolerance=TOLERANCE, higher_is_better=True)
    assert alone.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("center", "deviation", "verdict", "differs"),
    [
        (110, 0.01, "faster", True),
        (90, 0.01, "slower", True),
        (100, 0.005, "same", False),
        (101.2, 0.002, "same", True),
        (102.5, 0.008, "inconclusive", True),
        (100, 0.08, "inconclusive", False),
    ],
)
def test_the_verdict_says_what_the_interval_allows(
    center: float, deviation: float, verdict: str, differs: bool
) -> None:
    found = paired([100.0] * 8, drawn(center, deviation, 8))

    assert (found.verdict, found.differs) == (verdict, differs)


def test_slower_is_worse_for_rates_and_times() -> None:
    more = ([100.0, 101.0, 99.0], [110.0, 111.0, 109.0])

    assert compare(*more, tolerance=TOLERANCE, higher_is_better=True).verdict is Verdict.FASTER
    assert compare(*more, tolerance=TOLERANCE, higher_is_better=False).verdict is Verdict.SLOWER


def test_single_repeat_gives_a_ratio_alone() -> None:
    """One repeat of a side gives a ratio and nothing more."""
    for found in (
        compare([100.0], [90.0], tolerance=TOLERANCE, higher_is_better=True),
        compare([100.0, 101.0], [90.0], tolerance=TOLERANCE, higher_is_better=True),
        paired([100.0], [90.0]),
    ):
        assert found.ratio == pytest.approx(0.9, rel=0.01)
        assert (found.low, found.high, found.p_value, found.minimum_detectable_effect) == (None,) * 4
        assert (found.verdict, found.more_repeats, found.differs) == (Verdict.INCONCLUSIVE, None, False)


def test_repeats_without_scatter_are_judged_by_ratio() -> None:
    """Repeats that do not scatter are judged by their ratio alone."""
    for candidate, verdict, p_value in (
        (100.0, "same", 1),
        (101.0, "same", 0),
        (103.0, "faster", 0),
        (97.0, "slower", 0),
    ):
        found = paired([100.0] * 3, [candidate] * 3)

        assert (found.verdict, found.p_value) == (verdict, p_value)
        assert (found.low, found.ratio, found.high) == pytest.approx((candidate / 100,) * 3)
        assert found.minimum_detectable_effect == pytest.approx(TOLERANCE)


@pytest.mark.parametrize("wrong", [[0.0, 1.0], [-1.0, 1.0], [math.nan, 1.0], [math.inf, 1.0], [10**400, 1.0], []])
@pytest.mark.parametrize("both", [True, False])
def test_values_that_make_no_ratio_are_refused(wrong: list[float], both: bool) -> None:
    for sides in ((wrong, [1.0, 2.0]), ([1.0, 2.0], wrong)):
        with pytest.raises(ValueError, match=r"no repeats|must be positive and finite"):
            compare(*sides, tolerance=TOLERANCE, higher_is_better=True, paired=both)


def test_pairs_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="equally many: 3 of the baseline, 2 of the candidate"):
        paired([1.0, 2.0, 3.0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tolerance": -0.1}, "a tolerance is 0 or a share"),
        ({"tolerance": math.nan}, "a tolerance is 0 or a share"),
        ({"tolerance": 10**400}, "a tolerance is 0 or a share"),
        ({"confidence": 1.0}, "between 0.5 and 1, not at 1.0"),
        ({"confidence": 0.3}, "between 0.5 and 1, not at 0.3"),
        ({"equivalence": 0.5}, "equivalence lies between"),
        ({"equivalence": 0.001}, "equivalence lies between"),
    ],
)
def test_levels_that_mean_nothing_are_refused(options: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        compare([1.0, 2.0], [1.0, 2.0], **{"tolerance": TOLERANCE, "higher_is_better": True} | options)  # type: ignore[arg-type]


def test_arrays_are_taken_as_well_as_lists() -> None:
    baseline, candidate = drawn(100, 0.02, 5), drawn(95, 0.02, 5, seed=2)

    assert paired(np.array(baseline), np.array(candidate)) == paired(baseline, candidate)  # type: ignore[arg-type]


def test_negative_metric_is_compared_by_its_exponential() -> None:
    """A metric that may be negative is compared by differences of its exponential."""
    baseline, candidate = [-0.30, -0.31, -0.29, 0.0], [-0.10, -0.12, -0.09, 0.21]
    test = stats.ttest_1samp(np.subtract(candidate, baseline), 0)

    found = compare(
        [math.exp(each) for each in baseline],
        [math.exp(each) for each in candidate],
        tolerance=math.expm1(0.1),
        higher_is_better=False,
        paired=True,
    )

    assert math.log(found.ratio) == pytest.approx(0.2)
    assert found.p_value == pytest.approx(test.pvalue)
    assert found.verdict is Verdict.SLOWER


@given(pairs, st.booleans())
def test_swapped_sides_give_the_inverse(both: list[tuple[float, float]], belong_together: bool) -> None:
    baseline, candidate = ([each[side] for each in both] for side in (0, 1))
    there, back = (
        compare(a, b, tolerance=TOLERANCE, higher_is_better=True, paired=belong_together)
        for a, b in ((baseline, candidate), (candidate, baseline))
    )

    assert there.low is not None
    assert back.high is not None
    assert math.log(there.ratio) == pytest.approx(-math.log(back.ratio), abs=1e-9)
    assert math.log(there.low) == pytest.approx(-math.log(back.high), abs=1e-6)
    assert there.p_value == pytest.approx(back.p_value)
    assert (there.minimum_detectable_effect, there.more_repeats) == (back.minimum_detectable_effect, back.more_repeats)
    other = {Verdict.SLOWER: Verdict.FASTER, Verdict.FASTER: Verdict.SLOWER}
    assert there.verdict is other.get(back.verdict, back.verdict)


@given(pairs)
def test_rate_and_its_time_get_one_verdict(both: list[tuple[float, float]]) -> None:
    rate = paired([b for b, _ in both], [c for _, c in both])
    time = compare(
        [1 / b for b, _ in both], [1 / c for _, c in both], tolerance=TOLERANCE, higher_is_better=False, paired=True
    )

    assert time.verdict is rate.verdict or _at_a_limit(rate)


def _at_a_limit(found: Comparison) -> bool:
    """True if rounding may tip it: an end of an interval lies on a limit."""
    ends = (found.low or 1, found.high or 1, found.ratio)
    return any(abs(abs(math.log(end)) - math.log1p(TOLERANCE)) < 1e-9 for end in ends)


@given(repeats, repeats, st.floats(min_value=1e-3, max_value=1e3))
def test_the_unit_does_not_matter(baseline: list[float], candidate: list[float], factor: float) -> None:
    one = compare(baseline, candidate, tolerance=TOLERANCE, higher_is_better=True)
    other = compare(
        [factor * x for x in baseline], [factor * x for x in candidate], tolerance=TOLERANCE, higher_is_better=True
    )

    assert math.log(one.ratio) == pytest.approx(math.log(other.ratio), abs=1e-9)
    assert one.verdict is other.verdict or _at_a_limit(one)


@given(pairs, st.floats(min_value=1.0, max_value=10))
def test_slower_candidate_is_never_judged_better(both: list[tuple[float, float]], factor: float) -> None:
    """A candidate that gets slower is never judged better."""
    order = [Verdict.FASTER, Verdict.SAME, Verdict.SLOWER]
    baseline, candidate = ([each[side] for each in both] for side in (0, 1))
    before, after = paired(baseline, candidate), paired(baseline, [each / factor for each in candidate])

    if Verdict.INCONCLUSIVE not in {before.verdict, after.verdict} and not _at_a_limit(before):
        assert order.index(before.verdict) <= order.index(after.verdict)


@given(pairs)
def test_decision_stands_at_looser_levels(
    both: list[tuple[float, float]],
) -> None:
    """A decision stands at every lower confidence and every narrower tolerance."""
    baseline, candidate = ([each[side] for each in both] for side in (0, 1))

    def at(confidence: float, tolerance: float) -> Verdict:
        return compare(
            baseline, candidate, tolerance=tolerance, higher_is_better=True, confidence=confidence, paired=True
        ).verdict

    if at(0.99, TOLERANCE) is not Verdict.INCONCLUSIVE:
        assert at(0.9, TOLERANCE) is at(0.99, TOLERANCE)
    if at(0.99, TOLERANCE) in {Verdict.SLOWER, Verdict.FASTER}:
        assert at(0.99, TOLERANCE / 2) is at(0.99, TOLERANCE)
    if at(0.99, TOLERANCE) is Verdict.SAME:
        assert at(0.99, 2 * TOLERANCE) is Verdict.SAME


def share(verdict: str, slowdown: float, blocks: int, nights: int = 2000, **options: float) -> float:
    draw = np.random.default_rng(8)

    def found() -> str:
        baseline, candidate = np.exp(0.02 * draw.standard_normal((2, blocks)))
        return compare(
            baseline, candidate / slowdown, tolerance=TOLERANCE, higher_is_better=True, paired=True, **options
        ).verdict  # type: ignore[arg-type]

    return sum(found() == verdict for _ in range(nights)) / nights


def test_false_verdicts_are_as_rare_as_promised() -> None:
    """A version at the tolerance is called same or slower as rarely as the levels say."""
    assert share("slower", 1.02, 12, confidence=0.9) == pytest.approx(0.05, abs=0.015)
    assert share("same", 1.02, 24, confidence=0.99, equivalence=0.05) == pytest.approx(0.05, abs=0.015)


@pytest.mark.parametrize("blocks", [3, 6, 24])
def test_minimum_detectable_effect_shows_four_times_in_five(blocks: int) -> None:
    """With the true variance known, so that each draw has the same effect to find."""
    deviation, found = 0.02 * math.sqrt(2), []
    baseline = [1.0] * blocks
    exact = [math.exp(deviation * z) for z in _standard(blocks)]
    effect = paired(baseline, exact).minimum_detectable_effect
    assert effect is not None
    found = share("slower", 1 + effect, blocks, nights=4000)

    assert found == pytest.approx(0.8, abs=0.03)


def _standard(n: int) -> list[float]:
    """Values with mean 0 and sample variance 1."""
    raw = np.arange(n) - (n - 1) / 2
    return list(raw / np.std(raw, ddof=1))


@pytest.mark.parametrize("blocks", [6, 12])
def test_more_repeats_settle_four_cases_of_five(blocks: int) -> None:
    """Truths from a wide range, since nothing is assumed of them: what is promised is kept over all promises."""
    draw = np.random.default_rng(9)
    kept = []
    while len(kept) < max(300, examples(1500)):
        truth = draw.uniform(-0.15, 0.15)
        logs = truth + 0.02 * math.sqrt(2) * draw.standard_normal(1200)
        first = paired([1.0] * blocks, list(np.exp(logs[:blocks])))
        if first.more_repeats is not None:
            n = blocks + first.more_repeats
            kept.append(paired([1.0] * n, list(np.exp(logs[:n]))).verdict is not Verdict.INCONCLUSIVE)

    assert np.mean(kept) == pytest.approx(0.8, abs=0.06)


def test_hopeless_comparison_promises_no_repeats() -> None:
    """A comparison that a thousand repeats would not settle promises nothing."""
    at_the_limit = [102 * math.exp(0.01 * z) for z in _standard(40)]

    found = paired([100.0] * 40, at_the_limit)

    assert (found.verdict, found.more_repeats) == (Verdict.INCONCLUSIVE, None)
