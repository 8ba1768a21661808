"""The blobs of a bundle under the making: each layer compressed once, and every one named after its content."""

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from orchestrator.bundles import layout, unfinished
from orchestrator.bundles.archive import GZIP, ZSTD, ArchiveError, diff_ids
from orchestrator.bundles.layer_contents import LayerContents, LayerScan
from orchestrator.bundles.manifest import Layer

CHUNK = 1 << 20
LEVEL = 3
THREADS = 2
"""Fixed, as all that follows: what is compressed twice must come out equal on every host."""
WINDOW_LOG = 23
JOB_BYTES = 4 << 20
"""What each thread takes at a time; with the window it bounds the memory."""
MAX_WINDOW_BYTES = 1 << 27
_PART = ".part"


class Blobs:
    """Blobs in the `images/blobs/sha256` of a folder, and a note beside them of which layer each one is.

    `held` are layers that an earlier bundle has: they are known, and not written. What an interrupted export has
    left is taken up again, as far as it is whole. `paths` are those at which other exports have found layers.
    """

    def __init__(
        self,
        folder: Path,
        held: Mapping[str, Layer],
        progress: Callable[[int], None],
        seen: Callable[[str, LayerContents], None] = lambda *_: None,
        paths: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        self._seen = seen
        """Told what each layer holds that a bill of materials needs."""
        self._progress = progress
        self._held = dict(held)
        self._own: dict[str, Layer] = {}
        self._paths: dict[str, str] = {}
        self.written: dict[str, int] = {}
        """Digest → size in bytes, of every blob that belongs here."""
        (folder / layout.BLOBS).mkdir(parents=True, exist_ok=True)
        left = unfinished.noted(folder)
        for layer in left.layers if left else ():
            if layer.diff_id not in self._held and _is_whole(folder / layout.blob(layer.digest), layer):
                self._keep(layer)
        known = {**(paths or {}), **(left.paths if left else {})}
        self._paths = {path: diff_id for path, diff_id in known.items() if diff_id in self.layers}
        self._note()

    @property
    def layers(self) -> dict[str, Layer]:
        """Every known layer by its diff id."""
        return self._held | self._own

    @property
    def own(self) -> Iterable[Layer]:
        """The layers whose blobs are here."""
        return self._own.values()

    @property
    def paths(self) -> Mapping[str, str]:
        """The diff ids of known layers by their paths in the engine's archives."""
        return self._paths

    def known(self, path: str) -> str | None:
        """The diff id of what an earlier archive of this export had at this path."""
        return self._paths.get(path)

    def take(self, path: str, head: bytes, rest: BinaryIO) -> str:
        """Compress a layer into a blob of its own and return its diff id; raises `ArchiveError` where it is none."""
        part = self._folder / layout.BLOBS / _PART
        whole, packed, scan = hashlib.sha256(), hashlib.sha256(), LayerScan()
        raw_bytes = 0
        parameters = zstandard.ZstdCompressionParameters.from_level(
            LEVEL, threads=THREADS, window_log=WINDOW_LOG, job_size=JOB_BYTES
        )
        compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
        with part.open("wb") as file:

            def put(out: bytes) -> None:
                packed.update(out)
                file.write(out)

            for data in plain(head, rest):
                whole.update(data)
                scan.feed(data)
                raw_bytes += len(data)
                put(compressor.compress(data))
                self._progress(len(data))
            put(compressor.flush())
            size_bytes = file.tell()
        diff_id, digest = f"sha256:{whole.hexdigest()}", f"sha256:{packed.hexdigest()}"
        self._paths[path] = diff_id
        self._seen(diff_id, scan.contents())
        if diff_id in self.layers:
            part.unlink()
            return diff_id
        part.replace(self._folder / layout.blob(digest))
        self._keep(Layer(digest=digest, diff_id=diff_id, size_bytes=size_bytes, uncompressed_bytes=raw_bytes))
        self._note()
        return diff_id

    def add(self, content: bytes) -> str:
        """Write a small blob as it is, and return its digest."""
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        (self._folder / layout.blob(digest)).write_bytes(content)
        self.written[digest] = len(content)
        return digest

    def offer(self, content: bytes) -> None:
        """Put a configuration here that an earlier bundle holds; it belongs here once an image asks for it."""
        name = hashlib.sha256(content).hexdigest()
        (self._folder / layout.BLOBS / name).write_bytes(content)

    def has_config(self, digest: str, layers: Sequence[str]) -> bool:
        """Whether the configuration of an image of these layers (diff ids) is here, from an earlier attempt.

        What has the digest may be another document: some engines know an image by its manifest, which is here too.
        """
        try:
            content = (self._folder / layout.blob(digest)).read_bytes()
            found = diff_ids(content)
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return False
        return found == tuple(layers) and f"sha256:{hashlib.sha256(content).hexdigest()}" == digest

    def config(self, digest: str) -> tuple[tuple[str, ...], int]:
        """The layers that a configuration names, and its size in bytes; it belongs here from now on."""
        content = (self._folder / layout.blob(digest)).read_bytes()
        self.written[digest] = len(content)
        return diff_ids(content), len(content)

    def remove_others(self, wanted: Iterable[Layer]) -> None:
        """Remove the blobs that are none of these layers and none that `add` wrote: an earlier content's."""
        digests = {layer.digest for layer in wanted}
        for layer in [layer for layer in self._own.values() if layer.digest not in digests]:
            del self._own[layer.diff_id]
            del self.written[layer.digest]
        kept = {digest.removeprefix("sha256:") for digest in self.written}
        for path in (self._folder / layout.BLOBS).iterdir():
            if path.name not in kept:
                path.unlink()

    def _keep(self, layer: Layer) -> None:
        self._own[layer.diff_id] = layer
        self.written[layer.digest] = layer.size_bytes

    def _note(self) -> None:
        unfinished.note(self._folder, self.own, self._paths, only_images=True)


def _is_whole(path: Path, layer: Layer) -> bool:
    """Whether a blob that was left is what its name says: the power may have gone before it was on the disk."""
    try:
        if path.stat().st_size != layer.size_bytes:
            return False
        with path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}" == layer.digest
    except OSError:
        return False


