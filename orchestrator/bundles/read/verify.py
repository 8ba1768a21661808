"""Verification of a bundle with its manifest. Every byte is read once."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

import zstandard

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.compression import MAX_WINDOW_BYTES
from orchestrator.bundles.format.engine_archive import diff_ids
from orchestrator.bundles.format.manifest import MAX_MANIFEST_BYTES, Image, Layer, Manifest, read_manifest
from orchestrator.bundles.format.sources import BundleSource, read_whole
from orchestrator.bundles.format.streams import CHUNK_BYTES, Pieces, Progress
from orchestrator.errors import InputError

_CARRY_AGAIN = "the bundle is damaged or was changed: carry it again"


@dataclass(frozen=True, slots=True)
class OpenedBundle:
    """A bundle with its manifest, whose files have the listed names and sizes."""

    source: BundleSource
    manifest: Manifest
    manifest_sha256: str


def open_bundle(source: BundleSource) -> OpenedBundle:
    """Read the manifest of a bundle, and compare the names and sizes of its files.

    Raises `InputError` with one line for each file that is missing, unlisted or of another size.
    """
    content = read_whole(source, layout.MANIFEST, MAX_MANIFEST_BYTES)
    manifest = read_manifest(content, f"{source.place}/{layout.MANIFEST}")
    if content != manifest.encoded():
        raise InputError(f"{source.place}/{layout.MANIFEST}: is not as it was written; {_CARRY_AGAIN}")
    listed = manifest.by_path()
    problems = [
        *(f"{path} is missing" for path in sorted(set(listed) - set(source.sizes))),
        *(f"{path} is not in the manifest" for path in sorted(set(source.sizes) - set(listed) - layout.UNLISTED)),
        *(
            f"{path} has {source.sizes[path]} bytes instead of {file.size_bytes}"
            for path, file in sorted(listed.items())
            if source.sizes.get(path, file.size_bytes) != file.size_bytes
        ),
    ]
    if not problems and read_whole(source, layout.SUMS, MAX_MANIFEST_BYTES) != manifest.sums():
        problems = [f"{layout.SUMS} does not say what {layout.MANIFEST} says"]
    if problems:
        more = [f"and {len(problems) - 20} more"] if len(problems) > 20 else []
        raise InputError(*(f"{source.place}: {problem}; {_CARRY_AGAIN}" for problem in problems[:20]), *more)
    return OpenedBundle(source, manifest, hashlib.sha256(content).hexdigest())


def verify(bundle: OpenedBundle, progress: Progress) -> None:
    """Read every file of a bundle. Raises `InputError` at the first that differs from the manifest.

    Layers are decompressed too, because images name them by the digest of the plain layer.
    """
    layers = {layout.blob_path(layer.digest): layer for layer in bundle.manifest.layers.values()}
    for image in bundle.manifest.images:
        check_image(bundle, image)
    for file in bundle.manifest.files:
        pieces = (
            unpacked_layer(bundle.source, layers[file.path], progress)
            if file.path in layers
            else verified_bytes(bundle.source, file.path, file.sha256, progress)
        )
        for _ in pieces:
            pass


def verified_bytes(source: BundleSource, path: str, sha256: str, progress: Progress) -> Iterator[bytes]:
    """Give the bytes of a file. Raises `InputError` after the last one if the digest differs."""
    digest = hashlib.sha256()
    with source.open(path) as file:
        while data := file.read(CHUNK_BYTES):
            digest.update(data)
            progress(len(data))
            yield data
    if digest.hexdigest() != sha256:
        raise InputError(f"{source.place}: {path} has another digest than the manifest says; {_CARRY_AGAIN}")


def packed_layer(source: BundleSource, layer: Layer, progress: Progress) -> Iterator[bytes]:
    """Give the compressed bytes of a layer, and verify the plain layer. Raises as `unpacked_layer` does."""
    read: list[bytes] = []
    for _ in unpacked_layer(source, layer, progress, read.append):
        yield from read
        read.clear()
    yield from read


def unpacked_layer(
    source: BundleSource, layer: Layer, progress: Progress, seen: Callable[[bytes], None] = lambda _: None
) -> Iterator[bytes]:
    """Give the bytes of a plain layer, and verify them and the blob. `seen` is called with the blob as it is read.

    Raises `InputError` at the first byte above the listed size, or after the last byte if a digest differs. The caller
    must not use the bytes before.
    """
    path = layout.blob_path(layer.digest)
    digest, total = hashlib.sha256(), 0
    blob = Pieces(verified_bytes(source, path, layer.digest.removeprefix("sha256:"), progress), seen)
    reader = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).stream_reader(
        cast("BinaryIO", blob), read_size=CHUNK_BYTES
    )
    try:
        # Bounded reads, because a small blob may decompress to any size.
        while data := reader.read(CHUNK_BYTES):
            total += len(data)
            if total > layer.uncompressed_bytes:
                raise _damaged(source, path, f"unpacks to more than the {layer.uncompressed_bytes} bytes it should")
            digest.update(data)
            yield data
    except zstandard.ZstdError as error:
        raise _damaged(source, path, f"cannot be unpacked ({error})") from None
    if total != layer.uncompressed_bytes or f"sha256:{digest.hexdigest()}" != layer.diff_id:
        raise _damaged(source, path, f"does not hold the layer {layer.diff_id}")


def _damaged(source: BundleSource, path: str, problem: str) -> InputError:
    return InputError(f"{source.place}: {path} {problem}; {_CARRY_AGAIN}")


def config_of(bundle: OpenedBundle, image: Image) -> bytes:
    """Return the configuration of an image. Raises `InputError` if its digest differs."""
    return _document(bundle, image.config)


def manifest_of(bundle: OpenedBundle, image: Image) -> bytes:
    """Return the manifest of an image in the layout. Raises `InputError` if its digest differs."""
    return _document(bundle, image.manifest)


def _document(bundle: OpenedBundle, digest: str) -> bytes:
    path = layout.blob_path(digest)
    content = read_whole(bundle.source, path, layout.MAX_IMAGE_DOCUMENT_BYTES)
    if f"sha256:{hashlib.sha256(content).hexdigest()}" != digest:
        raise _damaged(bundle.source, path, "has another digest than its name")
    return content


def check_image(bundle: OpenedBundle, image: Image) -> None:
    """Raise `InputError` if an image's configuration or manifest differs from the manifest of the bundle."""
    config = config_of(bundle, image)
    manifest = manifest_of(bundle, image)
    try:
        listed = diff_ids(config)
        document = json.loads(manifest)
        digests = [layer["digest"] for layer in document["layers"]]
        config_digest = document["config"]["digest"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _damaged(
            bundle.source, f"image {image.name}", "has a configuration or manifest that cannot be read"
        ) from None
    if listed != tuple(layer.diff_id for layer in image.layers):
        problem = "has other layers in its configuration than in the manifest"
        raise _damaged(bundle.source, f"image {image.name}", problem)
    if config_digest != image.config or digests != [layer.digest for layer in image.layers]:
        raise _damaged(bundle.source, f"image {image.name}", "has other blobs in the layout than in the manifest")
