"""A matrix file, planned, with the models that it may name and the settings of this site.

The settings come from the matrix, the options, the environment and pip's configuration. Releases are looked for on the
framework's own index too.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from orchestrator import matrix, planning, resources
from orchestrator.build_settings import BuildSettings, is_base_image
from orchestrator.catalog import Catalog, ModelInfo, own_models, shipped_catalog, shipped_models
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.images import dockerfiles
from orchestrator.images import settings as image_settings
from orchestrator.matrix import Matrix
from orchestrator.modes.parts.settings import QUICK
from orchestrator.planning import Selection
from orchestrator.user_files import Frozen, ModelFile, Network, Script
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.places import home_folder

MATRIX_HERE = Path("matrix.yaml")
BASE_IMAGE_VARIABLE = "ORCHESTRATOR_BASE_IMAGE"
FORMER_BASE_IMAGE = "python:{python}-slim-bookworm"
"""Stored matrices of earlier releases name it where nobody did. The variable goes before it."""


def site_settings(explicit: BuildSettings, base_image: str | None, environment: Mapping[str, str]) -> BuildSettings:
    """Complete a matrix's build settings with this host's. `base_image` goes before both.

    Raises `InputError` if the base image is no template.
    """
    files = image_settings.pip_files(environment, home_folder(environment), Path(sys.prefix))
    settings = image_settings.overlay(explicit, image_settings.settings_from_pip(environment, files))
    unsaid = explicit.base_image in {None, FORMER_BASE_IMAGE}
    wanted = base_image or (environment.get(BASE_IMAGE_VARIABLE) if unsaid else None) or settings.base_image
    if wanted is not None and not is_base_image(wanted):
        raise InputError(f"base image {wanted!r}: the only placeholder is {{python}}, as in python:{{python}}-slim")
    return replace(settings, base_image=wanted, base_images=() if base_image else settings.base_images)


def site_base_image(python: str, base_image: str | None, environment: Mapping[str, str]) -> str:
    """Return the image that environments of a Python are built on here. Raises as `site_settings` does."""
    return dockerfiles.base_image(python, site_settings(BuildSettings(), base_image, environment))


def with_own_index(settings: BuildSettings, catalog: Catalog, framework: str) -> BuildSettings:
    """Return the settings with the framework's own index too, if the catalog names one."""
    entry = catalog.entry(framework)
    own = next((release.cpu_index for release in entry.releases if release.cpu_index), None) if entry else None
    if own is None or settings.no_index:
        return settings
    return replace(settings, extra_indexes=(*settings.extra_indexes, own))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixOptions:
    """The matrix to plan, the cells wanted of it, and the base of its environments."""

    file: Path | None = None
    """The matrix. By default `matrix.yaml` in the working folder, or else the one that ships with the program."""
    select: Sequence[str] = ()
    """Globs of cell ids, such as `mxnet-*`. Only cells that match one are planned. Without any, all are."""
    exclude: Sequence[str] = ()
    """Globs of cell ids that are left out."""
    limit: int = option_values.LIMIT
    """Most cells that a matrix may expand to."""
    base_image: str | None = None
    """Template of the image to build on, such as `python:{python}-slim-bookworm`, in place of the matrix's."""
    models: Path | None = None
    """Folder with models of your own, next to the matrix's `models_folder`."""
    no_parity: bool = False
    """Leave out the checks that cells do the same work, whatever the matrix says."""
    strict: bool = False
    """Refuse a matrix that names a release which the catalog has no environment for."""
    quick: bool = False
    """Plan a smoke run: few steps of every cell, which show that it works and prove nothing."""


@dataclass(frozen=True, slots=True)
class PlannedMatrix:
    """A matrix and its plan, with the settings that its environments are built with on this host."""

    matrix: Matrix
    plan: Plan
    settings: BuildSettings
    own_models: tuple[ModelFile, ...] = ()
    """All models of the user that the matrix may name, so that it can be read again with them."""

    @property
    def document(self) -> dict[str, Any]:
        """The long form of the matrix, without build settings that hold a password."""
        document = matrix.long_form(self.matrix)
        hidden = image_settings.secrets(self.settings)
        build = {
            name: value
            for name, value in document["build"].items()
            if not any(secret in json.dumps(value, ensure_ascii=False) for secret in hidden)
        }
        return {**document, "build": build}

    @property
    def frozen(self) -> tuple[tuple[Frozen, Path], ...]:
        """The scripts and networks of the matrix, each with the folder of its files."""
        scripts = ((axes.script, Path(axes.folder)) for axes in self.matrix.scripts)
        return (*scripts, *((network, Path(folder)) for network, folder in self.matrix.networks))


def plan_matrix(options: MatrixOptions, host: Host) -> PlannedMatrix:
    """Load a matrix and plan it.

    Raises `InputError` with every mistake.
    """
    models = known_models(options.models)
    loaded = load_matrix(options.file, models, host)
    selection = Selection(select=tuple(options.select), exclude=tuple(options.exclude))
    profile = QUICK if options.quick else None
    plan = planning.plan(loaded, shipped_catalog(), models, selection=selection, limit=options.limit, profile=profile)
    missing = planning.left_out(loaded, shipped_catalog(), models, plan)
    if options.strict and missing:
        raise InputError(*missing)
    plan = replace(plan, parity=plan.parity and not options.no_parity, warnings=(*plan.warnings, *missing))
    own = tuple(info.own for info in (*models.values(), *loaded.own_models) if info.own)
    return PlannedMatrix(loaded, plan, site_settings(loaded.build, options.base_image, host.environment), own)


def load_matrix(path: Path | None, models: Mapping[str, ModelInfo], host: Host) -> Matrix:
    """Load the matrix of `matrix_file`. Raises `InputError` with every mistake."""
    return matrix.load(matrix_file(path, host), shipped_catalog(), models)


def matrix_file(path: Path | None, host: Host) -> Path:
    """Return the file that is named, the one in the working folder, or the one that ships with the program.

    `studies/NAME.yaml` names a study that ships with the program where the working folder has none of that name.
    """
    if path is not None and path.parts[:-1] == (resources.STUDIES.name,) and not path.exists():
        shipped = resources.STUDIES / path.name
        if shipped.is_file():
            host.say(f"no {path} here: this is the study that ships with the program ({shipped})")
            return shipped
    if path is not None or MATRIX_HERE.exists():
        return path or MATRIX_HERE
    host.say(
        f"no {MATRIX_HERE} here: this is the default matrix that ships with the program ({resources.DEFAULT_MATRIX})"
    )
    return resources.DEFAULT_MATRIX


def with_frozen_files(document: dict[str, Any]) -> dict[str, Any]:
    """Return a matrix's long form with scripts and networks in the folders next to it, as in a run and in a bundle."""
    scripts = [_frozen(entry, Script.FOLDER) for entry in document.get("scripts") or []]
    models = [_frozen(entry, Network.FOLDER) if "file" in entry else entry for entry in document.get("models") or []]
    return {**document, "scripts": scripts, **({"models": models} if models else {})}


def _frozen(entry: dict[str, Any], folder: str) -> dict[str, Any]:
    return {**entry, "file": f"{folder}/{entry['name']}/{Path(entry['file']).name}"}