def plain(head: bytes, rest: BinaryIO) -> Iterator[bytes]:
    """A layer without its compression, if it has one, in pieces of at most `CHUNK` bytes.

    Raises `ArchiveError` where it cannot be unpacked.
    """
    data = chain([head], iter(lambda: rest.read(CHUNK), b""))
    if head.startswith(GZIP):
        yield from _gunzipped(data)
    elif head.startswith(ZSTD):
        yield from _from_zstd(data)
    else:
        yield from data


def _from_zstd(data: Iterator[bytes]) -> Iterator[bytes]:
    unpacking = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).stream_reader(
        cast("BinaryIO", _Pieces(data)), read_across_frames=True
    )
    try:
        # As much at a time as was asked for: a few bytes may unpack to anything.
        yield from iter(lambda: unpacking.read(CHUNK), b"")
    except zstandard.ZstdError as error:
        raise ArchiveError(f"a layer cannot be unpacked: {error}") from error


class _Pieces:
    """Pieces of bytes as a file that can only be read on."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def read(self, size: int) -> bytes:
        """Give the next piece, whatever its size; empty at the end."""
        del size
        return next(self._pieces, b"")


def _gunzipped(data: Iterable[bytes]) -> Iterator[bytes]:
    unpacking = zlib.decompressobj(wbits=31)
    try:
        for piece in data:
            left = piece
            while left:
                unpacking = zlib.decompressobj(wbits=31) if unpacking.eof else unpacking
                yield unpacking.decompress(left, CHUNK)
                left = unpacking.unconsumed_tail or unpacking.unused_data
    except zlib.error as error:
        raise ArchiveError(f"a layer cannot be unpacked: {error}") from error
    if not unpacking.eof:
        raise ArchiveError("a layer cannot be unpacked: it is cut short")
