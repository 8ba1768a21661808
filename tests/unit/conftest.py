"""A catalog and models that no release changes, and quick looks of those who wait."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator import catalog, processes

FIXTURES = Path(__file__).parent / "catalog" / "fixtures"
QUICK_TICK_S = 0.02


@pytest.fixture(scope="session", autouse=True)
def _quick_looks() -> Iterator[None]:
    """Look at what runs more often than is right beside a measurement, since hundreds of tests wait for a look."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "TICK_S", QUICK_TICK_S)
        yield


@pytest.fixture(scope="session")
def known() -> catalog.Catalog:
    """A catalog of five frameworks that shows every rule; not the shipped one, which changes."""
    return catalog.load(FIXTURES / "catalog")


@pytest.fixture(scope="session")
def models() -> dict[str, catalog.ModelInfo]:
    """Two models."""
    return dict(catalog.load_models(FIXTURES / "models"))
