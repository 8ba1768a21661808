"""Operators in a plan: operator and size are in the id, and their results hold what parity would ask."""

from orchestrator import matrix, planning
from orchestrator.catalog import shipped_catalog
from orchestrator.devices import Allocation
from orchestrator.domain import Duration
from orchestrator.modes import AXES, RULES
from orchestrator.modes.parts.settings import QUICK
from orchestrator.planning import Selection
from orchestrator.planning.cost import durations
from orchestrator.results.records import plan_from_json, plan_to_json
from orchestrator.running.requests import request_for
from tests.unit.planning.conftest import ASSUMED, Planner

HEAD = "models: [lenet]\n"


def test_operator_and_size_are_in_the_id(plan: Planner) -> None:
    planned = plan("ops: [{operator: [gemm, dot], size: [50, 60]}]\nsystems: {cpu: {cpus: 1}}")

    assert [each.partition("/")[2] for each in plan.ids(planned) if "-ops" in each] == [
        "gemm-ops-size=50", "gemm-ops-size=60", "dot-ops-size=50", "dot-ops-size=60",
    ]  # fmt: skip


def test_seeds_off_their_default_are_in_the_id(plan: Planner) -> None:
    planned = plan("ops: [{operator: gemm, size: 50, seeds: [20, 4], tries: [5, 6]}]")

    assert [each.partition("/")[2] for each in plan.ids(planned) if "-ops" in each] == [
        "gemm-ops-size=50", "gemm-ops-size=50-tries=6", "gemm-ops-size=50-seeds=4", "gemm-ops-size=50-seeds=4-tries=6",
    ]  # fmt: skip


def test_an_operator_has_sizes_of_its_own(plan: Planner) -> None:
    sizes = {
        name: [dict(cell.workload.axes)["size"] for cell in plan(f"ops: [{name}]").cells if cell.workload.axes]
        for name in ("gemm", "dot")
    }

    assert (min(sizes["gemm"]), max(sizes["gemm"])) == (50, 550)
    assert (min(sizes["dot"]), max(sizes["dot"])) == (500, 95_000)


def test_cells_of_models_are_as_without_operators(plan: Planner) -> None:
    without, beside = plan(HEAD), plan(HEAD + "ops: [gemm]")

    of_models = [cell for cell in beside.cells if not cell.workload.axes]
    assert of_models == list(without.cells)
    assert planning.checks(beside) == planning.checks(without)
    assert "axes" not in str(plan_to_json(without))


def test_a_plan_with_operators_is_read_back(plan: Planner) -> None:
    planned = plan("ops: [{operator: gemm, size: 50}]")

    assert plan_from_json(plan_to_json(planned)) == planned


def test_a_request_asks_for_every_call(plan: Planner) -> None:
    planned = plan("ops: [{operator: gemm, size: 50, seeds: 4, tries: 3}]\nepochs: 2")
    (cell,) = (each for each in planned.cells if each.workload.axes)

    request = request_for(cell, 0, "mxnet", 7, Allocation((0,)), pinned=True)

    assert (request.model, request.mode, request.axes) == ("gemm", "ops", {"size": 50, "seeds": 4, "tries": 3})
    assert (request.steps, request.epochs, request.min_blocks, request.latency_steps) == (12, None, 4, 12)
    assert request.min_block_s == 0


def test_a_request_for_a_model_has_no_axes(plan: Planner) -> None:
    cell = plan(HEAD).cells[0]

    assert "axes" not in request_for(cell, 0, "mxnet", 7, Allocation((0,)), pinned=True).model_dump()


def test_a_smoke_run_takes_the_extreme_sizes(plan: Planner) -> None:
    """A smoke run takes the smallest and the largest size of an operator and skips the others."""
    loaded = matrix.load(plan.path, plan.known, plan.models) if plan("ops: [gemm]") else None
    assert loaded is not None

    planned = planning.plan(loaded, plan.known, plan.models, profile=QUICK)

    sizes = [dict(cell.workload.axes)["size"] for cell in planned.cells if cell.workload.axes]
    assert sizes == [50, 550]
    assert len([skip for skip in planned.skips if "gemm-ops" in skip.cell_id]) == 4


