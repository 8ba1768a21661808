"""The scaling over several GPUs as an axis: ids, which cells there are, and the batch that a container is asked for."""

import json
from typing import Any

from orchestrator.devices import Allocation
from orchestrator.modes.parts.settings import Scaling
from orchestrator.results.records import plan_from_json, plan_to_json
from orchestrator.running.requests import request_for

SYSTEMS = "systems: {1_gpu: {gpus: 1}, 4_gpu: {gpus: 4}}\n"
ONE, FOUR = "mxnet-1.9.1-1_gpu/lenet-train-b200", "mxnet-1.9.1-4_gpu/lenet-train-b200"


def batches(planned: Any) -> dict[str, int]:
    """The batch of the request of every cell, by its id."""
    return {
        cell.id: request_for(cell, 0, "mxnet", 0, Allocation((0,), ()), pinned=True).batch_size
        for cell in planned.cells
    }


def test_the_batch_is_per_device(plan: Any) -> None:
    """By default each GPU takes `batch_size` samples, and the harness counts those of all."""
    assert batches(plan(SYSTEMS + "models: [lenet]")) == {ONE: 200, FOUR: 800}


def test_strong_scaling_divides_the_batch(plan: Any) -> None:
    """One device does the same work by any scaling, and has one cell, to which those of several are compared."""
    both = plan(SYSTEMS + "models: [{name: lenet, scaling: [weak, strong]}]")
    strong = plan(SYSTEMS + "models: [{name: lenet, scaling: strong}]")

    assert batches(both) == {ONE: 200, FOUR: 800, f"{FOUR}-scaling=strong": 200}
    assert batches(strong) == {ONE: 200, f"{FOUR}-scaling=strong": 200}


def test_inference_is_not_shared(plan: Any) -> None:
    planned = plan(SYSTEMS + "modes: [infer]\nmodels: [{name: lenet, scaling: [weak, strong]}]")

    assert [cell.workload.scaling for cell in planned.cells] == [Scaling.WEAK, Scaling.WEAK]
    assert set(batches(planned).values()) == {200}


def test_a_batch_that_does_not_divide_is_skipped(plan: Any) -> None:
    planned = plan(SYSTEMS + "models: [{name: lenet, batch_size: 30, scaling: [weak, strong]}]")

    assert [(skip.cell_id, skip.reason) for skip in planned.skips] == [
        ("mxnet-1.9.1-4_gpu/lenet-train-b30-scaling=strong", "a batch of 30 is not divided evenly by 4 GPUs")
    ]


def test_a_global_batch_beyond_the_samples_is_skipped(plan: Any) -> None:
    planned = plan(SYSTEMS + "models: [{name: lenet, dataset: mnist, batch_size: 20000}]")

    (skip,) = planned.skips
    assert skip.reason == "a batch of 80000 on 4 GPUs is more than the 60000 training samples of mnist"


def test_rules_name_scalings(plan: Any) -> None:
    planned = plan(
        SYSTEMS + "models: [{name: lenet, scaling: [weak, strong]}]\n"
        "exclude: [{scaling: weak, system: 4_gpu}]\n"
        "include: [{framework: mxnet==1.9.0, system: 4_gpu, model: lenet, scaling: strong}]\n"
    )

    assert plan.ids(planned) == [
        ONE, f"{FOUR}-scaling=strong", "mxnet-1.9.0-4_gpu/lenet-train-b200-scaling=strong",
    ]  # fmt: skip


def test_weak_scaling_is_in_no_document(plan: Any) -> None:
    weak = plan(SYSTEMS + "models: [lenet]")
    strong = plan(SYSTEMS + "models: [{name: lenet, scaling: strong}]")

    assert "scaling" not in json.dumps(plan_to_json(weak))
    assert plan_to_json(strong)["cells"][1]["workload"]["scaling"] == "strong"
    assert plan_from_json(plan_to_json(strong)) == strong


def test_a_wrong_scaling_is_refused_with_its_place(plan: Any) -> None:
    said = "should be 'weak' or 'strong', not 'string'; did you mean 'strong'?"

    assert said in plan.refusal("models: [{name: lenet, scaling: string}]")
