"""Locks of files by the kernel, which leave nothing behind if a process is killed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from orchestrator.errors import HostError


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