def test_a_smoke_run_times_five_calls(plan: Planner) -> None:
    """A smoke run times at most five calls of an operator, under the ids of the full run."""
    text = "ops: [{operator: gemm, size: 50, seeds: [20, 4], tries: [5, 1]}]\nwarmup_steps: 3"
    full = plan(text, select=("*-ops-*",))
    loaded = matrix.load(plan.path, plan.known, plan.models)

    cells = planning.plan(loaded, plan.known, plan.models, Selection(("*-ops-*",)), profile=QUICK).cells

    assert [cell.id for cell in cells] == plan.ids(full)
    assert [cell.workload for cell in cells] == [cell.workload for cell in full.cells]
    assert [cell.duration for cell in cells] == [
        *[Duration(1, 5, None, 5, 5)] * 2, *[Duration(1, 4, None, 4, 4)] * 2,
    ]  # fmt: skip
    requests = [request_for(cell, 0, "mxnet", 7, Allocation((0,)), pinned=True) for cell in cells]
    assert [request.axes for request in requests] == [
        *[{"size": 50, "seeds": 5, "tries": 1}] * 2, *[{"size": 50, "seeds": 4, "tries": 1}] * 2,
    ]  # fmt: skip
    assert [(request.min_blocks, request.latency_steps) for request in requests] == [(5, 5), (5, 5), (4, 4), (4, 4)]


def test_globs_and_rules_choose_operators(plan: Planner) -> None:
    text = "ops: [{operator: [gemm, dot], size: 50}]\nexclude: [{model: dot, mode: ops}]"

    planned = plan(text, select=("*-ops-*",))

    assert [each.partition("/")[2] for each in plan.ids(planned)] == ["gemm-ops-size=50"]
    assert [each.partition("/")[2] for each in plan.skips(planned)] == ["dot-ops-size=50"]


def test_an_estimate_counts_calls(plan: Planner) -> None:
    few, many = (
        planning.estimate(
            plan(f"ops: [{{operator: gemm, size: 50, seeds: {seeds}}}]", select=("*-ops-*",)),
            plan.known,
            planning.Known(plan.models, {}, ASSUMED),
        ).run_s
        for seeds in (10, 1000)
    )

    assert many - few == 3 * 990 * 5 * 0.005
    assert few < 3 * (durations.CALLS_START_S + 1)  # a container that calls one operator has no model to build


def test_the_latency_of_an_operator_is_better_lower() -> None:
    metrics = {metric.name: metric for metric in RULES["ops"].metrics}

    assert [metrics[name].better.value for name in ("operator_latency", "operator_mean")] == ["lower", "lower"]
    assert [metric.name for metric in metrics.values() if metric.gates] == ["throughput"]


def test_rules_may_name_operator_axes(plan: Planner) -> None:
    """A rule of a matrix may name the axes of an operator."""
    ops = "ops: [{operator: [gemm, flatten], size: [50, 60], tries: [5, 6]}]\n"
    rules = "exclude: [{model: gemm, size: 60}, {mode: ops, size: [50, 70], tries: 6}]"

    planned = plan(ops + rules)

    assert [each.partition("/")[2] for each in plan.ids(planned) if "-ops" in each] == [
        "gemm-ops-size=50", "flatten-ops-size=50", "flatten-ops-size=60", "flatten-ops-size=60-tries=6",
    ]  # fmt: skip


def test_model_cells_have_no_operator_axes(plan: Planner) -> None:
    """No cell of a model has the axes of an operator, so that a rule with one leaves it alone."""
    planned = plan(HEAD + "ops: [{operator: gemm, size: 50}]\nexclude: [{size: 50}]")

    assert [cell.workload.model for cell in planned.cells] == ["lenet"] * len(planned.cells)


def test_no_option_is_called_as_an_axis() -> None:
    """A rule names both side by side."""
    catalog = shipped_catalog()

    assert not AXES & {option for name in catalog.names() for option in catalog.options(name)}
