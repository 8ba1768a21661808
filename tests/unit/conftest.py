"""A catalog and models that no release changes, for tests of the catalog, of matrices and of plans."""

from pathlib import Path

import pytest

from orchestrator import catalog

FIXTURES = Path(__file__).parent / "catalog" / "fixtures"


@pytest.fixture(scope="session")
def known() -> catalog.Catalog:
    """A catalog of five frameworks that shows every rule; not the shipped one, which changes."""
    return catalog.load(FIXTURES / "catalog")


@pytest.fixture(scope="session")
def models() -> dict[str, catalog.ModelInfo]:
    """Two models."""
    return dict(catalog.load_models(FIXTURES / "models"))
