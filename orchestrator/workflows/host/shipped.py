"""The catalog and the models that ship with the program."""

from functools import cache

from orchestrator import resources
from orchestrator.catalog import Catalog, ModelInfo, load, load_models


@cache
def shipped_catalog() -> Catalog:
    """Return the catalog that ships with the program."""
    return load(resources.IMAGES / "catalog")


@cache
def shipped_models() -> dict[str, ModelInfo]:
    """Return the models that ship with the program, by name."""
    return dict(load_models(resources.BENCHMARKS / "models"))
