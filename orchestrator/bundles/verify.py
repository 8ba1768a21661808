"""Prove a bundle against its manifest: every byte is read once, and nothing is written."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

import zstandard

from orchestrator.bundles import layout
from orchestrator.bundles.archive import diff_ids
from orchestrator.bundles.blobs import CHUNK, MAX_WINDOW_BYTES
from orchestrator.bundles.manifest import MAX_MANIFEST_BYTES, Image, Layer, Manifest, read_manifest
from orchestrator.bundles.sources import Source, read_whole
from orchestrator.errors import InputError

MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
_CARRY_AGAIN = "the bundle is damaged or was changed: carry it again"

Progress = Callable[[int], None]
"""Told how many bytes of the bundle were read since it was told last."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A bundle whose manifest was read, and whose files are the ones that it lists, as far as names and sizes tell."""

    source: Source
    manifest: Manifest
    manifest_sha256: str


def open_bundle(source: Source) -> Opened:
    """Read a bundle's manifest, and compare what it lists with what is there.

    Raises `InputError` with one line for each file that is missing, foreign or of another size.
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
    return Opened(source, manifest, hashlib.sha256(content).hexdigest())


def verify(bundle: Opened, progress: Progress) -> None:
    """Read every file of a bundle to its end; raises `InputError` at the first that is not what the manifest says.

    Layers are unpacked on the way, and thrown away: what they hold must have the digest that images know them by.
    """
    layers = {layout.blob(layer.digest): layer for layer in bundle.manifest.layers.values()}
    for image in bundle.manifest.images:
        check_image(bundle, image)
    for file in bundle.manifest.files:
        pieces = (
            unpacked(bundle.source, layers[file.path], progress)
            if file.path in layers
            else checked(bundle.source, file.path, file.sha256, progress)
        )
        for _ in pieces:
            pass


def checked(source: Source, path: str, sha256: str, progress: Progress) -> Iterator[bytes]:
    """Give a file's bytes; raises `InputError` after the last one where they are not those of the digest."""
    digest = hashlib.sha256()
    with source.open(path) as file:
        while data := file.read(CHUNK):
            digest.update(data)
            progress(len(data))
            yield data
    if digest.hexdigest() != sha256:
        raise InputError(f"{source.place}: {path} has another digest than the manifest says; {_CARRY_AGAIN}")


def packed(source: Source, layer: Layer, progress: Progress) -> Iterator[bytes]:
    """Give a layer's blob as it lies; what it unpacks to is checked on the way, and raises as `unpacked` does."""
    read: list[bytes] = []
    for _ in unpacked(source, layer, progress, read.append):
        yield from read
        read.clear()
    yield from read


def unpacked(
    source: Source, layer: Layer, progress: Progress, seen: Callable[[bytes], None] = lambda _: None
) -> Iterator[bytes]:
    """Give a layer as a plain tar, its blob and itself checked on the way; `seen` is given the blob as it is read.

    Raises `InputError` as soon as it is more than the manifest says, and at the latest after the last byte: whoever
    passes the bytes on must not let them count before.
    """
    path = layout.blob(layer.digest)
    whole, total = hashlib.sha256(), 0
    blob = _Pieces(checked(source, path, layer.digest.removeprefix("sha256:"), progress), seen)
    reader = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).stream_reader(
        cast("BinaryIO", blob), read_size=CHUNK
    )
    try:
        # As much at a time as was asked for: a small blob may unpack to anything.
        while data := reader.read(CHUNK):
            total += len(data)
            if total > layer.uncompressed_bytes:
                raise _bad(source, path, f"unpacks to more than the {layer.uncompressed_bytes} bytes it should")
            whole.update(data)
            yield data
    except zstandard.ZstdError as error:
        raise _bad(source, path, f"cannot be unpacked ({error})") from None
    if total != layer.uncompressed_bytes or f"sha256:{whole.hexdigest()}" != layer.diff_id:
        raise _bad(source, path, f"does not hold the layer {layer.diff_id}")


class _Pieces:
    """Pieces of bytes as a file that can only be read on."""

    def __init__(self, pieces: Iterator[bytes], seen: Callable[[bytes], None]) -> None:
        self._pieces = pieces
        self._seen = seen

    def read(self, size: int) -> bytes:
        """Give the next piece, whatever its size; empty at the end."""
        del size
        piece = next(self._pieces, b"")
        self._seen(piece)
        return piece


def _bad(source: Source, path: str, said: str) -> InputError:
    return InputError(f"{source.place}: {path} {said}; {_CARRY_AGAIN}")


def config_of(bundle: Opened, image: Image) -> bytes:
    """An image's configuration; raises `InputError` where it is not the one that the manifest means."""
    content = read_whole(bundle.source, layout.blob(image.config), MAX_DOCUMENT_BYTES)
    if f"sha256:{hashlib.sha256(content).hexdigest()}" != image.config:
        raise _bad(bundle.source, layout.blob(image.config), "has another digest than its name")
    return content


def manifest_of(bundle: Opened, image: Image) -> bytes:
    """An image's manifest in the layout; raises `InputError` where it is not the one that the bundle means."""
    content = read_whole(bundle.source, layout.blob(image.manifest), MAX_DOCUMENT_BYTES)
    if f"sha256:{hashlib.sha256(content).hexdigest()}" != image.manifest:
        raise _bad(bundle.source, layout.blob(image.manifest), "has another digest than its name")
    return content


def check_image(bundle: Opened, image: Image) -> None:
    """Compare what an image's configuration and its manifest in the layout say with what the bundle's manifest says."""
    config = config_of(bundle, image)
    said = manifest_of(bundle, image)
    try:
        named = diff_ids(config)
        document = json.loads(said)
        digests = [layer["digest"] for layer in document["layers"]]
        config_digest = document["config"]["digest"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _bad(
            bundle.source, f"image {image.name}", "has a configuration or manifest that cannot be read"
        ) from None
    if named != tuple(layer.diff_id for layer in image.layers):
        raise _bad(bundle.source, f"image {image.name}", "has other layers in its configuration than in the manifest")
    if config_digest != image.config or digests != [layer.digest for layer in image.layers]:
        raise _bad(bundle.source, f"image {image.name}", "has other blobs in the layout than in the manifest")
