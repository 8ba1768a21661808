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
        return self.id_of(self.identity(image)) is not None

    def id_of(self, reference: str) -> str | None:
        """Return the id of the image with a tag or an id, None if there is none."""
        facts = engine.facts(self.client, reference)
        return facts.image_id if facts else None

    def tag(self, image: Image, name: str) -> None:
        """Give an image a tag."""
        engine.tag(self.client, self.identity(image), name)

    def remove(self, reference: str) -> None:
        """Remove an image, or one of its tags."""
        engine.remove(self.client, reference)
