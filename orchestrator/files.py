"""Files that others may replace by a link or a pipe, opened so that neither does harm, and logs that are bounded."""

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from pathlib import Path
from types import TracebackType
from typing import IO, BinaryIO, Self

from orchestrator.errors import InputError

LOG_BYTES = 16 * 1024 * 1024
TAIL_BYTES = 64 * 1024
MAX_PATH_BYTES = 1024
MAX_NAME_BYTES = 255
_FORBIDDEN = {chr(code) for code in (*range(32), 127)} | {"\\"}
_CAREFULLY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK | os.O_CLOEXEC


def open_plain(path: Path | str) -> BinaryIO:
    """Open a plain file for reading. Raises `OSError` if it is missing, or is a link, a pipe or a folder.

    A link could lead to any file of this host that the user may read, and a pipe holds up its reader for ever.
    """
    return os.fdopen(_plain(path, os.O_RDONLY), "rb")


def open_within(folder: Path, path: str) -> BinaryIO:
    """Open a plain file for reading by its path below a folder, with no link on the way.

    Raises `OSError` if it is missing, or is anything else, or if the path leads out of the folder.
    """
    *above, name = path.split("/")
    if any(part in {"", ".", ".."} or "\0" in part for part in (*above, name)):
        raise OSError(errno.EINVAL, "leads out of the folder", path)
    descriptor = os.open(folder, _FOLDER)
    try:
        for each in above:
            inner = os.open(each, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        return os.fdopen(_plain(name, os.O_RDONLY, within=descriptor), "rb")
    finally:
        os.close(descriptor)


def read_record(path: Path) -> bytes:
    """Read a file that this program writes. Raises `OSError` where it is missing or cannot be read.

    Raises `InputError` where a link, a pipe, a folder or a device lies in its place.
    """
    try:
        with open_plain(path) as file:
            return file.read()
    except OSError as error:
        if error.errno in {0, errno.ELOOP}:  # the second is a link
            raise InputError(f"{path}: is no plain file; move it away") from error
        raise


def read_named(path: Path, most_bytes: int) -> bytes:
    """Read a plain file that a user has named, through links, to `most_bytes` of it.

    Raises `OSError` where it is missing, or is a folder, or a pipe or device, whose end might never come.
    """
    with os.fdopen(_plain(path, os.O_RDONLY, _CAREFULLY & ~os.O_NOFOLLOW), "rb") as file:
        return file.read(most_bytes)


def says_where_it_leads(path: Path, folder: Path) -> bool:
    """Return false for a path that reads as if it were in a folder and is not, because of a link."""
    reads_as = Path(os.path.normpath(path.absolute()))
    inside = Path(os.path.normpath(folder.absolute()))
    return not reads_as.is_relative_to(inside) or path.resolve().is_relative_to(folder.resolve())


def open_to_append(path: Path | str) -> BinaryIO:
    """Open a plain file for appending without a buffer, made if there is none. Raises `OSError` as `open_plain`."""
    return os.fdopen(_plain(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab", buffering=0)


def _plain(path: Path | str, how: int, care: int = _CAREFULLY, within: int | None = None) -> int:
    descriptor = os.open(path, how | care, 0o644, dir_fd=within)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "is no plain file", str(path))
    return descriptor


def move_aside(path: Path) -> None:
    """Rename something that is in the place of our file. Nothing in it is lost.

    A name that has no room for the suffix is replaced by `aside-<hex>`.
    """
    suffix = f"aside-{secrets.token_hex(4)}"
    try:
        path.rename(path.with_name(f"{path.name}.{suffix}"))
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        path.rename(path.with_name(suffix))


def read_tail(path: Path, most_bytes: int) -> str:
    """Read the end of a log, or return an empty text if it is no plain file."""
    try:
        with open_plain(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - most_bytes))
            return file.read(most_bytes).decode("utf-8", "replace")
    except OSError:
        return ""


class BoundedLog:
    """A log file that keeps its beginning and its end, whatever is written to it.

    A disk that is full does not raise here, and nor does a link or a pipe in its place, into which nothing is written:
    the writer must go on draining, or the one who speaks blocks.
    """

    def __init__(self, path: Path, *, limit_bytes: int = LOG_BYTES, tail_bytes: int = TAIL_BYTES) -> None:
        self._file: IO[bytes] | None = None
        with contextlib.suppress(OSError):
            self._file = open_to_append(path)
        self._room = limit_bytes - tail_bytes
        self._tail_bytes = tail_bytes
        self._tail = bytearray()
        self.omitted_bytes = 0
        """Left out so far between the beginning and the end."""

    def write(self, data: bytes) -> None:
        """Keep `data`, or what the bound leaves of it."""
        head, rest = data[: self._room], data[self._room :]
        if head:
            self._room -= len(head)
            self._append(head)
        if rest:
            self._tail += rest
            surplus = len(self._tail) - self._tail_bytes
            if surplus > 0:
                self.omitted_bytes += surplus
                del self._tail[:surplus]

    def _append(self, data: bytes) -> None:
        try:
            if self._file:
                self._file.write(data)
        except OSError:
            self.close()

    def close(self) -> None:
        """Write the kept end, with a word on what lies between, and close the file."""
        file, self._file = self._file, None
        if file is None:
            return
        omitted = f"\n[… {self.omitted_bytes} bytes left out …]\n".encode() if self.omitted_bytes else b""
        with contextlib.suppress(OSError), file:
            file.write(omitted + bytes(self._tail))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def problem_of_path(path: str) -> str | None:
    """Return the reason a path may not be in a bundle, in a few words, or None.

    A backslash or a line break would mean something else to `sha256sum`, and a drive or a parent to the host.
    """
    parts = path.split("/")
    if not path or path.startswith("/") or any(part in {"", ".", ".."} for part in parts):
        return "leads out of the bundle, or is no plain relative path"
    if _FORBIDDEN & set(path):
        return "holds a control character or a backslash"
    try:
        lengths = [len(part.encode()) for part in parts]
    except UnicodeEncodeError:
        return "is no valid text"
    if max(lengths) > MAX_NAME_BYTES or sum(lengths) + len(parts) > MAX_PATH_BYTES:
        return "is too long"
    return None


def size_and_sum(path: Path) -> tuple[int, str]:
    """Return the size of a file and its SHA-256, or raise `InputError` if it cannot be read."""
    try:
        with open_plain(path.resolve()) as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
            return os.fstat(file.fileno()).st_size, sha256
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
