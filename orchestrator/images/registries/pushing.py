"""The images of a plan, pushed to a registry."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import docker

from orchestrator.engine import images as engine
from orchestrator.engine import registry
from orchestrator.events import Listener, Notice
from orchestrator.processes import Stop

_AT_ONCE = 4


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
    client: docker.DockerClient, images: Sequence[LocalImage], listener: Listener, stop: Stop
) -> tuple[PushedImage, ...]:
    """Push images, and return those that were pushed before `stop` was set. Raises `RegistryError`.

    Those whose name the registry has need no layer, in all likelihood, and are pushed several at once. The others are
    pushed in order, so that a layer of several images is sent once.
    """
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        known = dict(zip(images, pool.map(lambda image: registry.has(client, image.remote), images), strict=True))
        again = pool.map(
            lambda image: _push(client, image, listener, stop), [image for image in images if known[image]]
        )
        new = (_push(client, image, listener, stop) for image in images if not known[image])
        pushed = {image.reference: image for image in (*again, *new) if image is not None}
    return tuple(pushed[image.reference] for image in images if image.reference in pushed)


def _push(client: docker.DockerClient, image: LocalImage, listener: Listener, stop: Stop) -> PushedImage | None:
    if stop.is_set():
        return None
    listener(Notice(f"pushing {image.remote}"))
    with _named(client, image):
        pushed = registry.push(client, image.remote, stopped=stop.is_set)
    if pushed is None:
        return None
    repository = image.remote.rsplit(":", 1)[0]
    return PushedImage(image.name, image.reference, f"{repository}@{pushed.digest}", pushed.layers_sent)


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
