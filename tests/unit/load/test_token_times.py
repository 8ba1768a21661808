"""The times of tokens, of a fake engine whose times are known."""

import math
import random
from itertools import accumulate

import pytest

from orchestrator.analysis.load.token_times import token_times

FIRST_S, GAP_S, RATE = 0.200, 0.050, 64.0


def fake(requests: int, tokens: int, apart_s: float) -> tuple[list[float], list[list[float]]]:
    """Requests that arrive at even distances, each with its first token after 200 ms and the others every 50 ms."""
    arrivals = [number * apart_s for number in range(requests)]
    return arrivals, [[at + FIRST_S + number * GAP_S for number in range(tokens)] for at in arrivals]


def test_times_are_those_of_the_engine() -> None:
    times = token_times(*fake(700, 32, 0.5), RATE)

    assert times.first_token_s == pytest.approx(FIRST_S)
    assert times.per_token_s == pytest.approx(GAP_S)
    assert (times.between_p50_s, times.between_p99_s) == (pytest.approx(GAP_S), pytest.approx(GAP_S))


def test_first_token_is_no_part_of_the_gaps() -> None:
    """Another tool divides the whole latency by all tokens, which is 54.7 ms here and twice as much for few tokens."""
    arrivals, moments = fake(10, 32, 2.0)
    normalised_s = (moments[0][-1] - arrivals[0]) / 32

    assert token_times(arrivals, moments, RATE).per_token_s == pytest.approx(GAP_S)
    assert normalised_s == pytest.approx(0.0546875)


def test_stall_is_in_the_gaps_and_hardly_in_the_mean() -> None:
    arrivals, moments = fake(700, 32, 0.5)
    moments = [[at + (1.0 if number >= 16 else 0.0) for number, at in enumerate(each)] for each in moments]
    times = token_times(arrivals, moments, RATE)

    assert times.between_p50_s == pytest.approx(GAP_S)
    assert times.between_p99_s == pytest.approx(1.0 + GAP_S)
    assert times.per_token_s == pytest.approx(GAP_S + 1.0 / 31)


@pytest.mark.parametrize(("share", "least"), [(0.90, 64), (0.99, 662)])
def test_percentile_of_gaps_takes_generations(share: float, least: int) -> None:
    """However many gaps a generation has, as they are not independent."""
    few, enough = (token_times(*fake(count, 32, 1.0), RATE) for count in (least - 1, least))

    name = f"between_p{100 * share:.0f}"
    assert (getattr(few, f"{name}_s"), getattr(few, f"{name}_bound_s")) == (None, None)
    assert (getattr(enough, f"{name}_s"), getattr(enough, f"{name}_bound_s")) == pytest.approx((GAP_S, GAP_S))


def test_single_tokens_have_no_gaps() -> None:
    times = token_times(*fake(700, 1, 1.0), RATE)

    assert times.per_token_s is None
    assert (times.between_p50_s, times.between_p99_s, times.between_p99_bound_s) == (None, None, None)


def test_bound_is_above_what_slow_generations_hide() -> None:
    """Of 700 generations one may be slow, so that the slowest of all gaps is the bound, and of 1,000 two may be."""
    for count, bound_s in ((700, 5 * GAP_S), (1000, 3 * GAP_S)):
        arrivals, moments = fake(count, 32, 1.0)
        for place, slower in ((3, 5), (8, 3)):
            moments[place] = [arrivals[place] + FIRST_S + number * slower * GAP_S for number in range(32)]
        times = token_times(arrivals, moments, RATE)

        assert times.between_p99_s == pytest.approx(GAP_S)
        assert times.between_p99_bound_s == pytest.approx(bound_s)


def test_requests_of_one_batch_are_one_generation() -> None:
    """A slow batch of two is in the way of the bound as a slow request by itself is."""
    arrivals, moments = fake(800, 32, 1.0)

    alone, together = (token_times(arrivals, moments, RATE, batches=[size] * (800 // size)) for size in (1, 2))

    assert (alone.between_p99_bound_s, together.between_p99_bound_s) == (pytest.approx(GAP_S), None)
    assert together.between_p90_bound_s == pytest.approx(GAP_S)
    with pytest.raises(ValueError, match="batches of 4 requests, of 800"):
        token_times(arrivals, moments, RATE, batches=[4])


@pytest.mark.parametrize("together", [True, False])
def test_bound_holds_the_true_percentile(together: bool) -> None:
    """In 99 of 100 repeats and more, whether the gaps of a generation are slow together or each by itself."""
    draw, tokens, missed = random.Random(5), 5, 0
    for _ in range(400):
        gaps = [[draw.expovariate(1)] * tokens if together else drawn(draw, tokens) for _ in range(80)]
        moments = [[FIRST_S, *(FIRST_S + passed for passed in accumulate(each))] for each in gaps]
        bound_s = token_times([0.0] * 80, moments, RATE).between_p90_bound_s
        assert bound_s is not None
        missed += bound_s < math.log(10)

    assert missed <= 400 * 0.02


def drawn(draw: random.Random, count: int) -> list[float]:
    return [draw.expovariate(1) for _ in range(count)]


@pytest.mark.parametrize("moments", [[], [[1.0], []]])
def test_answer_without_tokens_is_none(moments: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="at least one token"):
        token_times([0.0] * len(moments), moments, RATE)
