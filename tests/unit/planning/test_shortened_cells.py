"""Settings that make the measurement of a heavy cell shorter, from a matrix to requests and parity checks."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator import matrix, planning
from orchestrator.devices import Allocation
from orchestrator.domain import Cell, Duration, Plan
from orchestrator.errors import InputError
from orchestrator.modes.parts.settings import Shortening
from orchestrator.planning.parity import checks
from orchestrator.results.files.writing import write_request
from orchestrator.results.records import plan_from_json, plan_to_json
from orchestrator.running.parity.content import content_of
from orchestrator.running.requests import request_for
from tests.envelopes import data_of
from tests.unit.planning.conftest import Planner

LATER = {"blocks", "latency_steps", "evaluate_every_epoch", "parity_batch", "profile"}
HEAVY = "blocks: 3\nlatency_steps: 7\nparity_batch: 16\nevaluate_every_epoch: false"


def document(plan: Plan) -> dict[str, Any]:
    estimate = planning.PlanEstimate(0, 0, 0.0, 0.0, 0.0, 0, ())
    return data_of("".join(planning.plan_envelope(plan, estimate).texts()))  # type: ignore[no-any-return]


def written(cell: Cell, folder: Path) -> dict[str, Any]:
    write_request(folder, request_for(cell, 0, "mxnet", 0, Allocation((0,)), pinned=True))
    return json.loads((folder / "request.json").read_text())  # type: ignore[no-any-return]


def keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for item in value.values() for key in keys(item)}
    return {key for item in value for key in keys(item)} if isinstance(value, list) else set()


def test_unused_keys_stay_out_of_the_documents(plan: Planner, tmp_path: Path) -> None:
    """A matrix without these settings has none of their keys in its documents."""
    made = plan("")
    loaded = matrix.load(plan.path, plan.known, plan.models)

    assert not LATER & keys(json.loads(json.dumps(plan_to_json(made))))
    assert not LATER & keys(document(made))
    assert not LATER & keys(matrix.long_form(loaded))
    assert "evaluate_every_epoch" not in written(made.cells[0], tmp_path)
    assert written(made.cells[0], tmp_path)["min_blocks"] == 10


def test_a_matrix_sets_them_for_all_cells(plan: Planner, tmp_path: Path) -> None:
    made = plan(HEAVY)
    (cell,) = made.cells
    request = written(cell, tmp_path)

    assert cell.duration == Duration(blocks=3, latency_steps=7, evaluate_every_epoch=False)
    assert cell.parity_batch == 16
    assert (request["min_blocks"], request["latency_steps"], request["evaluate_every_epoch"]) == (3, 7, False)
    assert {"blocks": 3, "latency_steps": 7, "evaluate_every_epoch": False, "parity_batch": 16}.items() <= document(
        made
    )["cells"][0].items()
    assert plan_from_json(json.loads(json.dumps(plan_to_json(made)))) == made


def test_they_are_no_part_of_an_id(plan: Planner) -> None:
    assert plan.ids(plan(HEAVY)) == plan.ids(plan(""))


def test_file_then_matrix_then_entry_then_include_count(plan: Planner) -> None:
    literals = Shortening(blocks=2, latency_steps=20, parity_batch=32)
    plan.models = {**plan.models, "mlp": replace(plan.models["mlp"], shortening=literals)}
    text = "latency_steps: 30\nmodels: [lenet, mlp, {name: mlp, batch_size: 64, parity_batch: 8}]"
    made = plan(f"{text}\ninclude:\n  - {{model: mlp, batch_size: 64, blocks: 4}}")
    seen = [(each.duration.blocks, each.duration.latency_steps, each.parity_batch) for each in made.cells]

    assert seen == [(10, 30, 128), (2, 30, 32), (4, 30, 8)]


def test_an_added_cell_takes_those_of_its_file(plan: Planner) -> None:
    plan.models = {**plan.models, "mlp": replace(plan.models["mlp"], shortening=Shortening(blocks=2))}
    made = plan("include:\n  - {framework: mxnet==1.9.1, system: cpu, model: mlp}")

    assert [cell.duration.blocks for cell in made.cells] == [10, 2]


def test_the_long_form_keeps_them(plan: Planner, tmp_path: Path) -> None:
    plan(f"{HEAVY}\nmodels: [{{name: lenet, blocks: 5}}]\ninclude:\n  - {{model: lenet, latency_steps: 1}}")
    loaded = matrix.load(plan.path, plan.known, plan.models)
    (tmp_path / "long.yaml").write_text(yaml.safe_dump(matrix.long_form(loaded)))

    again = matrix.load(tmp_path / "long.yaml", plan.known, plan.models)
    assert (again.shortening, again.models[0].settings, again.include[0].settings) == (
        loaded.shortening, loaded.models[0].settings, loaded.include[0].settings,
    )  # fmt: skip


def test_parity_checks_show_their_batch(plan: Planner) -> None:
    """A parity check has its batch in its name and in its content."""
    usual, small = (checks(plan(text))[0] for text in ("", "parity_batch: 16"))
    machine = ("cpu", (), None)

    assert (usual.batch_size, small.batch_size) == (128, 16)
    assert small.id == f"{usual.id}-b16"
    assert content_of(usual, 0, ["i"], machine) == content_of(replace(usual, id="x"), 0, ["i"], machine)
    assert content_of(usual, 0, ["i"], machine) != content_of(small, 0, ["i"], machine)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"blocks": 0}, "blocks: 0 is not from 1 to 10,000"),
        ({"latency_steps": 1_000_001}, "latency_steps: 1,000,001 is not from 0 to 1,000,000"),
    ],
)
def test_a_stored_plan_out_of_bounds_is_refused(plan: Planner, changes: dict[str, int], problem: str) -> None:
    stored = json.loads(json.dumps(plan_to_json(plan(""))))
    stored["cells"][0]["duration"] |= changes

    with pytest.raises(InputError, match=problem):
        plan_from_json(stored)
