"""The files of published studies plan without a mistake, and say where their figures are from."""

from functools import cache

import pytest

from orchestrator import matrix, planning
from orchestrator.catalog import load, load_models
from orchestrator.domain import Plan
from orchestrator.resources import BENCHMARKS, IMAGES, ROOT

STUDIES = sorted(path.stem for path in (ROOT / "studies").glob("*.yaml"))


@cache
def _planned(name: str) -> Plan:
    catalog, models = load(IMAGES / "catalog"), load_models(BENCHMARKS / "models")
    loaded = matrix.load(ROOT / "studies" / f"{name}.yaml", catalog, models)
    return planning.plan(loaded, catalog, models)


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_plans_cells_and_claims(name: str) -> None:
    plan = _planned(name)

    assert (plan.name, plan.warnings) == (name, ())
    assert plan.cells
    assert plan.study is not None
    assert plan.study.claims


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_plans_a_cell_for_the_cpu(name: str) -> None:
    assert any(cell.system.gpus == 0 for cell in _planned(name).cells)


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_says_what_it_leaves_out(name: str) -> None:
    study = _planned(name).study

    assert study is not None
    assert study.title
    assert study.citation
    assert study.left_out
