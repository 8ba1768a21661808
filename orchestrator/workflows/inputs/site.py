"""The settings of this site, from the matrix, the options, the environment and pip's configuration.

Releases are looked for on the framework's own index too.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from orchestrator.catalog import Catalog
from orchestrator.domain import BuildSettings, is_base_image
from orchestrator.errors import InputError
from orchestrator.images import settings as image_settings
from orchestrator.workflows.host.places import home_folder

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
    return replace(settings, base_image=wanted)


def with_own_index(settings: BuildSettings, catalog: Catalog, framework: str) -> BuildSettings:
    """Return the settings with the framework's own index too, if the catalog names one."""
    entry = catalog.entry(framework)
    own = next((release.cpu_index for release in entry.releases if release.cpu_index), None) if entry else None
    if own is None or settings.no_index:
        return settings
    return replace(settings, extra_indexes=(*settings.extra_indexes, own))
