"""The engine that the images of a bundle go to."""

from collections.abc import Callable
from dataclasses import dataclass

import docker

from orchestrator.bundles.format.manifest import Image
from orchestrator.bundles.format.streams import Progress
from orchestrator.engine import images as engine
from orchestrator.processes import Stop


@dataclass(frozen=True, slots=True)
class Receiver:
    """An engine with the listeners of a load."""

    client: docker.DockerClient
    progress: Progress
    say: Callable[[str], None]
    stop: Stop
    by_manifest: bool = False
    """True if the engine identifies images by manifests instead of configurations (`transfer.knows_by_manifest`)."""

    def identity(self, image: Image) -> str:
        """Return the id that the engine gives an image."""
        return image.manifest if self.by_manifest else image.config

    def has(self, image: Image) -> bool:
        """Return true if the engine has an image."""
        return engine.facts(self.client, self.identity(image)) is not None
