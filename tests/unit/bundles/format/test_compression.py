"""Layers are decompressed in pieces of limited size."""

import gzip
import io
from collections.abc import Callable

import pytest
import zstandard

from orchestrator.bundles.format.compression import decompressed
from orchestrator.bundles.format.engine_archive import ArchiveError
from orchestrator.bundles.format.streams import CHUNK_BYTES

LAYER = bytes(range(256)) * 8192 + bytes(64 * CHUNK_BYTES)


def _zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=3).compress(content)


def _in_frames(content: bytes) -> bytes:
    return b"".join(
        _zstd(content[at : at + len(content) // 3 + 1]) for at in range(0, len(content), len(content) // 3 + 1)
    )


def _pieces(packed: bytes) -> list[bytes]:
    return list(decompressed(packed[:512], io.BytesIO(packed[512:])))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, _zstd, _in_frames])
def test_layer_comes_in_bounded_pieces(pack: Callable[[bytes], bytes]) -> None:
    """A layer comes whole and in pieces that are bounded."""
    pieces = _pieces(pack(LAYER))

    assert b"".join(pieces) == LAYER
    assert max(map(len, pieces)) <= CHUNK_BYTES


@pytest.mark.parametrize("pack", [gzip.compress, _zstd])
def test_a_layer_that_is_damaged_is_none(pack: Callable[[bytes], bytes]) -> None:
    packed = pack(LAYER)

    with pytest.raises(ArchiveError, match="a layer cannot be unpacked: "):
        _pieces(packed[:600] + b"damaged" + packed[607:])
