"""The images of a plan, pushed one after another, so that each finds the layers of those before it there."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import docker

from orchestrator.engine import images as engine
from orchestrator.engine import registry
from orchestrator.engine.images import ImageFacts
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
    layers_sent: int | None
    """Layers that the registry lacked. None if the engine does not tell."""


def push_all(
    client: docker.DockerClient, images: Iterable[LocalImage], listener: Listener, stop: Stop
) -> tuple[PushedImage, ...]:
    """Push images in order, and return those that were pushed before `stop` was set. Raises `RegistryError`."""
    pushed: list[PushedImage] = []
    # An image loses its name while the next one is pushed: with nothing to send, names take a fifth of the time.
    with ThreadPoolExecutor(max_workers=1) as restoring:
        for image in images:
            listener(Notice(f"pushing {image.remote}"))
            before = engine.facts(client, image.remote)
            engine.tag(client, image.image_id, image.remote)
            try:
                end = registry.push(client, image.remote, stopped=stop.is_set)
            finally:
                restoring.submit(_restore, client, image.remote, before)
            if end is None:
                break
            digest = f"{image.remote.rsplit(':', 1)[0]}@{end.digest}"
            pushed.append(PushedImage(image.name, image.reference, digest, end.layers_sent))
    return tuple(pushed)


def _restore(client: docker.DockerClient, name: str, before: ImageFacts | None) -> None:
    """Give a name back to the image that had it, or remove it."""
    if before is None:
        engine.remove(client, name)
    else:
        engine.tag(client, before.image_id, name)
