"""Framework releases as data: `images/catalog/*.yaml` → what an environment holds."""

from orchestrator.catalog.catalog import Catalog, UnsupportedError, load
from orchestrator.catalog.model import Entry, Gpu, Option, Release

__all__ = ["Catalog", "Entry", "Gpu", "Option", "Release", "UnsupportedError", "load"]
