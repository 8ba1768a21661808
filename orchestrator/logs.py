"""Logs that are bounded, whatever is written to them."""

import contextlib
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from orchestrator.files import open_to_append

LOG_BYTES = 16 * 1024 * 1024
TAIL_BYTES = 64 * 1024


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
