"""The load of requests in a matrix: ids, skips, rules, mistakes and what a container is asked."""

import json
from typing import Any

import pytest

from orchestrator.devices import Allocation
from orchestrator.domain import Cell
from orchestrator.matrix import load as load_matrix
from orchestrator.matrix.long_form import long_form
from orchestrator.modes.parts.frontier import SIZES
from orchestrator.modes.parts.load import REQUESTS, Load, Scenario
from orchestrator.modes.parts.settings import QUICK
from orchestrator.planning import plan as planned_with
from orchestrator.results.contract import Request
from orchestrator.results.records import plan_from_json, plan_to_json
from orchestrator.running.requests import request_for

MODE = "modes: requests\n"
CELL = "mxnet-1.9.1-cpu/lenet-requests-b1"


def asked(cell: Cell) -> Request:
    return request_for(cell, 0, "mxnet", 0, Allocation((0,), ()), pinned=True)


def test_each_scenario_has_the_axes_that_are_its_own(plan: Any) -> None:
    planned = plan(
        MODE + "models: [{name: lenet, batch_size: 1, scenario: [single_stream, offline, server, closed],"
        " concurrency: [1, 8], rate: [20, 0.5], latency_limit: 100ms}]"
    )

    assert plan.ids(planned) == [
        f"{CELL}-latency_limit=0.1s",
        f"{CELL}-scenario=offline-latency_limit=0.1s",
        f"{CELL}-scenario=server-rate=20-latency_limit=0.1s",
        f"{CELL}-scenario=server-rate=0.5-latency_limit=0.1s",
        f"{CELL}-scenario=closed-concurrency=1-latency_limit=0.1s",
        f"{CELL}-scenario=closed-concurrency=8-latency_limit=0.1s",
    ]


def test_request_asks_for_the_load(plan: Any) -> None:
    (cell,) = plan(MODE + "models: [{name: lenet, batch_size: 4, scenario: server, rate: 20, requests: 900}]").cells
    request = asked(cell)

    assert cell.id == "mxnet-1.9.1-cpu/lenet-requests-b4-scenario=server-rate=20-requests=900"
    assert request.load == Load(Scenario.SERVER, 900, rate=20.0)
    assert (request.steps, request.min_blocks, request.latency_steps) == (900, 1, 900)
    assert json.loads(request.model_dump_json())["load"] == {"scenario": "server", "requests": 900, "rate": 20.0}


def test_other_modes_have_no_load(plan: Any) -> None:
    (train, infer) = plan("modes: [train, infer]\nmodels: [lenet]").cells

    assert train.workload.load is infer.workload.load is None
    assert "load" not in json.loads(asked(train).model_dump_json())
    assert "load" not in plan_to_json(plan("models: [lenet]"))["cells"][0]["workload"]


def test_plan_is_read_back_with_its_loads(plan: Any) -> None:
    planned = plan(MODE + "models: [{name: lenet, batch_size: 1, scenario: server, rate: 20, latency_limit: 0.1}]")

    assert plan_from_json(plan_to_json(planned)) == planned


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"load": None}, "the mode requests needs a load"),
        ({"mode": "infer"}, "the mode infer takes no load"),
        ({"rate": None}, "the scenario server has a concurrency if it is closed, and a rate if it is server"),
        ({"rate": 1e9}, "1e+09 is no rate from 0.001 to 1e+06"),
        ({"requests": 0}, "0 is no requests from 1 to 1e+06"),
    ],
)
def test_plan_from_elsewhere_with_a_wrong_load_is_refused(plan: Any, changes: dict[str, Any], said: str) -> None:
    document = plan_to_json(plan(MODE + "models: [{name: lenet, batch_size: 1, scenario: server, rate: 20}]"))
    work = document["cells"][0]["workload"]
    for key, value in changes.items():
        (work if key in {"load", "mode"} else work["load"])[key] = value

    with pytest.raises(Exception, match="the stored plan is not readable") as caught:
        plan_from_json(document)
    assert said in str(caught.value)


def test_batch_that_clients_never_fill_is_skipped(plan: Any) -> None:
    planned = plan(MODE + "models: [{name: lenet, batch_size: [1, 8], scenario: [single_stream, server], rate: 9}]")

    assert len(planned.cells) == 3
    assert plan.skips(planned) == {
        "mxnet-1.9.1-cpu/lenet-requests-b8": "1 request under way cannot fill a batch of 8, which is computed in full; "
        "give a batch_size of at most 1"
    }


