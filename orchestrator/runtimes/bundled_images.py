"""Cells in containers of a bundle's images, which are looked up by content and never built."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import docker

from orchestrator.domain import BuildSettings, ImageSpec
from orchestrator.engine import images as engine
from orchestrator.engine.ownership import Owner
from orchestrator.errors import HostError
from orchestrator.events import BuildFinished, Listener
from orchestrator.images import labels
from orchestrator.images.making import Built
from orchestrator.processes import Stop
from orchestrator.runtimes.docker import DockerRuntime
from orchestrator.runtimes.model import Provided


@dataclass(frozen=True, slots=True)
class BundledImage:
    """An image that a plan was carried with."""

    name: str
    """`ImageSpec.name`."""
    reference: str
    """Its content tag."""
    image_id: str
    """As the engine knows it: the digest of its configuration (or, with containerd's image store, of its manifest),
    which names all that is in it."""


def not_on_engine(client: docker.DockerClient, images: Iterable[BundledImage]) -> tuple[BundledImage, ...]:
    """Return the images that the engine lacks."""
    return tuple(image for image in images if engine.facts(client, image.image_id) is None)


class BundledRuntime(DockerRuntime):
    """The `docker` runtime with a bundle's images. No base, index or registry is used."""

    def __init__(  # noqa: PLR0913 - what every runtime of containers is given, and the images
        self, client: docker.DockerClient, images: Sequence[BundledImage], remedy: str, *, user: str, owner: Owner,
        seccomp: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(client, BuildSettings(), user=user, owner=owner, seccomp=seccomp)
        self._images = {image.name: image for image in images}
        self._remedy = remedy

    def provide(
        self, images: Sequence[ImageSpec], *, jobs: int, logs: Path, listener: Listener, stop: Stop
    ) -> Provided:
        """Look up the images. Raises `HostError` with the names of those that are missing."""
        del logs
        bundled = [self._images[image.name] for image in images]
        there = {image.name: engine.facts(self._client, image.image_id) for image in bundled}
        missing = [image for image in bundled if there[image.name] is None]
        if missing:
            raise HostError(missing_images_text(missing, self._remedy))
        built = {
            name: Built(name, facts.image_id, facts.image_id, facts.labels.get(labels.BASE_DIGEST, ""), cached=True)
            for name, facts in there.items()
            if facts
        }
        for name in built:
            listener(BuildFinished(name, 0.0, cached=True))
        return self._known(images, built, jobs, stop)


def missing_images_text(missing: Sequence[BundledImage], remedy: str) -> str:
    """Return a line for each image that is not on the engine."""
    return "\n".join(f"image {image.name} ({image.reference}) is not on this engine; {remedy}" for image in missing)
