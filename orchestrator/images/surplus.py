"""Our images that nobody needs any more, decided from those the engine has.

What a user has built on one of ours inherits its labels, so labels alone make no image ours: its names must.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from orchestrator.engine import images as engine
from orchestrator.engine.client import Client
from orchestrator.engine.images import ImageFacts
from orchestrator.images import labels

_REPOSITORY = re.compile(r"(?:.+/)?bench/[^/:]+")
"""Of our images, below a registry or not."""
_STALE = timedelta(hours=1)
"""Build steps that are younger may belong to a build of another user of the engine."""


@dataclass(frozen=True, slots=True)
class Surplus:
    """One image that can go."""

    names: tuple[str, ...]
    image_id: str
    kind: str
    """`image` or `environment`."""
    created: str
    """ISO 8601, UTC."""
    frees_bytes: int
    """About what its layers take that nothing of ours needs which stays."""


def surplus(images: Sequence[ImageFacts], keep_last: int, in_use: Collection[str] = ()) -> tuple[Surplus, ...]:
    """Find images to remove, which are all but the `keep_last` newest of each alias and environments without an image.

    `images` are those with our label, newest first; `in_use` are names and ids that must stay. One that anybody has
    given a name of his own stays, with what it stands on.
    """
    needed = _kept(images, keep_last, set(in_use))
    gone = [image for image in images if image.image_id not in needed and image.tags]
    staying = [image for image in images if image.image_id in needed]
    return tuple(
        Surplus(image.tags, image.image_id, _kind(image), image.created, _frees(image, images, staying))
        for image in gone
    )


def _kept(images: Sequence[ImageFacts], keep_last: int, in_use: set[str]) -> set[str]:
    ours = [image for image in images if _is_ours(image)]
    needed = {image.image_id for image in images if in_use & {image.image_id, *image.tags}}
    needed |= {image.image_id for image in images if image not in ours}
    seen: dict[str, set[str]] = {}
    for image in ours:
        for alias in _aliases(image):
            newest = seen.setdefault(alias, set())
            if len(newest) < keep_last:
                newest.add(image.image_id)
                needed.add(image.image_id)
    stood_on = [image for image in images if image.image_id in needed]
    return needed | {image.image_id for image in images if any(_stands_on(other, image) for other in stood_on)}


def _is_ours(image: ImageFacts) -> bool:
    """Return true if all its names are ours, which end with its content hash or lack it."""
    content = image.labels.get(labels.CONTENT, "")
    named = [tag.rpartition(":") for tag in image.tags]
    true = {(repository, tag) for repository, _, tag in named if tag == content or tag.endswith(f"-{content}")}
    aliases = {(repository, tag.removesuffix(f"-{content}")) for repository, tag in true}
    return bool(content) and all(
        _REPOSITORY.fullmatch(repository) and (repository, tag) in true | aliases for repository, _, tag in named
    )


def _aliases(image: ImageFacts) -> set[str]:
    """Return the names of an image without its content hash, such as `bench/mxnet:1.9.1-cpu`.

    An environment has none.
    """
    content = f"-{image.labels.get(labels.CONTENT, '')}"
    if _kind(image) != labels.IMAGE:
        return set()
    return {tag.removesuffix(content) for tag in image.tags}


def _kind(image: ImageFacts) -> str:
    return image.labels.get(labels.KIND, labels.IMAGE)


def _stands_on(image: ImageFacts, other: ImageFacts) -> bool:
    return bool(other.layers) and image.layers[: len(other.layers)] == other.layers


def _frees(image: ImageFacts, images: Sequence[ImageFacts], staying: Sequence[ImageFacts]) -> int:
    if any(_stands_on(other, image) for other in staying):
        return 0
    below = [other for other in images if other.image_id != image.image_id and _stands_on(image, other)]
    return image.size_bytes - max((other.size_bytes for other in below), default=0)


def given_up(
    images: Sequence[ImageFacts], references: Collection[str], in_use: Collection[str] = ()
) -> tuple[Surplus, ...]:
    """Find what may go of the images that `references` name, with the environments that nothing else stands on.

    `images` are those with our label; what is in use, what others stand on, and what anybody has given a name of his
    own, stays.
    """
    wanted, needed = set(references), set(in_use)
    free = [image for image in images if _is_ours(image) and not needed & {image.image_id, *image.tags}]
    named = [image for image in free if wanted & set(image.tags)]
    named = [image for image in named if not _carries(image, images, named)]
    below = [
        image
        for image in free
        if _kind(image) == labels.ENVIRONMENT
        and any(_stands_on(gone, image) for gone in named)
        and not _carries(image, images, named)
    ]
    gone = [image for image in images if image in named or image in below]
    left = [image for image in images if image not in gone]
    return tuple(
        Surplus(image.tags, image.image_id, _kind(image), image.created, _frees(image, images, left)) for image in gone
    )


def _carries(image: ImageFacts, images: Sequence[ImageFacts], going: Sequence[ImageFacts]) -> bool:
    """Return true if another image that stays is built on it."""
    return any(_stands_on(other, image) for other in images if other.image_id != image.image_id and other not in going)


def labelled_images(client: Client) -> list[ImageFacts]:
    """Return the images with our label that an engine has."""
    return engine.labelled(client, labels.KIND)


def remove_stale_steps(client: Client) -> None:
    """Remove build steps of batches that were killed."""
    engine.remove_steps(client, labels.STAGE, before=datetime.now(UTC) - _STALE)


def removed_names(client: Client, image: Surplus) -> tuple[str, ...]:
    """Remove all names of an image, and return those that went. A container keeps the names of the image it uses."""
    return tuple(name for name in image.names if engine.remove(client, name))
