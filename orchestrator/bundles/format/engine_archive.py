"""Archives of images as an engine saves them, docker-archives and the OCI layouts of newer engines."""

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
    """An archive that cannot be read. The message is one line."""


@dataclass(frozen=True, slots=True)
class ArchivedImage:
    """One image of an archive."""

    config: bytes
    diff_ids: tuple[str, ...]
    """From its configuration, lowest layer first."""
    tags: tuple[str, ...]


class LayerReader(Protocol):
    """A receiver of the layers of an archive."""

    def known(self, path: str) -> str | None:
        """Return the diff id of the layer that earlier archives had at this path, which is not read again."""
        ...

    def take(self, path: str, head: bytes, rest: BinaryIO) -> str:
        """Read a layer, compressed or not, and return its diff id."""
        ...


def read_archive(stream: BinaryIO, layers: LayerReader) -> tuple[ArchivedImage, ...]:
    """Read an archive to its end, pass every layer to `layers`, and return the images in its manifest.

    Raises `ArchiveError` if it is no archive of images, or if a layer differs from the configuration of its image.
    """
    documents: dict[str, bytes] = {}
    links: dict[str, str] = {}
    diff_ids_by_path: dict[str, str] = {}
    try:
        with tarfile.open(fileobj=stream, mode="r|", bufsize=_CHUNK) as archive:
            for member in archive:
                name = posixpath.normpath(member.name)
                if member.issym() or member.islnk():
                    above = posixpath.dirname(name) if member.issym() else ""
                    links[name] = posixpath.normpath(posixpath.join(above, member.linkname))
                elif member.isreg():
                    file = cast("BinaryIO", archive.extractfile(member))
                    _read_file(name, file, member.size, layers, documents, diff_ids_by_path)
                archive.members = []  # type: ignore[attr-defined]  # else it keeps every member in memory
    except (tarfile.TarError, EOFError) as error:
        raise ArchiveError(f"it broke off: {error}") from error
    return _images(documents, links, diff_ids_by_path)


def _read_file(  # noqa: PLR0913, PLR0917 - one step of the loop above
    name: str,
    file: BinaryIO,
    size: int,
    layers: LayerReader,
    documents: dict[str, bytes],
    diff_ids_by_path: dict[str, str],
) -> None:
    known = layers.known(name)
    if known is not None:
        diff_ids_by_path[name] = known
        return
    head = file.read(_BLOCK)
    if _is_layer(head, size):
        diff_ids_by_path[name] = layers.take(name, head, file)
    elif size <= _MAX_DOCUMENT_BYTES:
        documents[name] = head + file.read()


def _is_layer(head: bytes, size: int) -> bool:
    if head.startswith((GZIP, ZSTD)):
        return True
    return size >= 2 * _BLOCK and (head[257:262] == b"ustar" or not head.strip(b"\0"))


def _images(
    documents: Mapping[str, bytes], links: Mapping[str, str], diff_ids_by_path: Mapping[str, str]
) -> tuple[ArchivedImage, ...]:
    try:
        entries = json.loads(documents["manifest.json"])
        images = tuple(_image(entry, documents) for entry in entries)
    except (KeyError, ValueError, TypeError) as error:
        raise ArchiveError(f"it has no manifest that can be read: {error!r}") from error
    for entry, image in zip(entries, images, strict=True):
        names = [posixpath.normpath(name) for name in entry["Layers"]]
        actual = tuple(diff_ids_by_path.get(links.get(name, name), "nothing") for name in names)
        if actual != image.diff_ids:
            wrong = next((pair for pair in zip(actual, image.diff_ids, strict=False) if pair[0] != pair[1]), ("", ""))
            raise ArchiveError(f"an image says that its layer is {wrong[1]}; {wrong[0]} is there")
    return images


def _image(entry: Mapping[str, Any], documents: Mapping[str, bytes]) -> ArchivedImage:
    config = documents[posixpath.normpath(entry["Config"])]
    return ArchivedImage(config, diff_ids(config), tuple(entry.get("RepoTags") or ()))


def diff_ids(config: bytes) -> tuple[str, ...]:
    """Return the layers that a configuration names, lowest first.

    Raises `ValueError`, `LookupError`, `TypeError` or `AttributeError` if the bytes are no configuration.
    """
    return tuple(str(diff_id) for diff_id in json.loads(config)["rootfs"].get("diff_ids") or ())
