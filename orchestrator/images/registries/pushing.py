"""The images of a plan, pushed one after another, so that each finds the layers of those before it there."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import docker

from orchestrator.engine import images as engine
from orchestrator.engine import registry
from orchestrator.events import Listener, Notice
from orchestrator.processes import Stop


@dataclass(frozen=True, slots=True)
class LocalImage:
    """An image of a plan that the engine has."""

    name: str
    """`ImageSpec.name`."""
    reference: str
    """Its content tag."""
    image_id: str
    remote: str
    """Its name in the registry, with the content tag."""


@dataclass(frozen=True, slots=True)
class PushedImage:
    """An image in a registry."""

    name: str
    """`ImageSpec.name`."""
    reference: str
    """Its content tag on this engine."""
    digest: str
    """Its name in the registry with the digest of its manifest, `registry:5000/bench/mxnet@sha256:…`."""
    layers_sent: int
    """Layers that the registry lacked."""


def push_all(
    client: docker.DockerClient, images: Iterable[LocalImage], listener: Listener, stop: Stop
) -> Iterator[PushedImage]:
    """Push images in order and yield each, until `stop` is set. Raises `RegistryError`."""
    for image in images:
        listener(Notice(f"pushing {image.remote}"))
        with _named(client, image):
            pushed = registry.push(client, image.remote, stopped=stop.is_set)
        if pushed is None:
            return
        repository = image.remote.rsplit(":", 1)[0]
        yield PushedImage(image.name, image.reference, f"{repository}@{pushed.digest}", pushed.layers_sent)


@contextmanager
def _named(client: docker.DockerClient, image: LocalImage) -> Iterator[None]:
    """Give an image its name in the registry, as engines push names alone, and leave the names as they were."""
    before = engine.facts(client, image.remote)
    engine.tag(client, image.image_id, image.remote)
    try:
        yield
    finally:
        if before is None:
            engine.remove(client, image.remote)
        else:
            engine.tag(client, before.image_id, image.remote)
