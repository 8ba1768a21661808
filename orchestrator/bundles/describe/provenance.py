"""Provenance of images, as in-toto statements with the provenance predicate of SLSA 1."""

import json
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

from orchestrator.build_settings import BuildSettings
from orchestrator.domain import ImageSpec
from orchestrator.engine.images import ImageFacts
from orchestrator.images import labels

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "urn:framework-bench:image:1"
BUILDER = "urn:framework-bench:orchestrator"
NOT_RECORDED = "not recorded"
"""Value for images that are older than the label."""


class ImageOrigin(Protocol):
    """An image of ours with its recipe."""

    @property
    def spec(self) -> ImageSpec:
        """The required contents."""
        ...

    @property
    def reference(self) -> str:
        """The content tag."""
        ...

    @property
    def content(self) -> str:
        """The content hash alone."""
        ...

    @property
    def base(self) -> str:
        """The base image, empty if only the Dockerfile names it."""
        ...


def statement(recipe: ImageOrigin, facts: ImageFacts, settings: BuildSettings) -> bytes:
    """Return the statement of an image with its inputs, its time and the version that built it.

    Equal images have equal statements. Facts that the labels lack come from the recipe, which is the same for every
    image with this content tag.
    """
    spec, own = recipe.spec, facts.labels
    environment = spec.environment
    document = {
        "_type": STATEMENT,
        "subject": [{"name": recipe.reference, "digest": {"sha256": _hex(facts.image_id)}}],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {
                    "framework": spec.framework.label,
                    "image_class": spec.image_class,
                    "python": environment.python,
                    "requirements": list(environment.requirements),
                    "system_packages": list(environment.system_packages),
                },
                "internalParameters": {
                    "content": recipe.content,
                    "dockerfile_sha256": own.get(labels.DOCKERFILE, NOT_RECORDED),
                    "package_sources": _package_sources(settings),
                },
                "resolvedDependencies": [
                    _dependency(name, own[label])
                    for name, label in ((recipe.base, labels.BASE_DIGEST), ("cuda", labels.CUDA_DIGEST))
                    if own.get(label)
                ],
            },
            "runDetails": {
                "builder": {"id": BUILDER, "version": {"orchestrator": own.get(labels.ORCHESTRATOR, NOT_RECORDED)}},
                "metadata": {"finishedOn": facts.created},
            },
        },
    }
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _dependency(name: str, digest: str) -> dict[str, object]:
    """Return a base image by its registry digest, else by its id on the engine."""
    registry_name, _, sha256 = digest.rpartition("sha256:")
    return {"name": registry_name.rstrip("@") or name, "digest": {"sha256": sha256}}


def _package_sources(settings: BuildSettings) -> dict[str, object]:
    """Return the places that this site takes packages from, without credentials."""
    return {
        "base_image": settings.base_image,
        **({"base_images": dict(settings.base_images)} if settings.base_images else {}),
        **({"cuda_images": dict(settings.cuda_images)} if settings.cuda_images else {}),
        "registry": settings.registry,
        "index": _public(settings.pip_index) if settings.pip_index else None,
        "extra_indexes": [_public(url) for url in settings.extra_indexes],
        "find_links": [_public(url) for url in settings.find_links],
        "apt_mirror": _public(settings.apt_mirror) if settings.apt_mirror else None,
        "no_index": settings.no_index,
    }


def _public(url: str) -> str:
    """Return a URL without user, password, query and fragment, and a folder as it is."""
    if "://" not in url:
        return url
    try:
        parts = urlsplit(url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return NOT_RECORDED


def _hex(digest: str) -> str:
    return digest.removeprefix("sha256:")
