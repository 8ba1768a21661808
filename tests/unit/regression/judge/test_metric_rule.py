"""From values to a verdict, where values are hard: far apart, tiny, or 0."""

import pytest

from orchestrator.analysis.comparison import Look, Verdict
from orchestrator.regression.judge.findings import confirmation, confirmed
from orchestrator.regression.judge.metric_rule import MetricRule
from orchestrator.regression.model import Judged
from orchestrator.regression.rules import BY_NAME
from orchestrator.results.contract import LARGEST

SURE = Look(2, 0.99975, 0.05)


def held(metric: str) -> MetricRule:
    return MetricRule(BY_NAME[metric], True, BY_NAME[metric].tolerance)


def test_two_distant_blocks_bound_nothing() -> None:
    """Two blocks that lie far apart bound nothing, and their judgement can still be written."""
    found = held("cold_start").judge([(2.3, 1.2), (1.2, 1.21)], SURE)
    again = confirmation(found.model_copy(update={"verdict": Verdict.SLOWER}), found)

    assert (found.verdict, found.low, found.high) == (Verdict.INCONCLUSIVE, 1 / LARGEST, LARGEST)
    assert (again.confirmed, again.low, again.high) == (False, 1 / LARGEST, LARGEST)
    assert Judged.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize(("baseline", "candidate"), [(5e-324, 1.0), (1.0, 5e-324), (LARGEST, LARGEST)])
def test_exact_values_have_a_writable_ratio(baseline: float, candidate: float) -> None:
    """A metric that is known exactly has a ratio that can be written."""
    found = held("loss").exact(baseline, candidate)

    assert found.ratio == max(1 / LARGEST, min(candidate / baseline, LARGEST))
    assert held("throughput").judge([(LARGEST, LARGEST)] * 3, SURE).verdict is Verdict.SAME


ONCE = Look(6, 0.95, 0.05)


@pytest.mark.parametrize(
    ("values", "verdict", "reason"),
    [
        ([(0.9, 0.0)] * 6, Verdict.SLOWER, "the candidate is 0 in 6 of 6 measurements"),
        ([(0.0, 0.9)] * 6, Verdict.FASTER, "the baseline is 0 in 6 of 6 measurements"),
        ([(0.9, 0.9)] * 3 + [(0.9, 0.0)] * 3, Verdict.INCONCLUSIVE, "the candidate is 0 in 3 of 6 measurements"),
        ([(0.5, 0.9)] * 5 + [(0.9, 0.0)], Verdict.INCONCLUSIVE, "the candidate is 0 in 1 of 6 measurements"),
        ([(0.9, 0.5)] * 5 + [(0.9, 0.0)], Verdict.SLOWER, "the candidate is 0 in 1 of 6 measurements"),
        ([(0.9, 0.5)] * 5 + [(0.0, 0.9)], Verdict.INCONCLUSIVE, "the baseline is 0 in 1 of 6 measurements"),
        (
            [(0.9, 0.0)] * 3 + [(0.0, 0.9)] * 3,
            Verdict.INCONCLUSIVE,
            "the baseline is 0 in 3 of 6 and the candidate is 0 in 3 of 6 measurements",
        ),
        ([(0.9, 0.0)], Verdict.INCONCLUSIVE, "the candidate is 0 in 1 of 1 measurements"),
        ([(0.0, 0.0)] * 6, Verdict.NOT_MEASURED, "it was not measured on both sides"),
        ([(0.9, 0.9)] * 3 + [(0.0, 0.0)] * 3, Verdict.SAME, ""),
    ],
)
def test_a_fall_to_0_is_worse(values: list[tuple[float, float]], verdict: Verdict, reason: str) -> None:
    """A metric that falls to 0 is worse, and its zeros are never left out of the judgement."""
    found = held("accuracy").judge(values, ONCE)

    assert (found.verdict, found.reason) == (verdict, reason)
    assert found.values == tuple(pair for pair in values if min(pair) > 0)
    if verdict is Verdict.SLOWER and not found.values:
        assert (found.ratio, found.blocks, found.candidate) == (None, 6, 0.0)
        assert found.baseline == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("baseline", "candidate", "verdict"),
    [
        ([0.9] * 4, [0.0] * 3, Verdict.SLOWER),
        ([0.9] * 4, [0.0, 0.9, 0.9], Verdict.INCONCLUSIVE),
        ([0.0, 0.9, 0.9, 0.9], [0.0] * 3, Verdict.INCONCLUSIVE),
        ([0.9] * 4, [], Verdict.NOT_MEASURED),
        ([0.0] * 4, [0.0] * 3, Verdict.NOT_MEASURED),
    ],
)
def test_unpaired_sides_obey_the_same_rule(baseline: list[float], candidate: list[float], verdict: Verdict) -> None:
    """Sides that are not paired are held to the same rule about values of 0."""
    assert held("accuracy").compared(baseline, candidate, ONCE, paired=False).verdict is verdict


def test_fresh_falls_confirm_a_fall_to_0() -> None:
    """A fall to 0 is confirmed by fresh blocks that fall too, and by no others."""

    def judged(candidate: float) -> Judged:
        return held("accuracy").judge([(0.9 + noise / 1000, candidate) for noise in range(6)], ONCE)

    fallen, worse, well = judged(0.0), judged(0.5), judged(0.9)

    assert confirmed(fallen, fallen).is_regression
    assert confirmed(fallen, worse).is_regression
    assert confirmed(worse, fallen).is_regression
    assert confirmed(fallen, well).verdict is Verdict.INCONCLUSIVE


def test_a_lower_is_better_metric_skips_zeros() -> None:
    """A metric that is better when low has no value in a block in which it is 0."""
    found = held("peak_memory").judge([(100.0, 100.0)] * 3 + [(100.0, 0.0)] * 3, ONCE)

    assert (found.verdict, found.blocks) == (Verdict.SAME, 3)
