"""Folders of results, and an honest file of results."""

from pathlib import Path

import pytest

from orchestrator.bundles.returns.collect import collect
from tests.unit.bundles.returns.returning_runs import OTHER, a_run


@pytest.fixture
def far(tmp_path: Path) -> Path:
    return tmp_path / "far" / "results"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home" / "results"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of two runs."""
    folder = tmp_path_factory.mktemp("good")
    collect([a_run(folder / "far"), a_run(folder / "far", OTHER, rate=2000.0)], folder / "r.tar.zst", "0.1.0")
    return folder
