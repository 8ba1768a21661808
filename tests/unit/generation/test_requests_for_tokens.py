"""Requests for tokens, from the matrix to the request of a container, and from a result to its figures."""

import json
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.analysis.measurements import RepeatMeasurement, measurement, repeat_measurement
from orchestrator.devices import Allocation
from orchestrator.domain import Cell, Mode, Outcome, Status, Workload
from orchestrator.matrix import load as load_matrix
from orchestrator.matrix.long_form import long_form
from orchestrator.modes import BY_TOKENS, RULES
from orchestrator.modes.parts.lengths import Generation
from orchestrator.modes.parts.load import Load, Scenario
from orchestrator.modes.parts.rules import GENERATION
from orchestrator.planning.cost.durations import Assumed, Durations
from orchestrator.planning.parity import check_id, checks
from orchestrator.reporting.findings import shared_texts
from orchestrator.reporting.findings.model import CellReport, Repeat
from orchestrator.reporting.findings.tables import under_load
from orchestrator.results.contract import Block, Request, Result
from orchestrator.results.parts.generation import StoredTokenTimes
from orchestrator.results.parts.requests import RequestMoments
from orchestrator.results.records import plan_from_json, plan_to_json
from orchestrator.running.classify import discrepancy
from orchestrator.running.requests import request_for
from tests.unit.running.running_fakes import a_cell, result_for

MODE = "modes: requests\n"
CELL = "mxnet-1.9.1-cpu/decoder-requests-b1-size=tiny"
COUNT, OUTPUT, FIRST_S, NEXT_S = 1000, 4, 0.05, 0.01
LOAD = Load(Scenario.SERVER, COUNT, rate=5.0, latency_limit_s=0.1, first_token_limit_s=0.07, per_token_limit_s=0.02)


def asked(cell: Cell) -> Request:
    return request_for(cell, 0, "mxnet", 0, Allocation((0,), ()), pinned=True)


def test_written_lengths_ask_for_tokens(plan: Any) -> None:
    """Without any a request is for one sample, and both stand side by side."""
    (tokens,) = plan(MODE + "models: [{name: decoder, batch_size: 1, prompt_length: 32}]").cells
    (sample,) = plan(MODE + "models: [{name: decoder, batch_size: 1}]").cells

    assert (tokens.id, sample.id) == (f"{CELL}-prompt_length=32-output_length=32", CELL)
    assert tokens.workload.rules is BY_TOKENS["requests"]
    assert sample.workload.rules is RULES["requests"]
    assert (tokens.samples_of_a_step, sample.samples_of_a_step) == (1, 1)


def test_lengths_serve_both_modes(plan: Any) -> None:
    planned = plan("modes: [infer, generate, requests]\nmodels: [{name: decoder, batch_size: 1, output_length: 8}]")

    lengths = {cell.workload.mode.value: cell.workload.generation for cell in planned.cells}
    assert lengths == {"infer": None, "generate": Generation(32, 8), "requests": Generation(32, 8)}
    assert [check.generation for check in checks(planned)] == [None, Generation(32, 8)]
    assert len({check_id(cell) for cell in planned.cells if cell.workload.generation}) == 1


def test_request_asks_for_load_and_lengths(plan: Any) -> None:
    (cell,) = plan(
        MODE + "models: [{name: decoder, batch_size: 4, output_length: 8, scenario: server, rate: 5,"
        " latency_limit: 2s, first_token_limit: 200ms, per_token_limit: 50ms}]"
    ).cells
    document = json.loads(asked(cell).model_dump_json())

    assert document["generation"] == {"prompt": 32, "output": 8}
    assert document["load"] == {
        "scenario": "server", "requests": 662, "rate": 5.0, "latency_limit_s": 2.0, "first_token_limit_s": 0.2,
        "per_token_limit_s": 0.05,
    }  # fmt: skip
    assert "-latency_limit=2s-first_token_limit=0.2s-per_token_limit=0.05s-prompt_length=32" in cell.id


def test_plan_is_read_back(plan: Any) -> None:
    planned = plan(MODE + "models: [{name: decoder, batch_size: 1, output_length: 8, first_token_limit: 10ms}]")

    assert plan_from_json(plan_to_json(planned)) == planned


