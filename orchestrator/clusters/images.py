"""The images of a run as they were when it began, so that every node gets the same."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from orchestrator.clusters.site.model import ImagesFrom


@dataclass(frozen=True, slots=True)
class FrozenImage:
    """An image that comes to nodes from elsewhere."""

    name: str
    """`ImageSpec.name`."""
    reference: str
    """Its content tag."""
    identity: str
    """Its name in the registry with the digest of its manifest, or the digest of its configuration in the bundle."""


@dataclass(frozen=True, slots=True)
class FrozenImages:
    """The way by which images come to a node, and what may come by it."""

    kind: ImagesFrom = ImagesFrom.BUILD
    place: str = ""
    """The file that `push` wrote, or the bundle; empty for images that the node builds."""
    manifest_sha256: str = ""
    """Of the bundle's `manifest.json`; empty without one."""
    images: tuple[FrozenImage, ...] = ()

    def of(self, names: Collection[str]) -> "FrozenImages":
        """Return these with the images of some names alone."""
        return replace(self, images=tuple(image for image in self.images if image.name in names))
