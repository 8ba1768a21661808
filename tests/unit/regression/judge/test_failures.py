"""Counts of failures: the exact test holds what it says, and is that of Fisher."""

from math import comb

import pytest
from scipy.stats import fisher_exact

from orchestrator.regression.judge.reliability import more_often_by_chance
from tests.documented import whole


def test_chance_of_failures_is_that_of_fisher() -> None:
    """Three failures of four are as likely next to one of four as Fisher has it."""
    assert more_often_by_chance(3, 4, 1, 4) == pytest.approx(17 / 70)
    assert more_often_by_chance(4, 4, 0, 4) == pytest.approx(1 / 70)


@pytest.mark.parametrize("counts", [(2, 6, 0, 6), (12, 24, 0, 24), (5, 24, 2, 12), (0, 6, 3, 6), (6, 6, 6, 6)])
def test_chance_is_that_of_scipys_one_sided_test(counts: tuple[int, int, int, int]) -> None:
    failed, repeats, other_failed, other_repeats = counts
    table = [[failed, repeats - failed], [other_failed, other_repeats - other_failed]]

    assert more_often_by_chance(*counts) == pytest.approx(fisher_exact(table, alternative="greater").pvalue)


def test_as_many_failures_show_as_the_page_says() -> None:
    assert "it takes 4 of 6 repeats against none, or 5 of 24" in whole("regression.md")
    for enough, repeats in ((4, 6), (5, 24)):
        assert more_often_by_chance(enough, repeats, 0, repeats) <= 0.05
        assert more_often_by_chance(enough - 1, repeats, 0, repeats) > 0.05


def test_without_failures_nothing_speaks_against_chance() -> None:
    """Nothing speaks against chance where nothing failed or nothing was tried."""
    assert more_often_by_chance(0, 6, 0, 6) == 1
    assert more_often_by_chance(0, 0, 0, 0) == 1


@pytest.mark.parametrize("likelihood", [0.02, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("repeats", [6, 12, 24])
def test_equal_sides_are_rarely_distinguished(likelihood: float, repeats: int) -> None:
    """Sides that fail equally often are distinguished no more often than the level says."""
    ways = [comb(repeats, k) * likelihood**k * (1 - likelihood) ** (repeats - k) for k in range(repeats + 1)]
    wrong = sum(
        ways[failed] * ways[other]
        for failed in range(repeats + 1)
        for other in range(repeats + 1)
        if more_often_by_chance(failed, repeats, other, repeats) <= 0.05
    )

    assert wrong <= 0.05


@pytest.mark.parametrize("counts", [(7, 6, 0, 6), (0, 6, 7, 6), (-1, 6, 0, 6)])
def test_more_failures_than_repeats_are_refused(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="more failed than there were"):
        more_often_by_chance(*counts)
