"""Percentiles by hand: each of a tail has the bound that reports give it, or is left out."""

from itertools import pairwise

import pytest

from benchmarks.timing import tails
from orchestrator.analysis.load.token_times import token_times
from orchestrator.modes.parts.early_stopping import bound, most_slow


@pytest.mark.parametrize("share", [0.9, 0.99])
def test_bounds_are_those_of_reports(share: float) -> None:
    for count in (1, 43, 44, 63, 64, 100, 458, 459, 661, 662, 1000, 5000):
        times_s = [0.001 * number for number in range(count)]

        assert tails.most_slow(share, count) == most_slow(share, count), count
        assert tails.bound(times_s, share) == bound(times_s, share), count


def test_gaps_are_bound_by_generations() -> None:
    """As those of reports are: of 1,000 generations two may be slow, and the gaps of one are discarded."""
    moments = [[0.0, 0.1 + number, 0.3 + 3 * number] for number in range(1000)]
    gaps_s = [late - early for each in moments for early, late in pairwise(each)]

    times = token_times([0.0] * 1000, moments, 1.0)
    assert times.between_p90_bound_s == tails.bound(gaps_s, 0.9, 2)
    assert times.between_p99_bound_s == tails.bound(gaps_s, 0.99, 2)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (10, "p50 1.000 ms; too few for p90 and p99"),
        (64, "p50 1.000 ms, p90 1.000 ms (at most 2.000 ms); too few for p99"),
        (662, "p50 1.000 ms, p90 1.000 ms (at most 1.000 ms), p99 1.000 ms (at most 2.000 ms)"),
    ],
)
def test_tail_has_a_bound_or_is_left_out(count: int, text: str) -> None:
    times_s = [*[0.001] * (count - 1), 0.002]

    assert tails.line(times_s) == text
    assert tails.line([each for each in times_s for _ in range(3)], 3) == text


def by_hand(capfd: pytest.CaptureFixture[str], *words: str) -> dict[str, str]:
    """Run a model by hand on a framework that computes nothing, and return each line by its first words."""
    from benchmarks import run

    assert run.main([*words, "--framework", "noop"]) == 0
    return {line[:11].rstrip(): line[12:] for line in capfd.readouterr().out.splitlines()}


@pytest.mark.parametrize("axes", [(), ("--axis", "output=4")], ids=["samples", "tokens"])
def test_offline_has_no_percentiles_by_hand(axes: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    asked = ("decoder", "--mode", "requests", *axes)
    offline = by_hand(capfd, *asked, "--axis", "scenario=offline")
    stream = by_hand(capfd, *asked)

    times = {"latency", "waited", *(("first token", "per token") if axes else ())}
    assert times <= set(stream)
    assert all("at most" in stream[name] for name in times)
    assert not times & set(offline)
    assert "answered" in offline


def test_generations_by_hand_have_bounds(capfd: pytest.CaptureFixture[str]) -> None:
    said = by_hand(capfd, "decoder", "--mode", "generate", "--axis", "output=4", "--steps", "100")

    for name in ("first token", "next token"):
        assert "(at most" in said[name], said
        assert said[name].endswith("; too few for p99")
