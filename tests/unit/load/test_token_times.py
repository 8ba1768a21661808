"""The times of tokens, of a fake engine whose times are known."""

import pytest

from orchestrator.analysis.token_times import token_times

FIRST_S, GAP_S, RATE = 0.200, 0.050, 64.0


def fake(requests: int, tokens: int, apart_s: float) -> tuple[list[float], list[list[float]]]:
    """Requests that arrive at even distances, each with its first token after 200 ms and the others every 50 ms."""
    arrivals = [number * apart_s for number in range(requests)]
    return arrivals, [[at + FIRST_S + number * GAP_S for number in range(tokens)] for at in arrivals]


def test_times_are_those_of_the_engine() -> None:
    times = token_times(*fake(100, 32, 0.5), RATE)

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
    arrivals, moments = fake(100, 32, 0.5)
    moments = [[at + (1.0 if number >= 16 else 0.0) for number, at in enumerate(each)] for each in moments]
    times = token_times(arrivals, moments, RATE)

    assert times.between_p50_s == pytest.approx(GAP_S)
    assert times.between_p99_s == pytest.approx(1.0 + GAP_S)
    assert times.per_token_s == pytest.approx(GAP_S + 1.0 / 31)


def test_too_few_gaps_have_no_percentile() -> None:
    assert token_times(*fake(10, 32, 1.0), RATE).between_p99_s is None
    assert token_times(*fake(10, 1, 1.0), RATE).per_token_s is None


@pytest.mark.parametrize("moments", [[], [[1.0], []]])
def test_answer_without_tokens_is_none(moments: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="at least one token"):
        token_times([0.0] * len(moments), moments, RATE)
