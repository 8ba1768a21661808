"""The queue of a lock that several users and containers share, as tickets in a folder next to it.

Every process that waits has one file in the folder, and holds the kernel's lock of that file for as long as it lives:
a ticket that nobody has locked is of a process that has ended, and is passed over and removed. Names begin with the
time of arrival, since the start of the kernel. Other users' files are read with care, and never believed beyond that.
"""

import fcntl
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Self

FOLDER_SUFFIX = ".queue"
STALE_S = 10.0
"""A process that has not looked for so long (it was stopped) is passed over, and keeps its place."""
MOST_TICKETS = 1000
MOST_BYTES = 4096
MOST_CHARACTERS = 200
_WAITING, _MEASURING = ".waiting", ".measuring"
_TICKET = re.compile(r"[0-9]{20}-[0-9a-f]{16}(\.waiting|\.measuring)")
_UNFINISHED = re.compile(r"[0-9]{20}-[0-9a-f]{16}\.new")
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAKE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOR_EVERYBODY = 0o1777
"""Everybody may add a file, and remove their own."""
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Holder:
    """A run that measures, as it describes itself."""

    run: str
    cell: str
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class QueueLook:
    """A queue at one moment: the live processes before this one, and the run that measures, if any is known."""

    ahead: int = 0
    holder: Holder | None = None


class Ticket:
    """The place of this process in the queue of a lock file, from `draw` to `close`."""

    def __init__(self, folder: int) -> None:
        self._folder = folder
        self._place = f"{time.clock_gettime_ns(time.CLOCK_BOOTTIME):020d}-{secrets.token_hex(8)}"
        self._name = self._place + _WAITING
        self._file = -1
        self._make()

    @classmethod
    def draw(cls, lock: Path) -> Self:
        """Enter the queue of a lock file at its end. Raises `OSError` if its folder cannot be used."""
        folder = _opened_folder(lock.with_name(lock.name + FOLDER_SUFFIX))
        try:
            return cls(folder)
        except OSError:
            os.close(folder)
            raise

    def look(self) -> QueueLook:
        """QueueLook at the queue, and mark this process as alive.

        Both parts come from one listing, so that a run which begins to measure meanwhile is not counted as waiting.

        Raises `OSError` where the ticket was removed and no other can be made.
        """
        if os.fstat(self._file).st_nlink == 0:
            os.close(self._file)
            self._file = -1
            self._make()
        os.utime(self._file)
        now = time.time()
        alive = list(_alive(self._folder, but=self._name))
        waiting = [touched for name, touched, _ in alive if name.endswith(_WAITING) and name < self._name]
        holders = (_described(text) for name, _, text in alive if name.endswith(_MEASURING))
        return QueueLook(sum(abs(now - touched) < STALE_S for touched in waiting), next(holders, None))

    def measure(self, holder: Holder) -> None:
        """Leave the queue and announce the run that measures from now on, if possible."""
        with suppress(OSError):
            since = holder.since.isoformat() if holder.since else None
            os.pwrite(self._file, json.dumps({"run": holder.run, "cell": holder.cell, "since": since}).encode(), 0)
            self._rename(self._place + _MEASURING)

    def close(self) -> None:
        """Give the place up."""
        with suppress(OSError):
            os.unlink(self._name, dir_fd=self._folder)
        for descriptor in (self._file, self._folder):
            with suppress(OSError):
                os.close(descriptor)

    def _make(self) -> None:
        # Under another name until it is locked: it must not look like the ticket of a process that has ended.
        begun = f"{self._place}.new"
        file = os.open(begun, _MAKE, 0o644, dir_fd=self._folder)
        try:
            os.fchmod(file, 0o644)  # whatever the umask
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.rename(begun, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except OSError:
            os.close(file)
            raise
        self._file = file

    def _rename(self, name: str) -> None:
        os.rename(self._name, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        self._name = name


def measuring(lock: Path) -> tuple[Holder, ...]:
    """Return all that live processes measure at the moment under a lock, which several may share."""
    try:
        folder = os.open(lock.with_name(lock.name + FOLDER_SUFFIX), _FOLDER)
    except OSError:
        return ()
    try:
        return tuple(_described(text) for name, _, text in _alive(folder) if name.endswith(_MEASURING))
    except OSError:
        return ()
    finally:
        os.close(folder)


def _alive(folder: int, but: str = "") -> Iterator[tuple[str, float, bytes]]:
    """Read name, time of the last change and text of every ticket but one whose process lives, in order."""
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in islice(entries, MOST_TICKETS))
    for name in names:
        if _TICKET.fullmatch(name) and name != but:
            ticket = _read(folder, name)
            if ticket:
                yield name, *ticket
        elif _UNFINISHED.fullmatch(name):
            _read(folder, name, patience_s=STALE_S)


def _opened_folder(folder: Path) -> int:
    """Open the folder of a queue, made if there is none. Raises `OSError` if it is unsuitable."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir()
        folder.chmod(_FOR_EVERYBODY)  # whatever the umask
    descriptor = os.open(folder, _FOLDER)
    for _ in range(_TRIES):
        if os.fstat(descriptor).st_mode & _FOR_EVERYBODY == _FOR_EVERYBODY:
            return descriptor
        time.sleep(0.05)  # it may have been made by another process this very moment
    os.close(descriptor)
    raise OSError(0, "is not open to every user")


def _read(folder: int, name: str, patience_s: float = 0.0) -> tuple[float, bytes] | None:
    """Read the time and the text of a ticket. Return None and remove it if its process has ended.

    One that nobody has locked is left alone for `patience_s`.
    """
    try:
        file = os.open(name, _READ, dir_fd=folder)
    except OSError:
        return None  # removed meanwhile, or no file that could be a ticket
    try:
        state = os.fstat(file)
        if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
            return None
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            if abs(time.time() - state.st_mtime) >= patience_s:
                with suppress(OSError):  # another user's stays, and is passed over
                    os.unlink(name, dir_fd=folder)
            return None
        return state.st_mtime, os.pread(file, MOST_BYTES, 0)
    except OSError:
        return None
    finally:
        os.close(file)


def _described(text: bytes) -> Holder:
    """Take what another process says of itself as text of bounded length, in which nothing steers a terminal."""
    try:
        description = json.loads(text)
    except (ValueError, RecursionError):
        description = {}
    description = description if isinstance(description, dict) else {}
    return Holder(_harmless(description, "run"), _harmless(description, "cell"), _time(description))


def _harmless(description: Mapping[str, Any], key: str) -> str:
    text = str(description.get(key) or "?")[:MOST_CHARACTERS]
    return "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text)


def _time(description: Mapping[str, Any]) -> datetime | None:
    try:
        return datetime.fromisoformat(str(description.get("since"))).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
