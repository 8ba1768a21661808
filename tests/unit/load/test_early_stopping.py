"""MLPerf's early stopping, beside the numbers of its rules and of LoadGen."""

import random

import pytest

from orchestrator.modes.parts.early_stopping import bound, least_requests, most_slow, requests_for_bound


@pytest.mark.parametrize(
    ("share", "slow", "requests"), [(0.99, 0, 459), (0.99, 1, 662), (0.9, 0, 44), (0.9, 1, 64), (0.5, 0, 7)]
)
def test_least_requests_are_those_of_the_rules(share: float, slow: int, requests: int) -> None:
    assert least_requests(share, slow) == requests


@pytest.mark.parametrize("share", [0.9, 0.99])
@pytest.mark.parametrize("slow", [0, 1, 7, 40])
def test_both_directions_agree(share: float, slow: int) -> None:
    enough = least_requests(share, slow)

    assert most_slow(share, enough) == slow
    assert most_slow(share, enough - 1) == slow - 1


def test_one_may_be_slow_before_there_is_a_bound() -> None:
    """One request of 662 may be slow, and none is discarded; of 1,001 three may be, and the two slowest are."""
    latencies_s = [float(number) for number in range(1, 1002)]

    assert bound(latencies_s[: requests_for_bound(0.99) - 1], 0.99) is None
    assert bound(latencies_s[: requests_for_bound(0.99)], 0.99) == 662.0
    assert most_slow(0.99, 1001) == 3
    assert bound(latencies_s, 0.99) == 999.0


def test_bound_holds_as_often_as_it_says() -> None:
    """The true percentile is above the bound in at most 1 % of the runs, give or take chance."""
    draw = random.Random(5)
    missed = sum(bound([draw.random() for _ in range(200)], 0.9) < 0.9 for _ in range(3000))  # type: ignore[operator]

    assert missed <= 0.01 * 3000 + 3 * (3000 * 0.01 * 0.99) ** 0.5
