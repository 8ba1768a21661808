"""Where an image comes from, as a statement of in-toto with the provenance predicate of SLSA 1."""

import json
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

from orchestrator.domain import BuildSettings, ImageSpec
from orchestrator.engine.images import ImageFacts
from orchestrator.images import labels

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "urn:framework-bench:image:1"
BUILDER = "urn:framework-bench:orchestrator"
NOT_RECORDED = "not recorded"
"""Of images that were built before their labels told."""


class Made(Protocol):
    """An image of ours, and what it was made from."""

    @property
    def spec(self) -> ImageSpec:
        """What it must hold."""
        ...

    @property
    def reference(self) -> str:
        """Its content tag."""
        ...

    @property
    def content(self) -> str:
        """The content hash alone."""
        ...

    @property
    def base(self) -> str:
        """The image that it stands on; empty where its Dockerfile alone names that."""
        ...


def statement(recipe: Made, facts: ImageFacts, settings: BuildSettings) -> bytes:
    """Tell of an image what it was built from, when, and by which version; equal images have equal statements.

    What an image does not tell itself comes from its recipe: under one content tag, both are the same.
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
    """A base image: `name@sha256:…` where a registry gave that, else the id that it has on the engine."""
    found, _, sha256 = digest.rpartition("sha256:")
    return {"name": found.rstrip("@") or name, "digest": {"sha256": sha256}}


def _package_sources(settings: BuildSettings) -> dict[str, object]:
    """Where this site takes packages from; a credential has no place in a bundle."""
    return {
        "base_image": settings.base_image,
        "registry": settings.registry,
        "index": _public(settings.pip_index) if settings.pip_index else None,
        "extra_indexes": [_public(url) for url in settings.extra_indexes],
        "find_links": [_public(url) for url in settings.find_links],
        "apt_mirror": _public(settings.apt_mirror) if settings.apt_mirror else None,
        "no_index": settings.no_index,
    }


def _public(url: str) -> str:
    """A URL without user, password, query and fragment; what is no URL is a folder, and stays."""
    if "://" not in url:
        return url
    try:
        parts = urlsplit(url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return NOT_RECORDED


def _hex(digest: str) -> str:
    return digest.removeprefix("sha256:")
