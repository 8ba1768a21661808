"""The decision whether disk space is sufficient, made from numbers."""

from collections.abc import Sequence

from orchestrator.catalog import shipped_catalog
from orchestrator.domain import ImageSpec
from orchestrator.planning.cost.estimate import BASE_MB, disk_bytes

PACKED = 0.5
"""The share of the size of images that their layers take in a bundle."""


def image_bytes(absent: Sequence[ImageSpec], bases: int) -> int:
    """Estimate the bytes that an engine needs to build images and to fetch a number of base images.

    An environment exists twice while its image is made, so the largest one counts twice.
    """
    sizes = [disk_bytes([image], shipped_catalog(), bases=False) for image in absent]
    return sum(sizes) + max(sizes, default=0) + bases * BASE_MB * 1_000_000


def environment_bytes(absent: Sequence[ImageSpec]) -> int:
    """Estimate the bytes that virtual environments take."""
    return disk_bytes(absent, shipped_catalog(), bases=False)


def bundle_bytes(images: Sequence[ImageSpec], there: int) -> int:
    """Estimate the bytes that a bundle of images needs beyond those that its folder holds already."""
    return max(0, round(disk_bytes(images, shipped_catalog()) * PACKED) - there)


def shortage(what: str, needed: int, free: int | None, where: str, remedies: Sequence[str]) -> str:
    """Return a line that says that there is too little disk, or "" if it fits or free space is unknown.

    The `remedies` are those of this place and this command, in addition to switching the check off.
    """
    if free is None or needed <= free:
        return ""
    return (
        f"{where}: not enough disk for {what}: about {_size(needed)} are needed, {_size(free)} are free; "
        f"{', '.join(remedies)}, or set ORCHESTRATOR_DISK_CHECK=off if the estimate is wrong"
    )


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
