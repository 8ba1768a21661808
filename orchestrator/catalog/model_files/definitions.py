"""Frameworks' own definitions of a model, which are files `<model>/<builder>.py` next to `<model>.py`.

They are never executed here.
"""

import ast
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from orchestrator.catalog.model_files import python_file
from orchestrator.catalog.model_files.python_file import WrongFileError
from orchestrator.domain import OptionValue
from orchestrator.resources import BENCHMARKS
from orchestrator.user_files import ModelDefinition

_WHAT = "a definition"


def builders() -> tuple[str, ...]:
    """Return the names that such a file may have, which are those of the modules of `benchmarks/frameworks/`."""
    return tuple(sorted(path.stem for path in (BENCHMARKS / "frameworks").glob("[!_.]*.py")))


@cache
def default_options(builder: str) -> Mapping[str, OptionValue]:
    """Return the options of a builder with their defaults, or none if there is no file.

    The defaults stand only in the builder's file.
    """
    try:
        _, tree = python_file.read(BENCHMARKS / "frameworks" / f"{builder}.py")
    except python_file.UNREADABLE:
        return {}
    options, _ = python_file.literals(tree).get("OPTIONS", ({}, python_file.TOP))
    return options if isinstance(options, dict) else {}


def definitions(
    folder: Path, shown: str, within: Path | None = None
) -> tuple[dict[str, tuple[ModelDefinition, ...]], dict[str, str]]:
    """Read every definition in a folder of models.

    Returns the valid ones by model, and the mistakes of the others by `model/builder`. `shown` is the folder as the
    user wrote it, `within` that of the matrix that names it.
    """
    known, by_model, mistakes = builders(), dict[str, tuple[ModelDefinition, ...]](), dict[str, str]()
    for path in sorted(folder.glob("[!_.]*/[!_.]*.py")):
        model, builder = path.parent.name, path.stem
        place = f"{shown}/{model}/{path.name}"
        if not (folder / f"{model}.py").is_file():
            # A folder next to models may be anything; only a builder's name shows that it is meant as one of these.
            if builder in known:
                mistakes[f"{model}/{builder}"] = (
                    f"{place}:1:1: not {_WHAT}: there is no model {shown}/{model}.py next to it"
                )
            continue
        try:
            by_model[model] = (*by_model.get(model, ()), _read(path, model, known, within))
        except python_file.UNREADABLE as error:
            mistakes[f"{model}/{builder}"] = python_file.mistake(place, error, _WHAT)
    return by_model, mistakes


def _read(path: Path, model: str, known: tuple[str, ...], within: Path | None) -> ModelDefinition:
    if path.stem not in known:
        raise WrongFileError(f"no framework builder is called {path.stem!r}; there is {', '.join(known)}")
    text, tree = python_file.read(path, within)
    python_file.require_function(tree, "start", "workload")
    _check_options(tree)
    return ModelDefinition(model, path.stem, text, hashlib.sha256(text.encode()).hexdigest())


def _check_options(tree: ast.Module) -> None:
    value, place = python_file.literals(tree).get("OPTIONS", ((), python_file.TOP))
    if not isinstance(value, tuple | list) or not all(isinstance(name, str) for name in value):
        raise WrongFileError('OPTIONS must be a literal list of names, such as ["layout"]', place)
