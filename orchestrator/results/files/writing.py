"""Files of a run, written next to their place and renamed, and locks by the kernel, which end with their process."""

import contextlib
import ctypes
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from orchestrator.errors import HostError, host_error, remedy
from orchestrator.files import move_aside
from orchestrator.results.contract import Request

NO_FILES: Mapping[str, str] = {}


def write_atomically(path: Path, text: str) -> None:
    """Write `text` so that a reader, or a power cut, sees the old file or the new one, never a part.

    Raises `HostError` where that cannot be done.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        # What was measured can write into its own folder: a link it has planted there must not be followed.
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 -- a descriptor, not a path
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
            _synchronise(path.parent)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise host_error(f"{path}: cannot be written: {error.strerror}; {remedy(error)}", error) from error


def write_unseen(path: Path, text: str) -> None:
    """Write a new file that nobody reads before another one, which the caller writes after a flush of the disk.

    Raises `HostError` where that cannot be done.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise host_error(f"{path}: cannot be written: {error.strerror}; {remedy(error)}", error) from error


def write_request(folder: Path, request: Request, files: Mapping[str, str] = NO_FILES) -> None:
    """Write a container's request last of all, after the files that it names."""
    request_text = request.model_dump_json(by_alias=True, indent=1, exclude=request.unused) + "\n"
    for name, text in {**files, "request.json": request_text}.items():
        write_over(folder / name, text)


def write_end(folder: Path, text: str, *, of_result: bool) -> None:
    """Write `outcome.json` into a folder that a container has written to.

    With `of_result`, its result counts and is on disk before.

    Raises `HostError` where that cannot be done.
    """
    if of_result:
        # A power cut must not leave an outcome whose result is not on disk.
        _synchronise(folder / "result.json")
    write_over(folder / "outcome.json", text)


def _synchronise(path: Path) -> None:
    """Flush a file's content, or the names in a folder, to disk if the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def flush(folder: Path) -> None:
    """Flush the file system of a folder to disk if it can.

    Other file systems are left alone: a flush of them all waits for every one, such as a network share that is lost.
    A host whose C library cannot flush a single one flushes them all.
    """
    flush_one = getattr(ctypes.CDLL(None), "syncfs", None)
    if flush_one is None:
        os.sync()
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            flush_one(descriptor)
        finally:
            os.close(descriptor)


def made_folder(path: Path, rights: int = 0o777) -> Path:
    """Make a folder with all above it. Raises `HostError` where that cannot be done."""
    try:
        path.mkdir(rights, parents=True, exist_ok=True)
    except OSError as error:
        raise host_error(f"{path}: cannot be made: {error.strerror}; choose another --results", error) from error
    return path


def write_over(path: Path, text: str) -> None:
    """Write a file, after moving aside a folder that a container has put in its place.

    Raises `HostError` where that cannot be done.
    """
    try:
        if path.is_dir() and not path.is_symlink():
            move_aside(path)
    except OSError as error:
        raise host_error(f"{path}: what is in its place cannot be moved aside: {error.strerror}", error) from error
    write_atomically(path, text)


def locked(path: Path, in_use: HostError, remedy: str) -> FileLock:
    """Take the lock of a file at once, to be released by the caller.

    Raises `in_use` where another has it, and `HostError` with the remedy where the file cannot be had.
    """
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise in_use from None
    except OSError as error:
        raise HostError(f"{path.parent}: cannot be locked: {error.strerror}; {remedy}") from error
    return lock


@contextmanager
def locked_folder(folder: Path, in_use: HostError, remedy: str) -> Iterator[None]:
    """Make a folder and lock it until the end. Raises as `locked` does."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{folder}: cannot be made: {error.strerror}; {remedy}") from error
    lock = locked(folder / ".lock", in_use, remedy)
    try:
        yield
    finally:
        lock.release()
