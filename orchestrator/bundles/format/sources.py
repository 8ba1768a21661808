"""Access to the files of a bundle, a folder or a tar. Nothing in it is trusted or unpacked."""

import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol, Self, cast

from orchestrator.bundles.format import layout
from orchestrator.errors import InputError
from orchestrator.files import open_plain

_BLOCK = 512
_MAX_ENTRIES = 1_000_000


class BundleSource(Protocol):
    """The files of one bundle."""

    place: str
    """Path of the folder or the tar, for messages."""
    sizes: dict[str, int]
    """Size in bytes of every file, by its path in the bundle."""

    def open(self, path: str) -> BinaryIO:
        """Open a file. Raises `InputError` if it cannot be read."""
        ...


class FolderSource:
    """A bundle that is a folder.

    Raises `InputError` if it holds anything but plain files and folders.
    """

    def __init__(self, folder: Path) -> None:
        self.place = str(folder)
        self._folder = folder
        self.sizes = dict(_walk(folder, ""))

    def open(self, path: str) -> BinaryIO:
        """Open a file. Raises `InputError` if it cannot be read."""
        try:
            return open_plain(self._folder / path)
        except OSError as error:
            raise InputError(f"{self.place}/{path}: cannot be read: {error.strerror}; carry the bundle again") from None


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, int]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from None
    for entry in entries:
        path = prefix + entry.name
        mode = entry.stat(follow_symlinks=False).st_mode
        problem = layout.problem_of_path(path)
        if problem or not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
            reason = problem or "is a link, a device or a pipe"
            raise InputError(f"{folder}/{entry.name!r} {reason}: a bundle holds plain files and folders alone")
        if stat.S_ISDIR(mode):
            yield from _walk(Path(entry.path), f"{path}/")
        else:
            yield path, entry.stat(follow_symlinks=False).st_size


class TarSource:
    """A bundle that is one tar, whose headers are read once."""

    def __init__(self, path: Path) -> None:
        self.place = str(path)
        self._path = path
        places = dict(self._headers())
        top = {name.split("/", 1)[0] for name in places}
        # `tar cf name.tar name` puts everything below one folder.
        strip = len(top.pop()) + 1 if len(top) == 1 and layout.MANIFEST not in places else 0
        self._places = {name[strip:]: place for name, place in places.items()}
        self.sizes = {name: size for name, (_, size) in self._places.items()}

    def open(self, path: str) -> BinaryIO:
        """Open a file. Raises `InputError` if it cannot be read."""
        if path not in self._places:
            raise InputError(f"{self.place}: {path} is not in it; carry the bundle again")
        try:
            return cast("BinaryIO", _Window(open_plain(self._path), *self._places[path]))
        except OSError as error:
            raise InputError(f"{self.place}: cannot be read: {error.strerror}") from None

    def _headers(self) -> Iterator[tuple[str, tuple[int, int]]]:
        with self._opened() as file:
            end = os.fstat(file.fileno()).st_size
            seen: set[str] = set()
            long_name = ""
            while block := file.read(_BLOCK):
                if not block.strip(b"\0"):
                    return
                header = self._header(block)
                name = long_name or header.name
                at = file.tell()
                if header.size < 0 or at + header.size > end:
                    raise InputError(f"{self.place}: cut short in {name[:200]!r}; carry it again")
                if header.type == tarfile.GNUTYPE_LONGNAME and header.size <= layout.MAX_PATH_BYTES + 1:
                    long_name = file.read(header.size).rstrip(b"\0").decode("utf-8", "replace")
                elif not header.isdir():
                    yield self._checked(name, header, seen), (at, header.size)
                    long_name = ""
                file.seek(at + -(-header.size // _BLOCK) * _BLOCK)
            raise InputError(f"{self.place}: cut short: the tar has no end; carry it again")

    def _opened(self) -> BinaryIO:
        try:
            return open_plain(self._path)
        except OSError as error:
            raise InputError(f"{self.place}: cannot be read: {error.strerror}") from None

    def _header(self, block: bytes) -> tarfile.TarInfo:
        try:
            return tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.HeaderError, ValueError):
            raise InputError(f"{self.place}: no tar of a bundle, or damaged; carry it again") from None

    def _checked(self, name: str, header: tarfile.TarInfo, seen: set[str]) -> str:
        name = name.removeprefix("./")
        if header.type not in {tarfile.REGTYPE, tarfile.AREGTYPE}:
            reason = "is a link, a device or a special entry: a bundle holds plain files and folders alone"
            raise InputError(f"{self.place}: {name[:200]!r} {reason}")
        problem = layout.problem_of_path(name)
        if problem:
            raise InputError(f"{self.place}: {name[:200]!r} {problem}")
        if name in seen or len(seen) > _MAX_ENTRIES:
            raise InputError(f"{self.place}: {name[:200]!r} is in it twice, or there are too many files")
        seen.add(name)
        return name


class _Window:
    """A part of a file."""

    def __init__(self, file: BinaryIO, offset: int, size: int) -> None:
        self._file = file
        self._left = size
        file.seek(offset)

    def read(self, size: int = -1) -> bytes:
        """Read bytes of the part, none at its end."""
        data = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data

    def close(self) -> None:
        """Close the whole file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_source(path: Path) -> BundleSource:
    """Open a bundle. Raises `InputError` if there is none, or its export was interrupted."""
    if not path.exists():
        raise InputError(f"{path}: no such bundle; name the folder or the tar that `orchestrator export` wrote")
    source: BundleSource = FolderSource(path) if path.is_dir() else TarSource(path)
    if layout.STATE in source.sizes:
        raise InputError(f"{path}: its export was interrupted; run the same `orchestrator export` again to finish it")
    if layout.MANIFEST not in source.sizes:
        raise InputError(f"{path}: no bundle: there is no {layout.MANIFEST} in it")
    return source


def read_whole(source: BundleSource, path: str, most_bytes: int) -> bytes:
    """Read a file of at most `most_bytes`. Raises `InputError` if it is missing or larger."""
    if source.sizes.get(path, most_bytes + 1) > most_bytes:
        reason = "is larger than it may be" if path in source.sizes else "is missing; carry the bundle again"
        raise InputError(f"{source.place}: {path} {reason}")
    with source.open(path) as file:
        return file.read(most_bytes)
