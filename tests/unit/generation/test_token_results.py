"""Results of generation: what is refused, and which figures and metrics come of one."""

from typing import Any

import pytest

from orchestrator.analysis.measurements import repeat_measurement
from orchestrator.modes import METRICS, RULES
from orchestrator.modes.parts.lengths import Generation
from orchestrator.results.contract import Block, Request, Result
from orchestrator.results.parts.generation import StoredTokenTimes
from orchestrator.running.classify import discrepancy
from tests.unit.running.running_fakes import result_for

LENGTHS = Generation(8, 4)
GENERATIONS, BLOCKS, BATCH = 60, 10, 2
FIRST_S, NEXT_S = 0.05, 0.01
WHOLE_S = FIRST_S + 3 * NEXT_S


def request(**changes: Any) -> Request:
    fields = {
        "cell": "fake-1-cpu/c", "repeat": 0, "framework": "fake", "builder": "fakebuilder", "model": "decoder",
        "mode": "generate", "generation": LENGTHS, "batch_size": BATCH, "steps": 50, "latency_steps": 0,
    }  # fmt: skip
    return Request(**fields | changes)


def result(**changes: Any) -> Result:
    """A result of generations that all take the same times."""
    each = GENERATIONS // BLOCKS
    block = Block(steps=each, samples=each * BATCH * 4, wall_s=each * WHOLE_S, cpu_s=each * WHOLE_S)
    whole = Result.model_validate(result_for(request().model_dump()))
    fields = {
        "first_step": Block(steps=1, samples=BATCH * 4, wall_s=WHOLE_S, cpu_s=WHOLE_S),
        "warmup": (),
        "blocks": (block,) * BLOCKS,
        "latency_s": (WHOLE_S,) * GENERATIONS,
        "latency_conditions": None,
        "loss": None,
        "generation": StoredTokenTimes(
            first_token_s=(FIRST_S,) * GENERATIONS, between_tokens_s=(NEXT_S,) * (3 * GENERATIONS)
        ),
    }
    return whole.model_copy(update=fields | changes)


def test_result_is_what_was_asked() -> None:
    assert discrepancy(request(), result()) is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"generation": None}, "result.json has no times of tokens; the mode is generate"),
        (
            {"generation": StoredTokenTimes(first_token_s=(1.0,), between_tokens_s=())},
            "has the times of 1 first and 0 further tokens; 60 generations of 4 tokens were timed",
        ),
        ({"latency_s": (WHOLE_S,)}, "has 1 latencies of 60 generations"),
        ({"latency_s": (0.5,) * GENERATIONS}, "has a generation of 0.5 s, whose tokens took 0.08 s"),
        (
            {"first_step": Block(steps=1, samples=BATCH, wall_s=WHOLE_S, cpu_s=0.0)},
            "counts 2 samples in 1 steps of 8",
        ),
        (
            {"blocks": (Block(steps=60, samples=480, wall_s=60 * WHOLE_S, cpu_s=0.0),)},
            "has 1 timed blocks; at least 10 were asked for",
        ),
    ],
)
def test_wrong_result_is_told(changes: dict[str, Any], said: str) -> None:
    wrong = discrepancy(request(), result(**changes))

    assert wrong is not None
    assert said in wrong


def test_times_of_tokens_belong_to_the_mode() -> None:
    wrong = discrepancy(request(mode="infer", generation=None), result())

    assert wrong == "result.json has times of tokens; the mode is infer"


def test_metrics_are_those_of_the_engine() -> None:
    measured = repeat_measurement(result(), None)

    values = {metric.name: metric.take(measured) for metric in RULES["generate"].metrics if metric.take}
    assert values["throughput"] == pytest.approx(BATCH * 4 / WHOLE_S)
    assert values["time_to_first_token"] == pytest.approx(FIRST_S)
    assert values["time_per_output_token"] == pytest.approx(NEXT_S)
    assert values["inter_token_latency_p50"] == pytest.approx(NEXT_S)
    assert values["inter_token_latency_p90"] is None  # 180 times of 60 generations bound no 90th percentile
    assert values["inter_token_latency_p99"] is None
    assert measured.latency is not None
    assert measured.latency.p50_s == pytest.approx(WHOLE_S)
    assert measured.tokens is not None
    assert measured.tokens.prefill == pytest.approx(FIRST_S / WHOLE_S)


def test_metrics_take_no_more_of_alpha() -> None:
    """The mode with the most metrics sets the levels of all, and it stays training."""
    counts = {mode: len(rules.metrics) for mode, rules in RULES.items()}

    assert counts["generate"] <= counts["train"] == max(counts.values())


def test_commands_know_the_metrics() -> None:
    names = {metric.name for metric in METRICS}

    assert {"time_to_first_token", "time_per_output_token", "inter_token_latency_p99"} <= names
