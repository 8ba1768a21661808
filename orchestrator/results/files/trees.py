"""Folders with untrusted content, walked, counted and reclaimed without following a link.

Something may still write there meanwhile. Every folder is opened relative to the one above it, so that nothing that is
renamed or replaced leads out of the tree.
"""

import contextlib
import os
import stat
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from orchestrator.domain import OutputLimit

DEEPEST = 64
"""Folders within folders that are looked into; each holds a descriptor open while those below it are read."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TOO_DEEP = f"is nested more than {DEEPEST} folders deep"
_SPECIAL = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX
_BLOCK_BYTES = 512


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One thing below a folder."""

    path: str
    """Relative to the folder."""
    status: os.stat_result
    problem: str = ""
    """The reason why this could not be looked into; empty for all else."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The content of a folder, or as much as was counted within the bounds."""

    size_bytes: int = 0
    """Of every file the larger of its length and the space that it takes on the disk."""
    files: int = 0
    """Files, folders, links and all else."""
    problem: str = ""
    """The first folder of this user's that could not be counted, with the reason; empty where there is none."""
    uncounted: frozenset[str] = frozenset()
    """The paths of all of these folders."""


def walk(folder: Path, *, mend: bool = False, depth: int = 1) -> Generator[TreeEntry]:
    """Give everything below a folder, and where rights keep its owner out of a folder, give the owner those rights.

    With `mend`, rights are changed to what `reclaim` promises. What goes away meanwhile is passed over. The folder
    itself counts as nested `depth` deep. Raises `OSError` where it cannot be read.
    """
    descriptor = _opened(os.fspath(folder), None)
    try:
        yield from _below(descriptor, "", depth, mend=mend)
    finally:
        os.close(descriptor)


def usage(folder: Path, most: OutputLimit | None = None, known: frozenset[str] = frozenset()) -> Usage:
    """Count what a folder holds, no further than one step beyond the bounds. One that cannot be read holds nothing.

    `known` are paths below it that are no problem where they cannot be counted.
    """
    size = files = 0
    problem = ""
    uncounted = set()
    linked: set[tuple[int, int]] = set()
    with contextlib.suppress(OSError), contextlib.closing(walk(folder)) as entries:
        for entry in entries:
            status = entry.status
            if entry.problem:
                if status.st_uid == os.geteuid() and entry.path not in known:
                    problem = problem or f"{entry.path!a} {entry.problem}"
                    uncounted.add(entry.path)
                continue
            files += 1
            if not (status.st_nlink > 1 and stat.S_ISREG(status.st_mode) and _known(status, linked)):
                size += max(status.st_size, status.st_blocks * _BLOCK_BYTES)
            if most is not None and (size > most.size_bytes or files > most.files):
                break
    return Usage(size, files, problem, frozenset(uncounted))


def reclaim(folder: Path) -> None:
    """Give the user every right to their own folders in a tree and the right to read their own files.

    Set-user-id, set-group-id and sticky bits are taken away. Other users' files, and folders nested more than `DEEPEST`
    deep, are left as they are.
    """
    with contextlib.suppress(OSError):
        _change_mode(os.fspath(folder), None, lacking=stat.S_IRWXU)
        for _ in walk(folder, mend=True):
            pass


def unnest(folder: Path) -> None:
    """Move what is nested more than `DEEPEST` folders deep to where it can be counted, with all that is in it.

    `a/b/…/z` becomes `a/nested-1`. What cannot be moved stays where it is. Nothing else may write there meanwhile.
    """
    numbers: dict[str, Iterator[int]] = {}
    places = [("", 1)]
    while places:
        place, depth = places.pop()
        with contextlib.suppress(OSError):
            entries = [entry for entry in walk(folder / place, mend=True, depth=depth) if entry.problem == _TOO_DEEP]
            for path in (f"{place}{entry.path}" for entry in entries):
                top = path.partition("/")[0]
                names = (f"{top}/nested-{number}" for number in numbers.setdefault(top, count(1)))
                name = next(name for name in names if not os.path.lexists(folder / name))
                _move_up(folder, path, name)
                places.append((f"{name}/", 3))


def _move_up(folder: Path, path: str, name: str) -> None:
    """Rename a folder, however long its path is. Raises `OSError` if that fails."""
    *above, last = path.split("/")
    descriptor = os.open(folder, _FOLDER)
    try:
        for each in above:
            inner = os.open(each, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        os.rename(last, folder / name, src_dir_fd=descriptor)
    finally:
        os.close(descriptor)


def _below(descriptor: int, prefix: str, depth: int, *, mend: bool) -> Iterator[TreeEntry]:
    folders: list[tuple[str, os.stat_result]] = []
    with os.scandir(descriptor) as entries:
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except PermissionError as error:
                yield TreeEntry(prefix + entry.name, os.fstat(descriptor), f"cannot be looked at: {error.strerror}")
                continue
            except OSError:
                continue
            if mend:
                _mend(entry.name, descriptor, status)
            if stat.S_ISDIR(status.st_mode):
                folders.append((entry.name, status))
            yield TreeEntry(f"{prefix}{entry.name}", status)
    for name, status in folders:
        if depth == DEEPEST:
            yield TreeEntry(f"{prefix}{name}", status, _TOO_DEEP)
            continue
        try:
            inner = _opened(name, descriptor)
        except PermissionError as error:
            yield TreeEntry(f"{prefix}{name}", status, f"cannot be looked into: {error.strerror}")
            continue
        except OSError:  # gone, or replaced by a link
            continue
        try:
            yield from _below(inner, f"{prefix}{name}/", depth + 1, mend=mend)
        finally:
            os.close(inner)


def _opened(name: str, parent: int | None) -> int:
    """Open a folder that its owner may list and enter, after giving the owner these rights where they lack."""
    try:
        descriptor = os.open(name, _FOLDER, dir_fd=parent)
    except PermissionError:
        _change_mode(name, parent, lacking=stat.S_IRWXU)
        descriptor = os.open(name, _FOLDER, dir_fd=parent)
    status = os.fstat(descriptor)
    if not status.st_mode & stat.S_IXUSR and status.st_uid == os.geteuid():
        with contextlib.suppress(OSError):
            os.fchmod(descriptor, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
    return descriptor


def _mend(name: str, parent: int, status: os.stat_result) -> None:
    """Change the rights to what `reclaim` promises, where they are not so already."""
    wanted = {stat.S_IFDIR: stat.S_IRWXU, stat.S_IFREG: stat.S_IRUSR}.get(stat.S_IFMT(status.st_mode))
    if wanted is not None and (status.st_mode & _SPECIAL or status.st_mode & wanted != wanted):
        with contextlib.suppress(OSError):
            _change_mode(name, parent, lacking=wanted)


def _change_mode(name: str, parent: int | None, *, lacking: int) -> None:
    """Add rights to a plain file or folder and clear its special bits. Raises `OSError` if it is another user's."""
    # A descriptor of this kind needs no right to what it stands for, and a link in its place is not followed.
    descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
            os.chmod(f"/proc/self/fd/{descriptor}", stat.S_IMODE(mode) & ~_SPECIAL | lacking)  # noqa: PTH101
    finally:
        os.close(descriptor)


def _known(status: os.stat_result, linked: set[tuple[int, int]]) -> bool:
    """Return true for a further name of a file that is counted already."""
    key = (status.st_dev, status.st_ino)
    if key in linked:
        return True
    linked.add(key)
    return False
