"""Framework releases as data, which `images/catalog/*.yaml` holds with the content of their environments."""

from orchestrator.catalog.base_images import BaseImages, load_base_images
from orchestrator.catalog.catalog import Catalog, UnsupportedError, requirement
from orchestrator.catalog.datasets import DATASETS, SYNTHETIC, DatasetInfo, examine, own_dataset, unsuitable
from orchestrator.catalog.faults import KnownFault, load_faults
from orchestrator.catalog.model import COMPUTES_NOTHING, Entry, GpuVariant, Option, Release
from orchestrator.catalog.model_files.models import ModelInfo, carried_model, load_models, own_models
from orchestrator.catalog.reading import load
from orchestrator.catalog.shipped import idle_builders, shipped_catalog, shipped_models

__all__ = [
    "COMPUTES_NOTHING",
    "DATASETS",
    "SYNTHETIC",
    "BaseImages",
    "Catalog",
    "DatasetInfo",
    "Entry",
    "GpuVariant",
    "KnownFault",
    "ModelInfo",
    "Option",
    "Release",
    "UnsupportedError",
    "carried_model",
    "examine",
    "idle_builders",
    "load",
    "load_base_images",
    "load_faults",
    "load_models",
    "own_dataset",
    "own_models",
    "requirement",
    "shipped_catalog",
    "shipped_models",
    "unsuitable",
]
