"""A bundle as it was carried, a folder or one tar; nothing in it is trusted, and nothing of it is unpacked."""

import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol, Self, cast

from orchestrator.bundles import layout
from orchestrator.errors import InputError
from orchestrator.files import open_plain

_BLOCK = 512
_MAX_ENTRIES = 1_000_000


class Source(Protocol):
    """Where the files of one bundle are read from."""

    place: str
    """For messages: the path of the folder or the tar."""
    sizes: dict[str, int]
    """Path in the bundle → bytes, of every file that is there."""

    def open(self, path: str) -> BinaryIO:
        """Open one of the files; raises `InputError` where it cannot be read."""
        ...


class FolderSource:
    """A bundle that is a folder; raises `InputError` for whatever in it is neither a file nor a folder."""

    def __init__(self, folder: Path) -> None:
        self.place = str(folder)
        self._folder = folder
        self.sizes = dict(_walk(folder, ""))

    def open(self, path: str) -> BinaryIO:
        """Open one of the files; raises `InputError` where it cannot be read."""
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
            said = problem or "is a link, a device or a pipe"
            raise InputError(f"{folder}/{entry.name!r} {said}: a bundle holds plain files and folders alone")
        if stat.S_ISDIR(mode):
            yield from _walk(Path(entry.path), f"{path}/")
        else:
            yield path, entry.stat(follow_symlinks=False).st_size


class TarSource:
    """A bundle that is one tar: its headers are read once, its files where they lie."""

    def __init__(self, path: Path) -> None:
        self.place = str(path)
        self._path = path
        found = dict(self._headers())
        top = {name.split("/", 1)[0] for name in found}
        # Such as `tar cf name.tar name` makes it: everything below one folder.
        strip = len(top.pop()) + 1 if len(top) == 1 and layout.MANIFEST not in found else 0
        self._places = {name[strip:]: place for name, place in found.items()}
        self.sizes = {name: size for name, (_, size) in self._places.items()}

    def open(self, path: str) -> BinaryIO:
        """Open one of the files; raises `InputError` where it cannot be read."""
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
            said = "is a link, a device or a special entry: a bundle holds plain files and folders alone"
            raise InputError(f"{self.place}: {name[:200]!r} {said}")
        problem = layout.problem_of_path(name)
        if problem:
            raise InputError(f"{self.place}: {name[:200]!r} {problem}")
        if name in seen or len(seen) > _MAX_ENTRIES:
            raise InputError(f"{self.place}: {name[:200]!r} is in it twice, or there are too many files")
        seen.add(name)
        return name


class _Window:
    """A part of a file, read from its beginning to its end."""

    def __init__(self, file: BinaryIO, offset: int, size: int) -> None:
        self._file = file
        self._left = size
        file.seek(offset)

    def read(self, size: int = -1) -> bytes:
        """Read as files do; empty at the end of the part."""
        data = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data

    def close(self) -> None:
        """Close the file behind it."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_source(path: Path) -> Source:
    """Open a bundle, a folder or a tar; raises `InputError` where there is none, or its making was interrupted."""
    if not path.exists():
        raise InputError(f"{path}: no such bundle; name the folder or the tar that `orchestrator export` wrote")
    source: Source = FolderSource(path) if path.is_dir() else TarSource(path)
    if layout.STATE in source.sizes:
        raise InputError(f"{path}: its export was interrupted; run the same `orchestrator export` again to finish it")
    if layout.MANIFEST not in source.sizes:
        raise InputError(f"{path}: no bundle: there is no {layout.MANIFEST} in it")
    return source


def read_whole(source: Source, path: str, most_bytes: int) -> bytes:
    """Read a small file whole; raises `InputError` where it is missing or larger than it may be."""
    if source.sizes.get(path, most_bytes + 1) > most_bytes:
        said = "is larger than it may be" if path in source.sizes else "is missing; carry the bundle again"
        raise InputError(f"{source.place}: {path} {said}")
    with source.open(path) as file:
        return file.read(most_bytes)