def test_limits_are_axes_and_rules_name_them(plan: Any, known: Any, models: Any) -> None:
    text = (
        MODE + "models: [{name: decoder, batch_size: 1, output_length: 8, first_token_limit: [10ms, 20ms]}]\n"
        "exclude: [{first_token_limit: 10ms}]"
    )
    planned = plan(text)

    assert [cell.workload.load and cell.workload.load.first_token_limit_s for cell in planned.cells] == [0.02]
    (entry,) = long_form(load_matrix(plan.path, known, models))["models"]
    assert (entry["first_token_limit"], entry["output_length"]) == ([0.01, 0.02], [8])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            MODE + "models: [{name: decoder, first_token_limit: 5ms}]",
            "belongs to requests for tokens; add prompt_length or output_length, or drop this",
        ),
        (MODE + "models: [{name: decoder, output_length: 8, per_token_limit: 0}]", "0 is no latency from"),
        (MODE + "models: [{name: lenet, output_length: 8}]", "lenet cannot generate: it does not take tokens"),
    ],
)
def test_mistake_is_one_line_with_its_place(plan: Any, text: str, said: str) -> None:
    refusal = plan.refusal(text)

    assert len(refusal.splitlines()) == 1
    assert refusal.startswith("m.yaml:")
    assert said in refusal


def test_estimate_counts_whole_answers(plan: Any, models: Any) -> None:
    """So many requests take as long as so many generations."""
    (requests,) = plan(MODE + "models: [{name: decoder, batch_size: 1, output_length: 32, requests: 1000}]").cells
    (generate,) = plan("modes: generate\nsteps: 1000\nmodels: [{name: decoder, batch_size: 1}]").cells
    durations = Durations(models, {}, Assumed(50, 30.0), ())

    of_requests, of_generations = (durations.container(each, "torch").wall_s for each in (requests, generate))
    assert of_requests == pytest.approx(of_generations, rel=0.05)


def request(**changes: Any) -> Request:
    fields = {
        "cell": "fake-1-cpu/c", "repeat": 0, "framework": "fake", "builder": "fakebuilder", "model": "decoder",
        "mode": "requests", "generation": Generation(8, OUTPUT), "load": LOAD, "batch_size": 2, "steps": COUNT,
        "min_blocks": 1,
    }  # fmt: skip
    return Request(**fields | changes)


def result(**changes: Any) -> Result:
    """A result of which every tenth request waits for 30 ms, and the tokens of every fourth come late."""
    waited = [0.03 if number % 10 == 0 else 0.0 for number in range(COUNT)]
    gaps = [3 * NEXT_S if number % 4 == 1 else NEXT_S for number in range(COUNT)]
    fields = {
        "blocks": (Block(steps=COUNT // 2, samples=COUNT, wall_s=200.0, cpu_s=200.0),),
        "latency_s": tuple(each + FIRST_S + 3 * gap for each, gap in zip(waited, gaps, strict=True)),
        "latency_conditions": None,
        "loss": None,
        "requests": RequestMoments(arrival_s=tuple(0.2 * number for number in range(COUNT)), waited_s=tuple(waited)),
        "generation": StoredTokenTimes(
            first_token_s=tuple(each + FIRST_S for each in waited),
            between_tokens_s=tuple(gap for gap in gaps for _ in range(3)),
        ),
    }
    whole = Result.model_validate(result_for(request(load=None, mode="generate").model_dump()))
    return whole.model_copy(update=fields | changes)


def measured(load: Load = LOAD) -> RepeatMeasurement:
    return repeat_measurement(result(), None, load=load)


def test_result_is_what_was_asked() -> None:
    assert discrepancy(request(), result()) is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"generation": None}, "result.json has no times of tokens; the mode is requests"),
        ({"requests": None}, "result.json has no requests; the mode is requests"),
        (
            {"generation": StoredTokenTimes(first_token_s=(FIRST_S,), between_tokens_s=(NEXT_S,) * 3)},
            "has the times of 1 first and 3 further tokens; 1000 generations of 4 tokens were timed",
        ),
    ],
)
def test_wrong_result_is_told(changes: dict[str, Any], said: str) -> None:
    wrong = discrepancy(request(), result(**changes))

    assert wrong is not None
    assert said in wrong


def test_metrics_are_those_of_the_engine() -> None:
    """A tenth waits too long for its first token, and of the others a quarter for the next ones."""
    rules, figures = BY_TOKENS["requests"], measured()
    values = {metric.name: metric.take(figures) for metric in (*rules.metrics, *rules.columns) if metric.take}

    assert values["throughput"] == pytest.approx(COUNT / 200)
    assert values["output_tokens_per_s"] == pytest.approx(COUNT / 200 * OUTPUT)
    assert values["time_to_first_token"] == pytest.approx(FIRST_S)
    assert values["time_per_output_token"] == pytest.approx(NEXT_S)
    assert values["inter_token_latency_p90"] == pytest.approx(3 * NEXT_S)
    assert values["goodput"] == pytest.approx((1 - 0.1 - 0.25) * COUNT / 200)


