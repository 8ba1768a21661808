"""Compression of image layers."""

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO, cast

import zstandard

from orchestrator.bundles.format.engine_archive import GZIP, ZSTD, ArchiveError
from orchestrator.bundles.format.streams import CHUNK_BYTES, Pieces

MAX_WINDOW_BYTES = 1 << 27
_LEVEL = 3
_THREADS = 2
"""Fixed like the parameters below: equal layers must give equal bytes on every host."""
_WINDOW_LOG = 23
_JOB_BYTES = 4 << 20
"""Input of one thread at a time. Together with the window it bounds the memory."""


def compressor() -> "zstandard.ZstdCompressionObj":
    """Return a compressor for one layer."""
    parameters = zstandard.ZstdCompressionParameters.from_level(
        _LEVEL, threads=_THREADS, window_log=_WINDOW_LOG, job_size=_JOB_BYTES
    )
    return zstandard.ZstdCompressor(compression_params=parameters).compressobj()


def decompressed(head: bytes, rest: BinaryIO) -> Iterator[bytes]:
    """Give a layer without compression, in pieces of at most `CHUNK_BYTES`.

    `head` holds the first bytes of the layer. Raises `ArchiveError` if the layer cannot be decompressed.
    """
    data = chain([head], iter(lambda: rest.read(CHUNK_BYTES), b""))
    if head.startswith(GZIP):
        yield from _gunzipped(data)
    elif head.startswith(ZSTD):
        yield from _from_zstd(data)
    else:
        yield from data


def _from_zstd(data: Iterator[bytes]) -> Iterator[bytes]:
    reader = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).stream_reader(
        cast("BinaryIO", Pieces(data)), read_across_frames=True
    )
    try:
        # Bounded reads, because a few bytes may decompress to any size.
        yield from iter(lambda: reader.read(CHUNK_BYTES), b"")
    except zstandard.ZstdError as error:
        raise ArchiveError(f"a layer cannot be unpacked: {error}") from error


def _gunzipped(data: Iterable[bytes]) -> Iterator[bytes]:
    decompressor = zlib.decompressobj(wbits=31)
    try:
        for piece in data:
            left = piece
            while left:
                decompressor = zlib.decompressobj(wbits=31) if decompressor.eof else decompressor
                yield decompressor.decompress(left, CHUNK_BYTES)
                left = decompressor.unconsumed_tail or decompressor.unused_data
    except zlib.error as error:
        raise ArchiveError(f"a layer cannot be unpacked: {error}") from error
    if not decompressor.eof:
        raise ArchiveError("a layer cannot be unpacked: it is cut short")
