"""The images of a run on a cluster, looked up where it begins, in the list of a registry or in a bundle."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator import images
from orchestrator.build_settings import BuildSettings
from orchestrator.bundles.format.sources import open_source
from orchestrator.bundles.read.verify import OpenedBundle, open_bundle
from orchestrator.clusters.images import FrozenImage, FrozenImages
from orchestrator.clusters.site import ImagesFrom, NodeImages
from orchestrator.domain import ImageSpec
from orchestrator.errors import InputError
from orchestrator.images.recipe import Recipe
from orchestrator.images.registries.pushed_file import image_source

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_MOST_NAMED = 20


def frozen_images(way: NodeImages, specs: Sequence[ImageSpec], settings: BuildSettings) -> FrozenImages:
    """Return the images of a plan as a registry or a bundle has them.

    Raises `InputError` if there is no such file or bundle, and for every image that it lacks or has with another
    content than the plan asks for.
    """
    if way.kind is ImagesFrom.BUILD:
        return FrozenImages()
    bundle = open_bundle(open_source(Path(way.place))) if way.kind is ImagesFrom.BUNDLE else None
    offered = image_source(Path(way.place)).digests if bundle is None else _of_bundle(bundle)
    architecture = _ARCHITECTURES.get(platform.machine(), platform.machine())
    recipes = images.recipes(specs, settings, architecture=architecture)
    if problems := list(_problems(recipes, offered, way.place)):
        remedy = "export the matrix again" if bundle else f"push them: orchestrator push REGISTRY -o {way.place}"
        raise InputError(*problems[:_MOST_NAMED], f"nodes build nothing with `images` of a site; {remedy}")
    chosen = tuple(FrozenImage(each.spec.name, each.reference, offered[each.reference]) for each in recipes)
    return FrozenImages(way.kind, way.place, bundle.manifest_sha256 if bundle else "", chosen)


def _of_bundle(bundle: OpenedBundle) -> Mapping[str, str]:
    return {image.reference: image.config for image in bundle.manifest.images}


def _problems(recipes: Sequence[Recipe], offered: Mapping[str, str], place: str) -> Iterator[str]:
    """Yield a line for each image that is not offered."""
    contents = {reference.rpartition("-")[0]: reference.rpartition("-")[2] for reference in offered}
    for recipe in recipes:
        if recipe.reference in offered:
            continue
        name, _, content = recipe.reference.rpartition("-")
        if other := contents.get(name):
            yield (
                f"{place}: has {name} with the content {other}, and this matrix asks for {content}: the matrix, the "
                "settings of its build and the version of the program must be those that it was built with"
            )
        else:
            yield f"{place}: lacks {recipe.reference}"
