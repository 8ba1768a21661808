"""What of a layer a bill of materials needs, picked out while the layer streams by: no file is unpacked."""

import json
import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.bundles import rpm_database
from orchestrator.results.store import write_atomically

_BLOCK = 512
MAX_FILE_BYTES = 64 << 20
"""Of a file that is kept; a package database of more is none that we could read."""
DEBIAN = "var/lib/dpkg/status"
ALPINE = frozenset({"lib/apk/db/installed", "usr/lib/apk/db/installed"})
_RPM_FOLDERS = ("var/lib/rpm/", "usr/lib/sysimage/rpm/")
RPM = frozenset(f"{folder}rpmdb.sqlite" for folder in _RPM_FOLDERS)
_OTHERS = frozenset(
    f"{folder}{name}" for folder in _RPM_FOLDERS for name in ("Packages", "Packages.db", "rpmdb.sqlite-wal")
)
"""What older and other builds of RPM write, and what has not got into the database yet."""
_OF_CONDA = "conda-meta/history"
UNREAD = "\0"
"""In place of what tells of packages and cannot be read."""
_EXACT = frozenset({DEBIAN, "etc/os-release", "usr/lib/os-release"}) | ALPINE | RPM | _OTHERS
_BELOW = (f"{DEBIAN}.d/",)
_OF_DISTRIBUTIONS = {".dist-info": ("METADATA", "direct_url.json"), ".egg-info": ("PKG-INFO",)}
_SITES = frozenset({"site-packages", "dist-packages"})
_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_READING = 2
"""Raised when more is picked out of a layer: what was kept before is read again."""
_PATHS, _MOST_PATHS = "paths.json", 10_000
_REGULAR, _LINK, _LONG_NAME, _PAX = b"0\0", b"1", b"L", b"x"


class LayerContents(BaseModel):
    """The files of one layer that tell of packages, and what it takes away of the layers below."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: dict[str, str] = {}
    """Path without a leading slash → text; of an RPM database, the list of its packages as JSON."""
    removed: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    """Folders of which nothing of the layers below is left."""


class LayerScan:
    """Reads a plain tar piece by piece, whatever the size of the pieces."""

    def __init__(self) -> None:
        self._header = bytearray()
        self._left = 0
        """Bytes of the entry at hand, with its padding."""
        self._padding = 0
        self._kept: bytearray | None = None
        self._kind, self._name = b"", ""
        self._next_name = ""
        self._next_size: int | None = None
        self._files: dict[str, str] = {}
        self._removed: list[str] = []
        self._emptied: list[str] = []

    def feed(self, data: bytes) -> None:
        """Take the next piece."""
        at, end = 0, len(data)
        while at < end:
            if self._left:
                step = min(self._left, end - at)
                if self._kept is not None:
                    self._kept += data[at : at + step]
                self._left -= step
                if not self._left:
                    self._finish()
            else:
                step = min(_BLOCK - len(self._header), end - at)
                self._header += data[at : at + step]
                if len(self._header) == _BLOCK:
                    self._begin(bytes(self._header))
                    self._header.clear()
            at += step

    def contents(self) -> LayerContents:
        """What was found, in order of path."""
        files = dict(sorted(self._files.items()))
        return LayerContents(files=files, removed=tuple(sorted(self._removed)), emptied=tuple(sorted(self._emptied)))

    def _begin(self, header: bytes) -> None:
        self._kind = header[156:157]
        name = self._next_name or _name(header)
        size = _number(header[124:136]) if self._next_size is None else self._next_size
        about_the_next = self._kind in {_LONG_NAME, _PAX}
        if not about_the_next:
            self._next_name, self._next_size = "", None
        self._name = name.removeprefix("./").strip("/")
        wanted = about_the_next or (self._kind in _REGULAR and _tells(self._name))
        self._kept = bytearray() if wanted and size <= MAX_FILE_BYTES else None
        if wanted and self._kept is None and not about_the_next:
            self._files[self._name] = UNREAD
        # Links, folders and devices have no content, whatever their size says.
        self._left = 0 if self._kind in b"123456" else -(-size // _BLOCK) * _BLOCK
        self._padding = self._left - size if self._left else 0
        self._note_removal()
        if not self._left:
            self._finish()

    def _note_removal(self) -> None:
        folder, base = posixpath.split(self._name)
        if base == _OPAQUE:
            self._emptied.append(folder)
        elif base.startswith(_WHITEOUT):
            self._removed.append(posixpath.join(folder, base.removeprefix(_WHITEOUT)))

    def _finish(self) -> None:
        kept, self._kept = self._kept, None
        if kept is None:
            return
        content = bytes(kept[: len(kept) - self._padding])
        if self._kind == _LONG_NAME:
            self._next_name = content.rstrip(b"\0").decode("utf-8", "replace")
        elif self._kind == _PAX:
            records = _records(content)
            self._next_name = records.get("path", self._next_name)
            self._next_size = int(records["size"]) if records.get("size", "").isdigit() else None
        else:
            self._files[self._name] = _text(self._name, content)


class _Paths(BaseModel):
    """At which paths archives have had which layers (diff ids)."""

    paths: dict[str, str] = {}


class LayerShelf:
    """Contents of layers by diff id, kept in a folder of the cache: layers are shared, and read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, diff_id: str, contents: LayerContents) -> None:
        """Keep what a layer holds."""
        self._folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._place(diff_id), contents.model_dump_json() + "\n")

    def get(self, diff_id: str) -> LayerContents | None:
        """Give what a layer holds; None where that is not known."""
        try:
            return LayerContents.model_validate_json(self._place(diff_id).read_bytes())
        except (OSError, ValidationError):
            return None

    def keep_paths(self, paths: Mapping[str, str]) -> None:
        """Keep at which paths the engine's archives have had which layers: such a path tells of the content."""
        self._folder.mkdir(parents=True, exist_ok=True)
        together = dict(list({**self.paths(), **paths}.items())[-_MOST_PATHS:])
        write_atomically(self._folder / _PATHS, _Paths(paths=together).model_dump_json() + "\n")

    def paths(self) -> dict[str, str]:
        """Give the diff ids by path that earlier exports have found."""
        try:
            return _Paths.model_validate_json((self._folder / _PATHS).read_bytes()).paths
        except (OSError, ValidationError):
            return {}

    def _place(self, diff_id: str) -> Path:
        return self._folder / f"{diff_id.removeprefix('sha256:')}.{_READING}.json"