def test_rules_name_loads(plan: Any) -> None:
    planned = plan(
        MODE + "models: [{name: lenet, batch_size: 1, scenario: [single_stream, server], rate: [10, 20]}]\n"
        "exclude: [{rate: 10}]\n"
        "include: [{scenario: server, repeats: 7},"
        " {framework: mxnet==1.9.1, system: cpu, model: lenet, scenario: closed, concurrency: 4}]"
    )

    repeats = {cell.id.removeprefix(CELL): cell.repeats for cell in planned.cells}
    assert repeats == {"": 3, "-scenario=server-rate=20": 7, "-scenario=closed-concurrency=4": 3}


def test_smoke_run_asks_for_few_requests(plan: Any, known: Any, models: Any) -> None:
    plan.path.write_text(
        "version: 1\nframeworks: [mxnet==1.9.1]\nmodels: [{name: lenet, batch_size: 1}]\nmodes: requests\n"
    )
    loaded = load_matrix(plan.path, known, models)
    (cell,) = planned_with(loaded, known, models, profile=QUICK).cells

    assert cell.workload.load == Load(requests=REQUESTS)
    assert asked(cell).load == Load(requests=QUICK.steps)


def test_long_form_holds_what_was_set(plan: Any, known: Any, models: Any) -> None:
    plan(MODE + "models: [{name: lenet, batch_size: 1, scenario: server, rate: 20, latency_limit: 100ms}]")
    (entry,) = long_form(load_matrix(plan.path, known, models))["models"]

    assert {key: entry[key] for key in ("scenario", "rate", "latency_limit")} == {
        "scenario": ["server"], "rate": [20.0], "latency_limit": [0.1],
    }  # fmt: skip
    assert "concurrency" not in entry


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models: [{name: lenet, rate: 5}]", "models: belongs to the mode requests; add it to modes, or drop this"),
        (
            MODE + "models: [{name: lenet, rate: 5}]",
            "models: belongs to the scenario 'server'; add scenario: server, or",
        ),
        (MODE + "models: [{name: lenet, concurrency: 5}]", "models: belongs to the scenario 'closed'; add scenario:"),
        (MODE + "models: [{name: lenet, scenario: server}]", "'server' needs rate, as in rate: 20"),
        (MODE + "models: [{name: lenet, scenario: closed}]", "'closed' needs concurrency, as in concurrency: 8"),
        (MODE + "models: [{name: lenet, scenario: sever, rate: 5}]", "not 'sever'; did you mean 'server'?"),
        (MODE + "models: [{name: lenet, scenario: server, rate: 0}]", "rate: should be at least 0.001, not 0"),
        (MODE + "models: [{name: lenet, latency_limit: 5m}]", "'5m' is no latency; write 100ms, 1.5s or a number of"),
        (MODE + "models: [{name: lenet, latency_limit: 0}]", "0 is no latency from 1 microsecond to 30 days"),
        (MODE + "models: [{name: lenet, requests: 0}]", "requests: should be at least 1, not 0"),
        (
            "models: [{name: lenet, batch_size: [8, frontier]}]",
            "'frontier' stands for all batch sizes; drop the others",
        ),
        ("models: [lenet]\nexclude: [{batch_size: frontier}]", "batch_size"),
    ],
)
def test_mistake_is_one_line_with_its_place(plan: Any, text: str, said: str) -> None:
    refusal = plan.refusal(text)

    assert len(refusal.splitlines()) == 1
    assert refusal.startswith("m.yaml:")
    assert said in refusal


def test_frontier_stands_for_all_sizes(plan: Any) -> None:
    """A frontier has a cell for each size that the samples fill, and limits that are no axis."""
    planned = plan("modes: infer\nmodels: [{name: lenet, batch_size: frontier, latency_limit: [10ms, 1s]}]")

    assert [cell.workload.batch_size for cell in planned.cells] == list(SIZES)
    assert {cell.frontier and cell.frontier.latency_limits_s for cell in planned.cells} == {(0.01, 1.0)}
    assert plan_from_json(plan_to_json(planned)) == planned


def test_training_has_no_frontier(plan: Any) -> None:
    planned = plan("modes: [train, infer]\nmodels: [{name: lenet, batch_size: frontier}]")

    assert {cell.workload.mode.value for cell in planned.cells} == {"infer"}
    assert set(plan.skips(planned).values()) == {"the frontier is that of inference; the mode train has none"}


def test_limit_counts_the_whole_grid(plan: Any) -> None:
    refusal = plan.refusal("modes: infer\nmodels: [{name: lenet, batch_size: frontier}]", limit=3)

    assert f"expands to {len(SIZES)} cells" in refusal
