"""The catalog and the models that ship with the program, read once."""

from functools import cache

from orchestrator.catalog.catalog import Catalog
from orchestrator.catalog.model_files.models import ModelInfo, load_models
from orchestrator.catalog.reading import load
from orchestrator.resources import BENCHMARKS, IMAGES


@cache
def shipped_catalog() -> Catalog:
    """Return the catalog that ships with the program."""
    return load(IMAGES / "catalog")


@cache
def shipped_models() -> dict[str, ModelInfo]:
    """Return the models that ship with the program, by name."""
    return dict(load_models(BENCHMARKS / "models", follow=False))


@cache
def idle_builders() -> frozenset[str]:
    """Return the builders that compute nothing, as the catalog marks them."""
    return frozenset(entry.builder for entry in shipped_catalog().entries.values() if not entry.computes)
