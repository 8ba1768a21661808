"""What commands share: from a matrix file and this environment to a plan and its build settings."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from orchestrator import matrix, planning, resources
from orchestrator.catalog import Catalog, ModelInfo, load, load_models, own_models
from orchestrator.cli import speech
from orchestrator.domain import BuildSettings, Plan, is_base_image
from orchestrator.errors import InputError
from orchestrator.images import settings as image_settings
from orchestrator.planning import Selection
from orchestrator.results import pending
from orchestrator.results.scripts import frozen as frozen_scripts
from orchestrator.results.store import Run, runs
from orchestrator.results.writing import write_atomically
from orchestrator.user_files import ModelFile, Script

STORED_MATRIX = "matrix.yaml"
STORED_MODELS = "models"
MATRIX_HERE = Path("matrix.yaml")
BASE_IMAGE_VARIABLE = "ORCHESTRATOR_BASE_IMAGE"
FORMER_BASE_IMAGE = "python:{python}-slim-bookworm"
"""Stored matrices of earlier releases name it where nobody did; the variable goes before it."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A matrix, planned, with where its environments come from on this site."""

    matrix: matrix.Matrix
    plan: Plan
    settings: BuildSettings
    own_models: tuple[ModelFile, ...] = ()
    """All that the matrix may name, so that it can be read again with them."""


@cache
def the_catalog() -> Catalog:
    """The catalog that ships with the program."""
    return load(resources.IMAGES / "catalog")


@cache
def the_models() -> dict[str, ModelInfo]:
    """The models that ship with the program."""
    return dict(load_models(resources.BENCHMARKS / "models"))


def known_models(folder: Path | None) -> dict[str, ModelInfo]:
    """The models that ship with the program, and those of a user's folder; raises `InputError` with its mistakes."""
    if folder is None:
        return the_models()
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; --models names one with models of your own")
    own, mistakes = own_models(folder, the_models())
    if mistakes:
        raise InputError(*mistakes.values())
    return the_models() | own


def listed_models(path: Path | None, folder: Path | None) -> tuple[ModelInfo, ...]:
    """Every model there is: the program's, those of `models_folder` in the matrix at hand, and those of `folder`.

    Raises `InputError` where one of the folders holds what is no model.
    """
    known = known_models(folder)
    if path is None and not MATRIX_HERE.exists():
        return tuple(known.values())
    return (*known.values(), *matrix.own_models(path or MATRIX_HERE, known).values())


def prepare(
    path: Path | None,
    select: list[str],
    exclude: list[str],
    limit: int,
    base_image: str | None = None,
    models_folder: Path | None = None,
    *,
    no_parity: bool = False,
    strict: bool = False,
) -> Prepared:
    """Load a matrix and plan it; raises `InputError` with every mistake.

    With `strict` a release that the catalog has no environment for is a mistake.
    """
    models = known_models(models_folder)
    loaded = matrix.load(matrix_file(path), the_catalog(), models)
    selection = Selection(select=tuple(select), exclude=tuple(exclude))
    plan = planning.plan(loaded, the_catalog(), models, selection=selection, limit=limit)
    missing = planning.left_out(loaded, the_catalog(), models, plan)
    if strict and missing:
        raise InputError(*missing)
    plan = replace(plan, parity=plan.parity and not no_parity, warnings=(*plan.warnings, *missing))
    own = tuple(info.own for info in (*models.values(), *loaded.own_models) if info.own)
    return Prepared(loaded, plan, site_settings(loaded.build, base_image), own)


def matrix_file(path: Path | None) -> Path:
    """The file asked for, the one that is here, or the one that ships with the program."""
    if path is not None or MATRIX_HERE.exists():
        return path or MATRIX_HERE
    speech.say(
        f"no {MATRIX_HERE} here: this is the default matrix that ships with the program ({resources.DEFAULT_MATRIX})"
    )
    return resources.DEFAULT_MATRIX


