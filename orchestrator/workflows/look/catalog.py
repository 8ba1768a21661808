"""The models and the frameworks."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator import matrix
from orchestrator.catalog import ModelInfo, shipped_catalog
from orchestrator.catalog.model import Entry
from orchestrator.workflows.inputs.planned_matrix import MATRIX_HERE, known_models


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsOptions:
    """The options of `models`."""

    file: Path | None = None
    """A matrix with a `models_folder`. `matrix.yaml` in the working folder by default, if there is one."""
    models: Path | None = None
    """Folder with models of your own."""


def models(options: ModelsOptions) -> tuple[ModelInfo, ...]:
    """Return the models of the program, of the matrix's `models_folder`, of a folder of your own, and ONNX files.

    Raises `InputError` if a folder holds a file that is no model, and for an ONNX file that is no network.

    Example: `models(ModelsOptions(models=Path("models")))`
    """
    known = known_models(options.models)
    file = options.file or (MATRIX_HERE if MATRIX_HERE.exists() else None)
    return (*known.values(), *(matrix.own_models(file, known).values() if file else ()))


def frameworks() -> Mapping[str, Entry]:
    """Return the frameworks of the catalog by name, with releases that were seen to train and their options.

    Example: `frameworks()["mxnet"].known`
    """
    return shipped_catalog().entries
