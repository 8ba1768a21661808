"""`output`: the most that a repeat may leave in its folder, from the matrix to its cells."""

import json
from pathlib import Path

import pytest
import yaml

from orchestrator import catalog, matrix, planning
from orchestrator.domain import OutputLimit
from orchestrator.errors import InputError
from orchestrator.planning.parity import checks
from orchestrator.results.records import plan_from_json, plan_to_json

Models = dict[str, catalog.ModelInfo]
SMALL = "version: 1\nframeworks: [mxnet==1.9.1]\nmodels: [lenet]\n"
EVERYWHERE = """\
version: 1
frameworks: [mxnet==1.9.1]
models: [lenet, {name: mlp, batch_size: [32, 64], output: {size: 20g}}]
scripts:
  - name: lm
    file: train.py
    metrics: {speed: {pattern: 'speed (.*)', unit: samples/s, better: higher}}
    output: {files: 50}
output: {size: 512m, files: 2000}
include: [{model: mlp, batch_size: 64, output: {size: 64m, files: 100}}]
"""


def load(tmp_path: Path, text: str, known: catalog.Catalog, models: Models) -> matrix.Matrix:
    (tmp_path / "train.py").touch()
    (tmp_path / "m.yaml").write_text(text)
    return matrix.load(tmp_path / "m.yaml", known, models)


def test_a_matrix_has_a_limit_by_default(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    loaded = load(tmp_path, SMALL, known, models)
    (cell,) = planning.plan(loaded, known, models).cells

    assert loaded.output == cell.output == OutputLimit(2 * 2**30, 10_000)
    assert load(tmp_path, SMALL + "output: {}\n", known, models).output == loaded.output
    assert load(tmp_path, SMALL + "output: {files: 20}\n", known, models).output == OutputLimit(2 * 2**30, 20)


def test_the_nearest_level_wins_for_each_key(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    plan = planning.plan(load(tmp_path, EVERYWHERE, known, models), known, models)

    assert {(cell.workload.model, cell.workload.batch_size): cell.output for cell in plan.cells} == {
        ("lenet", 200): OutputLimit(512 * 2**20, 2000),
        ("mlp", 32): OutputLimit(20 * 2**30, 2000),
        ("mlp", 64): OutputLimit(64 * 2**20, 100),
        ("lm", 1): OutputLimit(512 * 2**20, 50),
    }
    assert [check.output for check in checks(plan)] == [plan.cells[0].output, plan.cells[1].output]


def test_the_long_form_keeps_every_limit(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    loaded = load(tmp_path, EVERYWHERE, known, models)
    again = load(tmp_path, yaml.safe_dump(matrix.long_form(loaded)), known, models)

    assert planning.plan(again, known, models).cells == planning.plan(loaded, known, models).cells


def test_a_stored_plan_keeps_its_limits(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    """A plan that was stored before there was a limit gets the default."""
    plan = planning.plan(load(tmp_path, EVERYWHERE, known, models), known, models)
    stored = json.loads(json.dumps(plan_to_json(plan)))

    assert plan_from_json(stored) == plan
    for cell in stored["cells"]:
        del cell["output"]
    assert {cell.output for cell in plan_from_json(stored).cells} == {OutputLimit()}


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("{size: 1m}", "output.size: 1m is less than the 32 MiB a log and a result may take; write 2g, for example"),
        ("{size: much}", "output.size: 'much' is no size; write 8g, 512m or a number of bytes"),
        ("{files: 3}", "output.files: should be at least 16, not 3"),
        ("{bytes: 2g}", "output: unknown key 'bytes'; there is size, files"),
        ("2g", "output: should be a mapping, not '2g'"),
    ],
)
def test_a_wrong_limit_is_one_mistake(
    output: str, message: str, tmp_path: Path, known: catalog.Catalog, models: Models
) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, f"{SMALL}output: {output}\n", known, models)

    (found,) = caught.value.messages
    assert message in found
    assert ":4:" in found


def test_a_wrong_output_limit_is_one_mistake(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    """A wrong output limit of a model is reported as one mistake."""
    with pytest.raises(InputError) as caught:
        load(tmp_path, SMALL.replace("[lenet]", "[{name: lenet, output: 2g}]"), known, models)

    (found,) = caught.value.messages
    assert "models.output: should be a mapping, not '2g'" in found