def site_settings(explicit: BuildSettings, base_image: str | None) -> BuildSettings:
    """What the matrix says, and what it leaves unsaid as this host has it; a base image on the command line wins."""
    files = image_settings.pip_files(os.environ, Path.home(), Path(sys.prefix))
    settings = image_settings.overlay(explicit, image_settings.settings_from_pip(os.environ, files))
    unsaid = explicit.base_image in {None, FORMER_BASE_IMAGE}
    wanted = base_image or (os.environ.get(BASE_IMAGE_VARIABLE) if unsaid else None) or settings.base_image
    if wanted is not None and not is_base_image(wanted):
        raise InputError(f"base image {wanted!r}: the only placeholder is {{python}}, as in python:{{python}}-slim")
    return replace(settings, base_image=wanted)


def without_credentials(document: dict[str, Any], settings: BuildSettings) -> dict[str, Any]:
    """A matrix's long form that may be stored: build settings that hold a password are left out."""
    hidden = image_settings.secrets(settings)
    build = {
        name: value
        for name, value in document["build"].items()
        if not any(secret in json.dumps(value, ensure_ascii=False) for secret in hidden)
    }
    return {**document, "build": build}


def scripts_of(loaded: matrix.Matrix) -> tuple[tuple[Script, Path], ...]:
    """The scripts of a matrix, each with the folder of its files."""
    return tuple((axes.script, Path(axes.folder)) for axes in loaded.scripts)


def with_frozen_scripts(document: dict[str, Any]) -> dict[str, Any]:
    """A matrix's long form whose scripts lie beside it, as they do in a run and in a bundle."""
    listed = document.get("scripts") or []
    frozen = [
        {**entry, "file": f"{frozen_scripts.FOLDER}/{entry['name']}/{Path(entry['file']).name}"} for entry in listed
    ]
    return {**document, "scripts": frozen}


def store_matrix(run: Run, document: dict[str, Any], own: Sequence[ModelFile] = ()) -> None:
    """Keep a matrix's long form beside the run with the user's own models, to be read by people and by `--resume`."""
    if own:
        for name, text in (file for model in own for file in model.files.items()):
            path = run.folder / STORED_MODELS / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text)
    document = {**with_frozen_scripts(document), "models_folder": STORED_MODELS if own else None}
    write_atomically(run.folder / STORED_MATRIX, yaml.safe_dump(document, sort_keys=False, allow_unicode=True))


def stored_settings(run: Run, base_image: str | None) -> BuildSettings:
    """Where the environments of a stored run come from; what held a password must come from pip's configuration."""
    return site_settings(matrix.build_settings(run.folder / STORED_MATRIX), base_image)


def tell_of_hidden(results: Path) -> None:
    """Say that runs of an interrupted merge are missing from what is read next; nothing where none is."""
    if said := pending.notice(results):
        speech.say(said)


def find_run(results: Path, name: str, hint: str = "") -> Run:
    """Return the run of that name, or of which it is the only beginning; the latest for an empty one.

    Raises `InputError` if there is not exactly one; `hint` ends its message.
    """
    every = runs(results)
    found = [run for run in every if run.name == name] or [run for run in every if run.name.startswith(name)]
    if not found and name:
        _refuse_hidden(results, name)
    if not every:
        raise InputError(f"{results}: no runs here; `orchestrator run` makes one, --results DIR looks elsewhere")
    if name in {"", "latest"}:
        return every[-1]
    if len(found) == 1:
        return found[0]
    problem = f"{len(found)} runs begin with {name!r}" if found else f"no run {name!r}"
    shown = ", ".join(run.name for run in (found or every)[-5:])
    raise InputError(f"{results}: {problem}; there are {shown}{hint}")


def _refuse_hidden(results: Path, name: str) -> None:
    """Raise `InputError` if a name, or the beginning of one, is that of a run of an interrupted merge."""
    for hidden in sorted(pending.pending(results)):
        if hidden.startswith(name):
            raise InputError(
                f"{results}: {hidden} is hidden by an interrupted merge; merge its file again, or any other, to "
                "complete it"
            )


def find_runs(results: Path, names: Sequence[str], *, every: bool) -> list[Run]:
    """The runs of these names, each once, or all there are; the latest where none is named."""
    if every and names:
        raise InputError("--all means every run: leave out the names, or --all")
    if every:
        find_run(results, "")  # raises where there is none
        return runs(results)
    found = [find_run(results, name) for name in names or ("",)]
    return list({run.name: run for run in found}.values())
