"""Tar streams of plain files with zstd. Equal contents give equal bytes, and a reader trusts nothing.

The standard library's reader acts on headers before they can be checked (links, sparse files, comments of any
length), and keeps every member in memory. Here a member is a path, a size and bytes that are read once.
"""

import re
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

import zstandard

from orchestrator.bundles.format.streams import CHUNK_BYTES

LEVEL = 3
_BLOCK = tarfile.BLOCKSIZE
_END = bytes(2 * _BLOCK)
_MOST_COMMENT_BYTES = 16 * 1024
_MOST_WINDOW_BYTES = 128 * 1024 * 1024
"""Memory limit of decompression, which equals that of `zstd --long`."""
_MOST_SHOWN = 200
_RECORD = re.compile(rb"([0-9]{1,5}) ([a-z]{1,20})=")
_KINDS = {
    tarfile.LNKTYPE: "a hard link", tarfile.SYMTYPE: "a symbolic link", tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device", tarfile.DIRTYPE: "a folder", tarfile.FIFOTYPE: "a pipe",
}  # fmt: skip


class BrokenArchiveError(ValueError):
    """A damaged or foreign archive. The message is one line without the name of the file."""


@dataclass(frozen=True, slots=True)
class Member:
    """One plain file of an archive."""

    path: str
    """Unchecked path from the archive."""
    size: int


class ArchiveWriter:
    """A writer of members whose headers hold only path and size."""

    def __init__(self, stream: BinaryIO) -> None:
        compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, write_content_size=False)
        self._out = compressor.stream_writer(stream, closefd=False)

    def add(self, path: str, size: int, chunks: Iterable[bytes]) -> None:
        """Add a file. Raises `ValueError` if the chunks are not `size` bytes in total."""
        entry = tarfile.TarInfo(path)
        entry.size = size
        self._out.write(entry.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict"))
        left = size
        for chunk in chunks:
            left -= len(chunk)
            self._out.write(chunk)
        if left:
            raise ValueError(f"{path} is {size - left} bytes, not {size}")
        self._out.write(bytes(-size % _BLOCK))

    def close(self) -> None:
        """Write the end of the archive. The stream stays open."""
        self._out.write(_END)
        self._out.close()  # type: ignore[no-untyped-call]  # the library has no annotation here


class ArchiveReader:
    """A reader of members in order, in constant memory."""

    def __init__(self, stream: BinaryIO) -> None:
        decompressor = zstandard.ZstdDecompressor(max_window_size=_MOST_WINDOW_BYTES)
        self._in = decompressor.stream_reader(stream, read_across_frames=True, closefd=False)
        self._left = 0

    def members(self) -> Iterator[Member]:
        """Give every member. The caller must read its bytes with `content` before the next member.

        Raises `BrokenArchiveError` if a member is no plain file, if the stream is damaged, or if data follows the end.
        """
        while (header := self._exactly(_BLOCK)) != bytes(_BLOCK):
            comment: dict[str, str] = {}
            info = _parsed(header)
            if info.type == tarfile.XHDTYPE:
                comment = self._comment(info)
                info = _parsed(self._exactly(_BLOCK))
            member = _member(info, comment)
            self._left = member.size
            yield member
            if self._left:
                raise ValueError(f"{member.path} was not read to its end")
            self._exactly(-member.size % _BLOCK)
        if self._exactly(_BLOCK) != bytes(_BLOCK) or self._some(1):
            raise BrokenArchiveError("something follows its end")

    def content(self) -> Iterator[bytes]:
        """Give the bytes of the current member in pieces."""
        while self._left:
            chunk = self._some(min(CHUNK_BYTES, self._left))
            if not chunk:
                raise BrokenArchiveError("it is cut off")
            self._left -= len(chunk)
            yield chunk

    def _comment(self, info: tarfile.TarInfo) -> dict[str, str]:
        """Return the records of a PAX header, which hold only a long path or a large size."""
        if not 0 < info.size <= _MOST_COMMENT_BYTES:
            raise BrokenArchiveError(f"it has a header of {info.size} bytes")
        text = self._exactly(info.size)
        self._exactly(-info.size % _BLOCK)
        records: dict[str, str] = {}
        while text:
            match = _RECORD.match(text)
            length = int(match[1]) if match else 0
            if match is None or not match.end() < length <= len(text) or text[length - 1 : length] != b"\n":
                raise BrokenArchiveError("it has a header that cannot be read")
            name = match[2].decode()
            if name not in {"path", "size"}:
                raise BrokenArchiveError(f"it has a header with {name!r}")
            records[name] = text[match.end() : length - 1].decode("utf-8", "surrogateescape")
            text = text[length:]
        return records

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            chunk = self._some(size - len(data))
            if not chunk:
                raise BrokenArchiveError("it is cut off")
            data += chunk
        return bytes(data)

    def _some(self, size: int) -> bytes:
        try:
            return self._in.read(size)
        except zstandard.ZstdError as error:
            raise BrokenArchiveError(f"it cannot be decompressed: {error}") from None


@contextmanager
def archive_writer(stream: BinaryIO) -> Iterator[ArchiveWriter]:
    """Give a writer, and write the end of the archive if no error occurred."""
    writer = ArchiveWriter(stream)
    yield writer
    writer.close()


def printable(path: str) -> str:
    """Return an untrusted path in a form for messages."""
    return ascii(path if len(path) <= _MOST_SHOWN else f"{path[:_MOST_SHOWN]}…")


def _parsed(header: bytes) -> tarfile.TarInfo:
    try:
        return tarfile.TarInfo.frombuf(header, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        raise BrokenArchiveError("it is no tar archive, or damaged") from None


def _member(info: tarfile.TarInfo, comment: dict[str, str]) -> Member:
    path, size = comment.get("path", info.name), info.size
    if info.type not in {tarfile.REGTYPE, tarfile.AREGTYPE}:
        raise BrokenArchiveError(f"{printable(path)} in it is {_KINDS.get(info.type, 'no plain file')}")
    if "size" in comment:
        size = int(comment["size"]) if re.fullmatch(r"[0-9]{1,18}", comment["size"]) else -1
    if size < 0:
        raise BrokenArchiveError(f"{printable(path)} in it has an impossible size")
    return Member(path, size)
