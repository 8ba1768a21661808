"""Requests for tokens, answered by a fake engine whose times are known."""

import statistics
from collections.abc import Callable
from typing import Any

import pytest
from container_support import request_of, start
from fake_generator import FakeGenerator

from benchmarks.errors import BadRequest
from benchmarks.timing import load
from benchmarks.timing.load import LoadClock
from benchmarks.timing.measure import Measurement
from orchestrator.analysis.load.answers import AnsweredRequests, answers
from orchestrator.analysis.load.generation import generation_times
from orchestrator.analysis.load.token_times import TokenTimes
from orchestrator.modes.parts.load import Load, Scenario
from orchestrator.results.contract import Block, Result
from orchestrator.results.parts.generation import StoredTokenTimes
from orchestrator.results.parts.requests import RequestMoments

PROMPT_S, TOKEN_S, OUTPUT = 0.030, 0.010, 8
SERVICE_S = PROMPT_S + (OUTPUT - 1) * TOKEN_S


def same(_number: int) -> float:
    return PROMPT_S


def stalling(number: int) -> float:
    """Take a second for the prompt of one generation, some time after the two of the warm-up."""
    return 1.0 if number == 53 else PROMPT_S


def measured(prompt_s: Callable[[int], float], most: int = 1, output: int = OUTPUT, **asked: Any) -> Measurement:
    engine = FakeGenerator(prompt_s, lambda _step: TOKEN_S, short_blocks=True)

    def sleep(seconds: float) -> None:
        engine.now += seconds

    clock = LoadClock(lambda: engine.now, lambda: 2 * engine.now, sleep, 0.0)
    lengths = {"prompt": 4, "output": output}
    request = request_of(mode="requests", load=asked, generation=lengths, batch_size=most, warmup_steps=2, seed=1)
    return load.measuring(clock)(engine, request, 0, lambda _phase: None)


def stored(measurement: Measurement) -> Result:
    return Result.model_construct(
        generation=StoredTokenTimes(**measurement.generation),
        requests=RequestMoments(**measurement.requests),
        latency_s=tuple(measurement.latency_s),
        blocks=tuple(Block(**block) for block in measurement.blocks),
    )


def figures(measurement: Measurement) -> TokenTimes:
    times = generation_times(stored(measurement))
    assert times is not None
    return times


def answered(measurement: Measurement, **limits: float) -> AnsweredRequests:
    return answers(stored(measurement), Load(Scenario.SERVER, rate=1.0, **limits))


def test_lone_request_waits_for_its_prompt_alone() -> None:
    measurement = measured(same, scenario="single_stream", requests=700)

    times = figures(measurement)
    assert measurement.latency_s == pytest.approx([SERVICE_S] * 700)
    assert times.first_token_s == pytest.approx(PROMPT_S)
    assert times.per_token_s == pytest.approx(TOKEN_S)
    assert (times.between_p50_s, times.between_p99_s) == pytest.approx((TOKEN_S, TOKEN_S))
    assert times.tokens_per_s == pytest.approx(OUTPUT / SERVICE_S)


def test_first_token_counts_from_the_scheduled_arrival() -> None:
    """Each waits for the end of those before it, as the queue of one server does (Lindley, 1952)."""
    measurement = measured(same, scenario="server", rate=8.0, requests=5000)

    arrival_s, free_s, first_s = measurement.requests["arrival_s"], 0.0, []
    for each in arrival_s:
        begin_s = max(free_s, each)
        first_s.append(begin_s + PROMPT_S - each)
        free_s = begin_s + SERVICE_S
    assert measurement.generation["first_token_s"] == pytest.approx(first_s, rel=1e-6)
    assert figures(measurement).first_token_s == pytest.approx(statistics.median(first_s), rel=1e-6)
    assert figures(measurement).per_token_s == pytest.approx(TOKEN_S)
    tail = answered(measurement).first_token
    assert tail is not None
    assert tail.p99_s == pytest.approx(statistics.quantiles(first_s, n=100, method="inclusive")[98], rel=1e-6)
    assert tail.p99_bound_s is not None
    assert tail.p99_bound_s > tail.p99_s


