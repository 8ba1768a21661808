"""The file of events of one run, read as it grows."""

import fcntl
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from orchestrator.events import Event
from orchestrator.files import open_within
from orchestrator.reporting.live.lines import parsed_line
from orchestrator.results.names import EVENTS

_CHUNK_BYTES = 1 << 20
_MOST_LINE_BYTES = 64 << 20
"""A line that is longer is none of ours."""

FileId = tuple[int, int]


class EventTail:
    """The events that come after those that were read before.

    Raises `OSError` if there is no such file.
    """

    def __init__(self, folder: Path) -> None:
        self._file: BinaryIO = open_within(folder, EVENTS)
        status = os.fstat(self._file.fileno())
        self.file_id: FileId = status.st_dev, status.st_ino
        """Another one if the run was taken up again."""
        self._rest = b""

    @property
    def is_alive(self) -> bool:
        """Return true while the process that writes the events lives, which holds the lock of the file."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # a file system without locks: nothing tells
            return False
        fcntl.flock(self._file, fcntl.LOCK_UN)
        return False

    def events(self) -> Iterator[tuple[Event, datetime]]:
        """Yield the new events with their times. What is no whole line yet waits for its end."""
        while chunk := self._file.read(_CHUNK_BYTES):
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            if len(self._rest) > _MOST_LINE_BYTES:
                self._rest = b""
            for line in lines:
                if (parsed := parsed_line(line)) is not None:
                    yield parsed

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def file_id(folder: str) -> FileId | None:
    """Return what identifies the file of events of a run, or None without one."""
    try:
        status = os.lstat(f"{folder}/{EVENTS}")  # a `Path` for each takes far longer
    except OSError:
        return None
    return status.st_dev, status.st_ino
