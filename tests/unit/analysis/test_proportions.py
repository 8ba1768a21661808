"""The exact interval of a share."""

import pytest
from scipy import stats

from orchestrator.analysis.proportions import clopper_pearson


@pytest.mark.parametrize(("hits", "draws"), [(0, 20), (1, 20), (7, 60), (20, 20), (3, 4000)])
def test_a_share_has_scipys_exact_interval(hits: int, draws: int) -> None:
    expected = stats.binomtest(hits, draws).proportion_ci(0.95, method="exact")

    assert clopper_pearson(hits, draws) == pytest.approx((expected.low, expected.high))


def test_without_draws_nothing_is_known() -> None:
    assert clopper_pearson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("hits", "draws"), [(-1, 3), (4, 3)])
def test_more_hits_than_draws_are_refused(hits: int, draws: int) -> None:
    with pytest.raises(ValueError, match="hits are from 0 to the number of draws"):
        clopper_pearson(hits, draws)


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_the_interval_holds_the_truth_often_enough(share: float) -> None:
    """It does so with 95 % or more, by the exact probabilities of all outcomes."""
    draws = 40
    held = sum(
        stats.binom.pmf(hits, draws, share)
        for hits in range(draws + 1)
        if clopper_pearson(hits, draws)[0] <= share <= clopper_pearson(hits, draws)[1]
    )
    assert held >= 0.95
