"""The frameworks whose accuracy is measured, and the figures of a part of them."""

from pathlib import Path

import pytest

from bench.networks import accuracy
from orchestrator import matrix, planning
from orchestrator.catalog import shipped_catalog
from orchestrator.workflows.inputs.planned_matrix import known_models


@pytest.mark.parametrize("framework", accuracy.FRAMEWORKS)
def test_each_framework_has_a_cell_of_every_model(framework: str, tmp_path: Path) -> None:
    file, models = tmp_path / "accuracy.yaml", known_models(None)
    file.write_text(accuracy.matrix(framework, 0, tmp_path))

    plan = planning.plan(matrix.load(file, shipped_catalog(), models), shipped_catalog(), models)

    assert [cell.workload.model for cell in plan.cells] == list(accuracy.MODELS)
    assert plan.skips == ()


def test_frameworks_trained_apart_stay_beside_the_others() -> None:
    first, second = ({"framework": name, "model": "lenet", "seed": 0, "accuracy": 0.97} for name in ("jax", "torch"))
    again = first | {"accuracy": 0.98}

    assert accuracy._merged([second, first], [again]) == [again, second]
