"""The document of pushed images, which `push` writes and hosts take images from."""

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from orchestrator.documents import DocumentKind, Envelope
from orchestrator.errors import InputError, first_problem
from orchestrator.images.registries.pushing import PushedImage
from orchestrator.images.registries.source import ImageSource

_DIGEST = re.compile(r"[A-Za-z0-9.:\[\]/_-]+@sha256:[0-9a-f]{64}")


class PushedImageData(TypedDict):
    """An image in a registry."""

    image: str
    reference: str
    """Its content tag on the engine that it came from."""
    digest: str
    """Its name in the registry with the digest of its manifest."""
    layers_sent: int | None
    """Layers that the registry lacked. None if the engine does not tell, as Podman's does not."""


class PushedImagesData(TypedDict):
    """The images of a plan in a registry."""

    registry: str
    images: list[PushedImageData]
    missing: list[str]
    """Images of the plan that are not on the engine."""


class _PushedImagesFile(TypedDict):
    schema: str
    orchestrator: str
    data: PushedImagesData


PUSHED_IMAGES = DocumentKind("pushed-images", 1, PushedImagesData)
_FILE = TypeAdapter(_PushedImagesFile)


def pushed_document(registry: str, images: Sequence[PushedImage], missing: Sequence[str]) -> Envelope:
    """Return the document of pushed images."""
    data: PushedImagesData = {
        "registry": registry,
        "images": [
            {
                "image": image.name,
                "reference": image.reference,
                "digest": image.digest,
                "layers_sent": image.layers_sent,
            }
            for image in images
        ],
        "missing": list(missing),
    }
    return PUSHED_IMAGES.envelope(data)


def image_source(path: Path) -> ImageSource:
    """Read the images that `push` wrote to a file. Raises `InputError` if it is no such file."""
    try:
        document = _FILE.validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}; write it with: orchestrator push REGISTRY -o {path}"
        ) from error
    except ValidationError as error:
        raise InputError(
            f"{path}: not what orchestrator push -o writes: {first_problem(error)}; write it again"
        ) from error
    if document["schema"] != PUSHED_IMAGES.label:
        raise InputError(
            f"{path}: {document['schema'][:80]!r} is not {PUSHED_IMAGES.label}; write it with this release"
        )
    digests = {image["reference"]: image["digest"] for image in document["data"]["images"]}
    for digest in digests.values():
        if not _DIGEST.fullmatch(digest):
            raise InputError(f"{path}: {digest[:200]!r} is no name with a digest, HOST/NAME@sha256:…; write it again")
    return ImageSource(str(path), digests)
