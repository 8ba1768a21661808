from pathlib import Path

import pytest

from orchestrator import catalog
from orchestrator.catalog import load_models
from orchestrator.resources import BENCHMARKS
from tests.unit.planning.conftest import Models, Planner


@pytest.fixture(scope="session")
def models() -> Models:
    """The models that ship with the program."""
    return dict(load_models(BENCHMARKS / "models"))


@pytest.fixture
def plan(tmp_path: Path, known: catalog.Catalog, models: Models) -> Planner:
    return Planner(tmp_path, known, models)