def test_mean_wait_is_that_of_theory() -> None:
    """Poisson arrivals at half of the rate of a constant server wait half of a service (Pollaczek-Khinchine)."""
    measurement = measured(same, scenario="server", rate=0.5 / SERVICE_S, requests=200_000, output=OUTPUT)

    mean_s = statistics.fmean(measurement.generation["first_token_s"])
    assert mean_s - PROMPT_S == pytest.approx(0.5 * SERVICE_S, rel=0.01)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"latency_limit_s": SERVICE_S * 1.000001}, 0.7),
        ({"first_token_limit_s": PROMPT_S * 1.000001}, 0.7),
        ({"per_token_limit_s": TOKEN_S * 1.000001}, 1.0),
        ({"per_token_limit_s": TOKEN_S * 0.9}, 0.0),
        ({"first_token_limit_s": PROMPT_S * 1.000001, "per_token_limit_s": TOKEN_S * 0.9}, 0.0),
        ({"latency_limit_s": 1e6, "first_token_limit_s": PROMPT_S * 1.000001, "per_token_limit_s": 1.0}, 0.7),
    ],
)
def test_good_answers_are_within_every_limit(limits: dict[str, float], expected: float) -> None:
    """A server that is busy for 30 % of the time is idle for 70 % of Poisson arrivals."""
    measurement = measured(same, scenario="server", rate=0.3 / SERVICE_S, requests=100_000)

    assert answered(measurement, **limits).in_time == pytest.approx(expected, rel=0.01)


def test_open_loop_counts_all_that_waited() -> None:
    """A prompt of one second is one slow first token to a client that waits, and a queue of them to a schedule."""
    closed = measured(stalling, scenario="single_stream", requests=200)
    opened = measured(stalling, scenario="server", rate=8.0, requests=200)

    slow = [sum(each > 0.5 for each in one.generation["first_token_s"]) for one in (closed, opened)]
    assert slow[0] == 1
    assert slow[1] > 5


def test_batch_waits_for_no_request() -> None:
    """Prompts that wait are generated together. Prompts that come meanwhile wait for all of these tokens."""
    measurement = measured(same, 4, scenario="closed", concurrency=8, requests=400)

    block = measurement.blocks[0]
    assert (block["steps"], block["samples"]) == (100, 400)
    assert block["samples"] / block["wall_s"] == pytest.approx(4 / SERVICE_S)
    assert measurement.generation["first_token_s"] == pytest.approx([SERVICE_S + PROMPT_S] * 400)
    assert figures(measurement).tokens_per_s == pytest.approx(4 * OUTPUT / SERVICE_S)
    assert measurement.latency_s == pytest.approx([2 * SERVICE_S] * 400)


def test_one_token_has_none_after_it() -> None:
    measurement = measured(same, scenario="single_stream", requests=20, output=1)

    assert figures(measurement).per_token_s is None
    assert answered(measurement, per_token_limit_s=1e-9).in_time == 1.0
    assert answered(measurement).per_token is None


def test_lengths_by_hand_ask_for_tokens() -> None:
    asked = ("--axis", "output=4", "--axis", "requests=20", "--axis", "first_token_limit_s=1")
    ended = start("decoder", "--mode", "requests", "--framework", "noop", *asked)

    assert ended.returncode == 0, ended.stderr
    assert "first token" in ended.stdout
    assert "100.0 % within 1 s" in ended.stdout


def test_wrong_limit_is_refused_in_one_line() -> None:
    asked = {"scenario": "offline", "requests": 5, "per_token_limit_s": 0}

    with pytest.raises(BadRequest, match="a number above 0 as 'per_token_limit_s'"):
        request_of(mode="requests", load=asked)
