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
    contents = _Contents(layers)
    try:
        with tarfile.open(fileobj=stream, mode="r|", bufsize=_CHUNK) as archive:
            for member in archive:
                name = posixpath.normpath(member.name)
                if member.issym() or member.islnk():
                    above = posixpath.dirname(name) if member.issym() else ""
                    contents.links[name] = posixpath.normpath(posixpath.join(above, member.linkname))
                elif member.isreg():
                    contents.add_file(name, cast("BinaryIO", archive.extractfile(member)), member.size)
                archive.members = []  # type: ignore[attr-defined]  # else it keeps every member in memory
    except (tarfile.TarError, EOFError) as error:
        raise ArchiveError(f"it broke off: {error}") from error
    return contents.images()


class _Contents:
    """The documents, links and layers of an archive by path."""

    def __init__(self, layers: LayerReader) -> None:
        self._layers = layers
        self._documents: dict[str, bytes] = {}
        self._diff_ids: dict[str, str] = {}
        self.links: dict[str, str] = {}

    def add_file(self, path: str, file: BinaryIO, size: int) -> None:
        """Read a layer or a document."""
        known = self._layers.known(path)
        if known is not None:
            self._diff_ids[path] = known
            return
        head = file.read(_BLOCK)
        if _is_layer(head, size):
            self._diff_ids[path] = self._layers.take(path, head, file)
        elif size <= _MAX_DOCUMENT_BYTES:
            self._documents[path] = head + file.read()

    def images(self) -> tuple[ArchivedImage, ...]:
        """Return the images in the manifest. Raises `ArchiveError` if their layers differ from the archive."""
        try:
            entries = json.loads(self._documents["manifest.json"])
            images = tuple(self._image(entry) for entry in entries)
        except (KeyError, ValueError, TypeError) as error:
            raise ArchiveError(f"it has no manifest that can be read: {error!r}") from error
        for entry, image in zip(entries, images, strict=True):
            paths = [posixpath.normpath(path) for path in entry["Layers"]]
            actual = tuple(self._diff_ids.get(self.links.get(path, path), "nothing") for path in paths)
            if actual != image.diff_ids:
                pairs = zip(actual, image.diff_ids, strict=False)
                present, expected = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
                raise ArchiveError(f"an image says that its layer is {expected}; {present} is there")
        return images

    def _image(self, entry: Mapping[str, Any]) -> ArchivedImage:
        config = self._documents[posixpath.normpath(entry["Config"])]
        return ArchivedImage(config, diff_ids(config), tuple(entry.get("RepoTags") or ()))


def _is_layer(head: bytes, size: int) -> bool:
    if head.startswith((GZIP, ZSTD)):
        return True
    return size >= 2 * _BLOCK and (head[257:262] == b"ustar" or not head.strip(b"\0"))


def diff_ids(config: bytes) -> tuple[str, ...]:
    """Return the layers that a configuration names, lowest first.

    Raises `ValueError`, `LookupError`, `TypeError` or `AttributeError` if the bytes are no configuration.
    """
    return tuple(str(diff_id) for diff_id in json.loads(config)["rootfs"].get("diff_ids") or ())
