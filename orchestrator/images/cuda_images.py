"""The images that CUDA libraries are copied from, of which NVIDIA has deleted the old ones."""

import re
from collections.abc import Sequence

from orchestrator.build_settings import BuildSettings
from orchestrator.domain import ImageSpec
from orchestrator.images.dockerfiles import cuda_reference

LAST_DELETED = (10, 2)
"""NVIDIA took the images of this and all earlier releases of CUDA off its registries in 2023."""
_PUBLISHED = re.compile(r"(docker\.io/)?nvidia/cuda:(?P<major>\d+)\.(?P<minor>\d+)")


def is_deleted(reference: str) -> bool:
    """Return true if NVIDIA has deleted an image from the registry that its name leads to."""
    published = _PUBLISHED.match(reference)
    return published is not None and (int(published["major"]), int(published["minor"])) <= LAST_DELETED


def without_source(images: Sequence[ImageSpec], settings: BuildSettings) -> tuple[ImageSpec, ...]:
    """Return the images whose CUDA libraries come from an image that NVIDIA has deleted."""
    return tuple(image for image in images if is_deleted(cuda_reference(image, settings) or ""))
