"""The models that a matrix may name."""

from pathlib import Path

from orchestrator import matrix
from orchestrator.catalog import ModelInfo, own_models
from orchestrator.errors import InputError
from orchestrator.workflows.host.shipped import shipped_models


def known_models(folder: Path | None) -> dict[str, ModelInfo]:
    """Return the models that ship with the program, and those of a user's folder.

    Raises `InputError` with the mistakes in the folder.
    """
    if folder is None:
        return shipped_models()
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; --models names one with models of your own")
    own, mistakes = own_models(folder, shipped_models())
    if mistakes:
        raise InputError(*mistakes.values())
    return shipped_models() | own


def listed_models(path: Path | None, folder: Path | None) -> tuple[ModelInfo, ...]:
    """Return the program's models, those of `models_folder` in the matrix `path`, and those of `folder`.

    Raises `InputError` if a folder holds a file that is no model.
    """
    known = known_models(folder)
    if path is None:
        return tuple(known.values())
    return (*known.values(), *matrix.own_models(path, known).values())
