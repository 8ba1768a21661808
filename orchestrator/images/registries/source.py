"""Images that an engine lacks, pulled by digest in place of a build and checked for their content."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import docker

from orchestrator.engine import images as engine
from orchestrator.engine import registry
from orchestrator.engine.images import ImageFacts
from orchestrator.errors import HostError, InputError
from orchestrator.events import Listener, Notice, transferred
from orchestrator.images import labels
from orchestrator.images.recipe import Recipe
from orchestrator.processes import Stop


@dataclass(frozen=True, slots=True)
class ImageSource:
    """Images in a registry, each known by its digest."""

    place: str
    """The file that lists them, for messages."""
    digests: Mapping[str, str]
    """Names with digests, such as `registry:5000/bench/mxnet@sha256:…`, by content tag."""


@dataclass(frozen=True, slots=True)
class WantedImage:
    """An image that an engine should have."""

    name: str
    """`ImageSpec.name`."""
    reference: str
    """Its content tag."""
    content: str
    """The content hash that its labels must have."""
    image_id: str | None = None
    """The only id that will do, where a bundle has settled that."""


def wanted_by(recipes: Iterable[Recipe]) -> tuple[WantedImage, ...]:
    """Return the images of recipes."""
    return tuple(WantedImage(recipe.spec.name, recipe.reference, recipe.content) for recipe in recipes)


def lacking(client: docker.DockerClient, wanted: Iterable[WantedImage]) -> tuple[WantedImage, ...]:
    """Return the images that an engine lacks."""
    return tuple(image for image in wanted if engine.facts(client, image.image_id or image.reference) is None)


def check_listed(source: ImageSource, missing: Iterable[WantedImage]) -> None:
    """Raise `InputError` with every missing image that the source does not list."""
    unlisted = [image for image in missing if image.reference not in source.digests]
    if unlisted:
        raise InputError(
            *(f"{source.place}: lists no {image.reference}, which this engine lacks" for image in unlisted),
            f"with the images of a registry nothing is built; push them: orchestrator push REGISTRY -o {source.place}",
        )


def fetch(
    client: docker.DockerClient, source: ImageSource, missing: Sequence[WantedImage], listener: Listener, stop: Stop
) -> bool:
    """Pull images and give them their content tags. Return false if `stop` was set on the way.

    Raises `InputError` if the source does not list one, or lists another image under its name, which is not kept.
    Raises `RegistryError` if the registry does not give one.
    """
    check_listed(source, missing)
    for image in missing:
        digest = source.digests[image.reference]
        listener(Notice(f"pulling {digest}"))
        told = transferred(f"pulling {digest}", listener)
        if not registry.pull(client, digest, stopped=stop.is_set, fetched=told):
            return False
        _accept(client, source, image, digest)
    return True


def _accept(client: docker.DockerClient, source: ImageSource, image: WantedImage, digest: str) -> None:
    """Name a pulled image by its content alone, so that it goes like one that was built here."""
    pulled = engine.facts(client, digest)
    if pulled is None:
        # Another process has brought the image meanwhile, and removed the name with the digest.
        if lacking(client, [image]):
            raise HostError(f"{image.reference} was removed while it was pulled; try again")
        return
    problem = _problem(image, pulled)
    if problem is None:
        engine.tag(client, pulled.image_id, image.reference)
    engine.remove(client, digest)
    if problem is not None:
        raise InputError(
            f"{source.place}: {digest} is not {image.reference}: {problem}; push it again from a host that has built it"
        )


def _problem(image: WantedImage, pulled: ImageFacts) -> str | None:
    """Return the difference between a pulled image and the one that is wanted, or None."""
    content = pulled.labels.get(labels.CONTENT, "")
    if content != image.content:
        return f"its content is {content or 'none of ours'}, and {image.content} is wanted"
    if image.image_id is not None and pulled.image_id != image.image_id:
        return f"its id is {pulled.image_id}, and the bundle came with {image.image_id}"
    return None
