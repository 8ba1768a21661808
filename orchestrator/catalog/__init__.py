"""Framework releases as data: `images/catalog/*.yaml` → what an environment holds."""

from orchestrator.catalog.catalog import Catalog, UnsupportedError, requirement
from orchestrator.catalog.datasets import DATASETS, SYNTHETIC, DatasetInfo, unsuitable
from orchestrator.catalog.faults import KnownFault, load_faults
from orchestrator.catalog.model import Entry, Gpu, Option, Release
from orchestrator.catalog.models import ModelInfo, load_models, own_models
from orchestrator.catalog.mounted import MEMBERS, examine, own_dataset
from orchestrator.catalog.reading import load

__all__ = [
    "DATASETS",
    "MEMBERS",
    "SYNTHETIC",
    "Catalog",
    "DatasetInfo",
    "Entry",
    "Gpu",
    "KnownFault",
    "ModelInfo",
    "Option",
    "Release",
    "UnsupportedError",
    "examine",
    "load",
    "load_faults",
    "load_models",
    "own_dataset",
    "own_models",
    "requirement",
    "unsuitable",
]