def merged(layers: Sequence[LayerContents]) -> dict[str, str]:
    """What an image shows of the files of its layers, lowest first."""
    files: dict[str, str] = {}
    for layer in layers:
        gone = (*layer.removed, *(f"{folder}/" if folder else "" for folder in layer.emptied))
        files = {path: text for path, text in files.items() if not any(_is_below(path, place) for place in gone)}
        files |= layer.files
    return files


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(place if place.endswith("/") or not place else f"{place}/")


def _tells(path: str) -> bool:
    if path in _EXACT or path.startswith(_BELOW):
        return True
    if path.endswith(f"/{_OF_CONDA}"):
        return True
    folder, _, base = path.rpartition("/")
    site, _, distribution = folder.rpartition("/")
    if posixpath.basename(site) in _SITES:
        return base in _OF_DISTRIBUTIONS.get(posixpath.splitext(distribution)[1], ())
    return posixpath.basename(folder) in _SITES and base.endswith(".egg-info")


def _text(path: str, content: bytes) -> str:
    """What is kept of a file; an empty one is told from one that cannot be read."""
    if content and (path in _OTHERS or path.endswith(f"/{_OF_CONDA}")):
        return UNREAD
    if path not in RPM:
        return content.decode("utf-8", "replace")
    try:
        return json.dumps(rpm_database.packages(content))
    except rpm_database.UnreadableError:
        return UNREAD


def _name(header: bytes) -> str:
    name = header[:100].split(b"\0", 1)[0]
    # GNU's own format has other things where the POSIX one has the beginning of a long name.
    prefix = header[345:500].split(b"\0", 1)[0] if header[257:263] == b"ustar\0" else b""
    return (prefix + b"/" + name if prefix else name).decode("utf-8", "replace")


def _number(field: bytes) -> int:
    if field[0] & 0x80:
        return int.from_bytes(field, "big") & ((1 << (8 * len(field) - 1)) - 1)
    digits = field.strip(b" \0")
    return int(digits, 8) if digits else 0


def _records(content: bytes) -> dict[str, str]:
    """The records of a PAX header: `27 path=…` and a line break, each with its own length in front."""
    found: dict[str, str] = {}
    while content:
        length, _, rest = content.partition(b" ")
        if not length.isdigit() or not 0 < int(length) <= len(content):
            break
        key, _, value = rest[: int(length) - len(length) - 2].partition(b"=")
        found[key.decode("utf-8", "replace")] = value.decode("utf-8", "replace")
        content = content[int(length) :]
    return found
