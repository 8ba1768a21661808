"""What the engine saves, read as it streams by: docker-archives, and the OCI layouts of newer engines alike."""

import json
import posixpath
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, cast

_CHUNK = 1 << 20
_BLOCK = 512
_MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"


class ArchiveError(Exception):
    """What the engine gave is no archive of images; the message is one line."""


@dataclass(frozen=True, slots=True)
class ArchivedImage:
    """One image of an archive."""

    config: bytes
    diff_ids: tuple[str, ...]
    """As its configuration has them, lowest first."""
    tags: tuple[str, ...]


class Layers(Protocol):
    """Who takes the layers as they come by."""

    def known(self, path: str) -> str | None:
        """The diff id of what an earlier archive had at this path: it is not taken again."""
        ...

    def take(self, path: str, head: bytes, rest: BinaryIO) -> str:
        """Take in a layer, compressed or not, and return its diff id."""
        ...


def read_archive(stream: BinaryIO, layers: Layers) -> tuple[ArchivedImage, ...]:
    """Read an archive to its end, hand every layer to `layers`, and return the images as its manifest names them.

    Raises `ArchiveError` where it is none, or where a layer is not what the configuration of its image says.
    """
    documents: dict[str, bytes] = {}
    links: dict[str, str] = {}
    found: dict[str, str] = {}
    try:
        with tarfile.open(fileobj=stream, mode="r|", bufsize=_CHUNK) as archive:
            for member in archive:
                name = posixpath.normpath(member.name)
                if member.issym() or member.islnk():
                    above = posixpath.dirname(name) if member.issym() else ""
                    links[name] = posixpath.normpath(posixpath.join(above, member.linkname))
                elif member.isreg():
                    _file(name, archive, member, layers, documents, found)
                archive.members = []  # type: ignore[attr-defined]  # it would remember every one
    except (tarfile.TarError, EOFError) as error:
        raise ArchiveError(f"it broke off: {error}") from error
    return _images(documents, links, found)


def _file(  # noqa: PLR0913, PLR0917 - one step of the loop above
    name: str,
    archive: tarfile.TarFile,
    member: tarfile.TarInfo,
    layers: Layers,
    documents: dict[str, bytes],
    found: dict[str, str],
) -> None:
    known = layers.known(name)
    if known is not None:
        found[name] = known
        return
    file = cast("BinaryIO", archive.extractfile(member))
    head = file.read(_BLOCK)
    if _is_layer(head, member.size):
        found[name] = layers.take(name, head, file)
    elif member.size <= _MAX_DOCUMENT_BYTES:
        documents[name] = head + file.read()


def _is_layer(head: bytes, size: int) -> bool:
    if head.startswith((GZIP, ZSTD)):
        return True
    return size >= 2 * _BLOCK and (head[257:262] == b"ustar" or not head.strip(b"\0"))


def _images(
    documents: Mapping[str, bytes], links: Mapping[str, str], found: Mapping[str, str]
) -> tuple[ArchivedImage, ...]:
    try:
        entries = json.loads(documents["manifest.json"])
        images = tuple(_image(entry, documents) for entry in entries)
    except (KeyError, ValueError, TypeError) as error:
        raise ArchiveError(f"it has no manifest that can be read: {error!r}") from error
    for entry, image in zip(entries, images, strict=True):
        names = [posixpath.normpath(name) for name in entry["Layers"]]
        there = tuple(found.get(links.get(name, name), "nothing") for name in names)
        if there != image.diff_ids:
            wrong = next((pair for pair in zip(there, image.diff_ids, strict=False) if pair[0] != pair[1]), ("", ""))
            raise ArchiveError(f"an image says that its layer is {wrong[1]}; {wrong[0]} is there")
    return images


def _image(entry: Mapping[str, Any], documents: Mapping[str, bytes]) -> ArchivedImage:
    config = documents[posixpath.normpath(entry["Config"])]
    return ArchivedImage(config, diff_ids(config), tuple(entry.get("RepoTags") or ()))


def diff_ids(config: bytes) -> tuple[str, ...]:
    """The layers that a configuration names, lowest first; raises `ValueError` or a relative where it is none."""
    return tuple(str(diff_id) for diff_id in json.loads(config)["rootfs"].get("diff_ids") or ())
