"""Generation, timed by a fake engine whose times are known, and what a request of it may ask."""

import random
import statistics
from typing import Any

import pytest
from container_support import request_of, start
from fake_generator import FakeGenerator

from benchmarks.errors import BadRequest
from benchmarks.timing import generation
from benchmarks.timing.measure import Measurement
from orchestrator.analysis.load.generation import generation_times
from orchestrator.analysis.load.token_times import TokenTimes
from orchestrator.results.contract import Block, Result
from orchestrator.results.parts.generation import StoredTokenTimes

OUTPUT = 8


def measured(generator: FakeGenerator, output: int = OUTPUT, **changes: Any) -> Measurement:
    asked = {"mode": "generate", "generation": {"prompt": 4, "output": output}, "batch_size": 3} | changes
    request = request_of(**{"warmup_steps": 2, "steps": 50, "min_blocks": 5, "min_block_s": 0.2} | asked)
    return generation.measuring(generator.clock())(generator, request, 0, lambda _phase: None)


def figures(measurement: Measurement) -> TokenTimes:
    stored = StoredTokenTimes(**measurement.generation)
    blocks = tuple(Block(**block) for block in measurement.blocks)
    found = generation_times(Result.model_construct(generation=stored, blocks=blocks))
    assert found is not None
    return found


def test_known_times_are_found() -> None:
    """Time to first token, time per output token and the percentiles between tokens are those of the engine."""
    draw = random.Random(3)
    first_s, later_s = ([draw.lognormvariate(-5, 0.3) for _ in range(100_000)] for _ in range(2))
    decoded = iter(later_s)
    engine = FakeGenerator(lambda number: 4 * first_s[number], lambda _step: next(decoded))

    measurement = measured(engine, steps=4000)

    found, timed = figures(measurement), sum(block["steps"] for block in measurement.blocks)
    before = len(engine.seen) - timed
    times = later_s[before * (OUTPUT - 1) : (before + timed) * (OUTPUT - 1)]
    means = [statistics.fmean(times[at : at + OUTPUT - 1]) for at in range(0, len(times), OUTPUT - 1)]
    assert len(measurement.latency_s) == timed >= 4000
    assert found.first_token_s == pytest.approx(4 * statistics.median(first_s[before : before + timed]), rel=1e-6)
    assert found.per_token_s == pytest.approx(statistics.median(means), rel=1e-6)
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    shown = (found.between_p50_s, found.between_p90_s, found.between_p99_s)
    assert shown == pytest.approx((cuts[49], cuts[89], cuts[98]), rel=1e-6)


def test_throughput_counts_every_token() -> None:
    measurement = measured(FakeGenerator(lambda _number: 0.03, lambda _step: 0.01))

    assert all(block["samples"] == 3 * OUTPUT * block["steps"] for block in measurement.blocks)
    assert figures(measurement).tokens_per_s == pytest.approx(3 * OUTPUT / 0.10)


def test_first_token_is_not_in_the_others() -> None:
    """A slow prompt moves the time to the first token alone."""
    slow, fast = (figures(measured(FakeGenerator(lambda _number, s=s: s, lambda _step: 0.01))) for s in (0.5, 0.03))

    assert slow.first_token_s == pytest.approx(0.5)
    assert slow.per_token_s == pytest.approx(0.01) == fast.per_token_s
    assert slow.prefill == pytest.approx(0.5 / 0.57)


def test_later_tokens_may_take_longer() -> None:
    found = figures(measured(FakeGenerator(lambda _number: 0.03, lambda step: 0.01 * (step + 1))))

    assert found.per_token_s == pytest.approx(0.04)
    assert found.between_p50_s == pytest.approx(0.04)


def test_time_between_generations_is_throughput_alone() -> None:
    """Time before a prompt is issued is in the first token, as the clock is read before that."""
    measurement = measured(FakeGenerator(lambda _number: 0.03, lambda _step: 0.01, between_s=0.02))

    assert figures(measurement).first_token_s == pytest.approx(0.05)
    assert measurement.latency_s == pytest.approx([0.12] * len(measurement.latency_s))


def test_one_token_has_none_after_it() -> None:
    measurement = measured(FakeGenerator(lambda _number: 0.03, lambda _step: 0.01), output=1)

    found = figures(measurement)
    assert (found.per_token_s, found.between_p50_s, found.prefill) == (None, None, 1.0)
    assert measurement.latency_s == measurement.generation["first_token_s"]


def test_times_are_those_of_timed_blocks() -> None:
    """Blocks that turned out too short are kept as warm-up, and the times of their tokens are not."""
    engine = FakeGenerator(lambda number: 0.5 if number < 40 else 0.001, lambda _step: 0.001)

    measurement = measured(engine, steps=5)

    timed = sum(block["steps"] for block in measurement.blocks)
    assert len(measurement.generation["first_token_s"]) == timed == len(measurement.latency_s)
    assert min(block["wall_s"] for block in measurement.blocks) >= 0.2
    assert len(engine.seen) == timed + 1 + sum(block["steps"] for block in measurement.warmup)


def test_prompts_go_round() -> None:
    engine = FakeGenerator(lambda _number: 0.03, lambda _step: 0.01)

    measured(engine)

    assert engine.seen[:5] == ["a", "b", "c", "a", "b"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mode": "generate"}, "the mode 'generate' needs a 'generation'"),
        (
            {"mode": "infer", "generation": {"prompt": 4, "output": 5}},
            "a 'generation' is that of the modes 'generate' and 'requests'",
        ),
        ({"mode": "generate", "generation": {"prompt": 4}}, "'prompt' and 'output'"),
        ({"mode": "generate", "generation": {"prompt": 0, "output": 5}}, "at least 1"),
        ({"mode": "generate", "generation": {"prompt": 4, "output": True}}, "at least 1"),
    ],
)
def test_wrong_lengths_are_told(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        request_of(**changes)


@pytest.mark.parametrize(
    ("model", "asked", "exit_code", "said"),
    [
        ("lenet", ("--framework", "noop"), 3, "the model cannot generate: it does not take tokens"),
        ("encoder", ("--framework", "noop"), 3, "attention_1 sees what comes after a step"),
        ("decoder", ("--framework", "noop", "--axis", "prompt=60"), 5, "more than the 64 steps of the model"),
        ("decoder", ("--framework", "noop", "--axis", "sequence=8"), 5, "more than the 8 steps of the model"),
        ("decoder", ("--framework", "noop", "--epochs", "2"), 5, "--epochs does not go with --mode generate"),
    ],
)
def test_what_cannot_generate_says_so(model: str, asked: tuple[str, ...], exit_code: int, said: str) -> None:
    ended = start(model, "--mode", "generate", *asked)

    assert ended.returncode == exit_code
    assert said in ended.stderr


def test_generates_by_hand() -> None:
    ended = start("decoder", "--mode", "generate", "--framework", "noop", "--axis", "output=4")

    assert ended.returncode == 0, ended.stderr
    assert "generation  4 tokens after 32, batches of 8" in ended.stdout
    assert "first token" in ended.stdout
