from pathlib import Path

import pytest

from orchestrator import catalog
from tests.unit.planning.conftest import Models, Planner
from tests.unit.regression.conftest import Pairer


@pytest.fixture
def plan(tmp_path: Path, known: catalog.Catalog, models: Models) -> Planner:
    return Planner(tmp_path, known, models)


@pytest.fixture
def pair(tmp_path: Path, known: catalog.Catalog) -> Pairer:
    return Pairer(tmp_path, known)
