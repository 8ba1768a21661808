"""The request for one bundle, which every step of an export reads."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import docker

from orchestrator.build_settings import BuildSettings
from orchestrator.bundles.format.base import BaseBundle
from orchestrator.bundles.format.manifest import Image
from orchestrator.domain import Plan
from orchestrator.events import Listener, Notice
from orchestrator.images import Built
from orchestrator.processes import Stop
from orchestrator.runtimes.environments import Workshop
from orchestrator.user_files import Frozen, ModelFile


@dataclass(frozen=True, slots=True)
class Export:
    """The contents of a bundle, and the services that write it."""

    name: str
    folder: Path
    """The bundle. A part writes only below it."""
    plan: Plan
    matrix: str
    """The long form as YAML, without credentials."""
    own_models: tuple[ModelFile, ...]
    built: Mapping[str, Built]
    """By `ImageSpec.name`."""
    settings: BuildSettings
    client: docker.DockerClient
    listener: Listener
    stop: Stop
    workshop: Workshop
    """The settings that fetch wheels, and the cache."""
    package_files: Callable[[docker.DockerClient, str, Stop], Mapping[str, str]]
    """Returns the text of each package file of an image, by path."""
    base: BaseBundle | None = None
    """The bundle that a delta builds on."""
    data: tuple[tuple[str, Path], ...] = ()
    """Datasets by name, with the folders of their files."""
    frozen: tuple[tuple[Frozen, Path], ...] = ()
    """Scripts and networks, each with the folder of its files."""
    documentation: Path | None = None
    """The folder of a built documentation site, if one is carried along."""
    pythons: tuple[str, ...] = ()
    """Pythons of the far side, empty for all that have wheels."""
    try_wheels: bool = True
    """True to install the wheels here without an index, as a proof that they are enough."""
    sign: Callable[[bytes], bytes] | None = None
    """Returns the signature over the bytes of a manifest."""
    images: tuple[Image, ...] = ()
    """The images in the bundle, which are written before any other part."""

    def say(self, line: str) -> None:
        """Report one line for a person."""
        self.listener(Notice(line))


Part = Callable[[Export], None]
"""Writes files below `Export.folder`. Equal inputs must give equal bytes."""
