"""`batch_size: max` in a matrix: ids, skips, rules and what a container is asked."""

import json
from typing import Any

import pytest

from orchestrator.devices import Allocation
from orchestrator.modes.parts.largest_batch import LARGEST_BATCH, STEPS
from orchestrator.modes.parts.settings import QUICK
from orchestrator.planning import plan as planned_with
from orchestrator.results.records import plan_from_json, plan_to_json
from orchestrator.running.requests import request_for

GPU = "systems: {1_gpu: {gpus: 1}}\n"
SEARCH = "mxnet-1.9.1-1_gpu/lenet-train-bmax"


def asked(cell: Any) -> Any:
    return request_for(cell, 0, "mxnet", 0, Allocation((0,), ()), pinned=True)


def test_max_is_a_batch_size_beside_numbers(plan: Any) -> None:
    planned = plan(GPU + "models: [{name: lenet, batch_size: [128, max]}]")

    assert plan.ids(planned) == ["mxnet-1.9.1-1_gpu/lenet-train-b128", SEARCH]
    timed, search = planned.cells
    assert (timed.workload.searches, search.workload.searches) == (False, True)
    assert search.workload.rules.metrics == search.workload.rules.columns == (LARGEST_BATCH,)
    assert search.duration == STEPS


def test_a_search_begins_with_the_model(plan: Any) -> None:
    """The request has the model's own batch size, on several GPUs for each of them, and no more than a dataset."""
    (lenet,) = plan(GPU + "models: [{name: lenet, batch_size: max}]").cells
    (four,) = plan("systems: {4_gpu: {gpus: 4}}\nmodels: [{name: lenet, batch_size: max}]").cells

    assert (asked(lenet).batch_size, asked(lenet).largest_batch) == (200, True)
    assert asked(four).batch_size == 800
    assert (asked(lenet).steps, asked(lenet).latency_steps, asked(lenet).min_blocks) == (2, 0, 1)


@pytest.mark.parametrize(
    ("system", "scaling", "reason"),
    [
        ("cpu: {}", "weak", "the largest batch is that of a GPU's memory, and cpu has no GPU"),
        ("4_gpu: {gpus: 4}", "strong", "the largest batch is looked for with scaling: weak"),
    ],
)
def test_a_search_without_sense_is_skipped(plan: Any, system: str, scaling: str, reason: str) -> None:
    model = f"{{name: lenet, batch_size: [8, max], scaling: {scaling}}}"
    planned = plan(f"systems: {{{system}}}\nmodels: [{model}]")

    (skip,) = planned.skips
    assert "lenet-train-bmax" in skip.cell_id
    assert skip.reason == reason
    assert len(planned.cells) == 1


def test_rules_name_max(plan: Any) -> None:
    planned = plan(
        GPU + "models: [{name: lenet, batch_size: [200, max]}]\n"
        "exclude: [{batch_size: 200}]\n"
        "include: [{batch_size: max, expect: oom_device}]\n"
    )

    (cell,) = planned.cells
    assert (cell.id, cell.expect) == (SEARCH, "oom_device")


def test_a_rule_adds_a_search(plan: Any) -> None:
    planned = plan(GPU + "include: [{framework: mxnet==1.9.1, system: 1_gpu, model: lenet, batch_size: max}]")

    assert plan.ids(planned) == ["mxnet-1.9.1-1_gpu/lenet-train-b200", SEARCH]


def test_another_word_is_refused_with_its_place(plan: Any) -> None:
    said = plan.refusal("models: [{name: lenet, batch_size: most}]")

    assert said.startswith("m.yaml:1:36: models.batch_size: ")
    assert "a whole number" in said


def test_numbered_batches_are_stored_as_before(plan: Any) -> None:
    """No document of a plan or a request has a key of searches unless there is one."""
    timed = plan(GPU + "models: [lenet]")
    search = plan(GPU + "models: [{name: lenet, batch_size: max}]")

    assert "searches" not in json.dumps(plan_to_json(timed))
    assert "largest_batch" not in asked(timed.cells[0]).model_dump_json()
    assert plan_from_json(plan_to_json(search)) == search


def test_a_profile_leaves_a_search_as_it_is(plan: Any, known: Any, models: Any) -> None:
    from orchestrator import matrix

    plan(GPU + "models: [{name: lenet, batch_size: max}]")
    loaded = matrix.load(plan.path, known, models)

    (cell,) = planned_with(loaded, known, models, profile=QUICK).cells
    assert (cell.id, cell.duration, cell.repeats) == (SEARCH, STEPS, min(loaded.repeats, QUICK.repeats))