def test_tails_are_of_requests() -> None:
    answered = measured().requests

    assert answered is not None
    assert answered.first_token is not None
    assert answered.first_token.p99_s == pytest.approx(FIRST_S + 0.03)
    assert answered.first_token.p99_bound_s == pytest.approx(FIRST_S + 0.03)
    assert answered.per_token is not None
    assert answered.per_token.p99_s == pytest.approx(3 * NEXT_S)


def test_requests_of_one_batch_bound_as_one() -> None:
    """So few batches bound no 99th percentile, however many requests and gaps they have."""
    pairs = tuple(0.4 * (number // 2) for number in range(COUNT))
    moments = RequestMoments(arrival_s=pairs, waited_s=(0.03,) * COUNT)
    times = repeat_measurement(result(requests=moments), None, load=LOAD).tokens

    assert times is not None
    assert times.between_p90_bound_s == pytest.approx(3 * NEXT_S)
    assert (times.between_p99_s, times.between_p99_bound_s) == (None, None)


def test_requests_at_once_have_no_time_of_a_first_token() -> None:
    moments = RequestMoments(arrival_s=(0.0,) * COUNT, waited_s=tuple(0.1 * number for number in range(COUNT)))
    figures = repeat_measurement(result(requests=moments), None, load=Load(Scenario.OFFLINE, COUNT))

    assert figures.tokens is not None
    assert (figures.tokens.first_token_s, figures.latency) == (None, None)
    assert figures.tokens.per_token_s == pytest.approx(NEXT_S)
    assert figures.requests is not None
    assert figures.requests.first_token is None


def test_each_limit_counts_by_itself() -> None:
    bare = replace(LOAD, latency_limit_s=None, first_token_limit_s=None, per_token_limit_s=None)
    shares = [
        (bare, None),
        (replace(bare, first_token_limit_s=0.07), 0.9),
        (replace(bare, per_token_limit_s=0.02), 0.75),
    ]

    for load, expected in shares:
        answered = measured(load).requests
        assert answered is not None
        assert answered.in_time == (None if expected is None else pytest.approx(expected))


def test_metrics_take_no_more_of_alpha() -> None:
    """The mode with the most metrics that inform sets the levels of all, and it stays training."""
    rules = BY_TOKENS["requests"]
    informing = [sum(not metric.gates for metric in each.metrics) for each in (rules, RULES["train"])]

    assert informing[0] <= informing[1]
    assert len(rules.metrics) <= len(RULES["train"].metrics)
    assert {"time_to_first_token", "time_per_output_token", "goodput"} <= {metric.name for metric in rules.metrics}
    assert rules.parity is GENERATION is RULES["generate"].parity


def test_report_has_the_tails_of_tokens() -> None:
    """Next to the latencies: both tails, each with its bound, and the share that is within all three limits."""
    work = Workload("decoder", Mode("requests"), 2, load=LOAD, generation=Generation(8, OUTPUT))
    cell, figures = replace(a_cell(), workload=work), measured()
    report = CellReport(
        cell=cell,
        label="fake 1",
        repeats=(Repeat(Outcome(cell.id, 0, Status.OK), figures),),
        statuses=((Status.OK, 1),),
        measurement=measurement([figures], [result().latency_s]),
        facts=(),
    )

    ((_, *shown),) = shared_texts.metric_rows([report])
    metrics = dict(zip(shared_texts.metric_heads([report])[1:], shown, strict=True))
    assert metrics["between tokens, median"] == "10.0 ms"
    assert metrics["between tokens, 90th percentile"] == "30.0 ms, at most 30.0 ms"
    assert "early stopping of MLPerf over whole generations" in shared_texts.metrics_note([report])
    (row,) = under_load.rows([report])
    told = dict(zip(under_load.heads([report]), row, strict=True))
    assert told["First token p99, at most"] == "80.0 ms, 80.0 ms"
    assert told["Per token p99, at most"] == "30.0 ms, 30.0 ms"
    assert told["Within 100 ms, first token 70.0 ms, per token 20.0 ms"] == "65 %"
    assert told["99 % of them"] == "late"
