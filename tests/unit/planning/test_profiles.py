"""A plan under a profile: few steps of every cell, under the ids that they then have."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from orchestrator import matrix, planning
from orchestrator.domain import Duration, Mode, Plan, Workload
from orchestrator.errors import InputError
from orchestrator.matrix import Settings
from orchestrator.modes.parts.settings import QUICK
from orchestrator.planning import profiles
from orchestrator.planning.axes import PlannedWork
from orchestrator.results.records import plan_from_json, plan_to_json
from tests.unit.planning.conftest import Planner

SMOKE = Duration(1, 5, None, blocks=5, latency_steps=5)


def quick(plan: Planner, text: str, select: Sequence[str] = ()) -> Plan:
    plan(text)
    loaded = matrix.load(plan.path, plan.known, plan.models)
    return planning.plan(loaded, plan.known, plan.models, planning.Selection(tuple(select)), profile=QUICK)


def test_every_cell_has_the_durations_of_the_profile(plan: Planner) -> None:
    made = quick(plan, "models: [lenet, {name: mlp, epochs: 15, repeats: 10}]\nwarmup_steps: 20\nsteps: 500")

    assert {(cell.duration, cell.repeats) for cell in made.cells} == {(SMOKE, 3)}
    assert made.profile == QUICK


def test_what_is_shorter_already_stays(plan: Planner) -> None:
    (cell,) = quick(plan, "blocks: 2\nlatency_steps: 0\nrepeats: 1").cells

    assert (cell.duration, cell.repeats) == (replace(SMOKE, blocks=2, latency_steps=0), 1)


def test_a_file_says_batch_and_repeats(plan: Planner) -> None:
    plan.models = {**plan.models, "mlp": replace(plan.models["mlp"], quick={"batch_size": 4, "repeats": 1})}
    made = quick(plan, "models: [lenet, {name: mlp, batch_size: [2, 32, 64]}]")

    assert [(cell.id.partition("/")[2], cell.repeats) for cell in made.cells] == [
        ("lenet-train-b200", 3),
        ("mlp-train-b2", 1),
        ("mlp-train-b4", 1),
    ]


@pytest.mark.parametrize("batch_size", [32, 64])
def test_rules_are_about_the_batch_of_the_matrix(plan: Planner, batch_size: int) -> None:
    plan.models = {**plan.models, "mlp": replace(plan.models["mlp"], quick={"batch_size": 4})}
    models = "models: [lenet, {name: mlp, batch_size: [32, 64]}]"
    made = quick(plan, f"{models}\nexclude: [{{model: mlp, batch_size: {batch_size}}}]")

    assert plan.ids(made) == ["mxnet-1.9.1-cpu/lenet-train-b200", "mxnet-1.9.1-cpu/mlp-train-b4"]
    assert (made.skips, made.warnings) == ((), ())


def test_cells_are_selected_by_the_ids_they_have(plan: Planner) -> None:
    plan.models = {**plan.models, "mlp": replace(plan.models["mlp"], quick={"batch_size": 4})}

    assert plan.ids(quick(plan, "models: [lenet, mlp]", ["mlp-train-b4"])) == ["mxnet-1.9.1-cpu/mlp-train-b4"]
    with pytest.raises(InputError, match="matches no cell"):
        quick(plan, "models: [lenet, mlp]", ["mlp-train-b32"])


def test_a_stored_plan_remembers_its_profile(plan: Planner) -> None:
    made = quick(plan, "")

    assert plan_from_json(json.loads(json.dumps(plan_to_json(made)))) == made


def test_a_sweep_keeps_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def size_of(workload: Workload) -> int:
        return workload.batch_size

    rules = replace(Workload("dot", Mode.TRAIN, 1).rules, size_of=size_of)
    monkeypatch.setattr("orchestrator.domain.modes.RULES", {"train": rules})
    works = [
        PlannedWork(Workload(model, Mode.TRAIN, size), "", Settings())
        for model, size in (("dot", 50), ("dot", 5), ("dot", 550), ("relu", 7))
    ]

    assert [work.reason for work in profiles.of_sizes(works, QUICK)] == [
        "left out of a smoke run: 50 is neither the smallest nor the largest",
        "",
        "",
        "",
    ]
    assert not any(work.reason for work in profiles.of_sizes(works, replace(QUICK, ends_of_sizes=False)))
