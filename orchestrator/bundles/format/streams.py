"""Long streams of bytes, with their progress, and an end when the user asks to stop."""

import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO

from orchestrator.errors import OrchestratorError
from orchestrator.events import Listener, Transferred
from orchestrator.processes import Stop

STOPPED = "stopped; the same command goes on where this one ended"
CHUNK_BYTES = 1 << 20
_STEPS = 20
_LEAST_BYTES = 32 * 1024 * 1024
_STEP_BYTES = 256 * 1024 * 1024
"""Step of a transfer whose total is unknown."""

Progress = Callable[[int], None]
"""Takes the number of bytes that were moved since the last call."""


class TransferStoppedError(OrchestratorError):
    """A transfer that the user stopped.

    Completed parts stay, and the same command continues with them.
    """

    exit_code = 130


class StoppableStream:
    """A stream that raises `TransferStoppedError` after a request to stop."""

    def __init__(self, stream: BinaryIO, stop: Stop) -> None:
        self._stream = stream
        self._stop = stop

    def read(self, size: int) -> bytes:
        """Read from the stream."""
        if self._stop.is_set():
            raise TransferStoppedError(STOPPED)
        return self._stream.read(size)


def stoppable(progress: Progress, stop: Stop, message: str = STOPPED) -> Progress:
    """Return a progress that raises `TransferStoppedError` after a request to stop."""

    def count(size_bytes: int) -> None:
        if stop.is_set():
            raise TransferStoppedError(message)
        progress(size_bytes)

    return count


class Pieces:
    """A forward-only file over pieces of bytes.

    `seen` is called with each piece as it is read.
    """

    def __init__(self, pieces: Iterator[bytes], seen: Callable[[bytes], None] = lambda _: None) -> None:
        self._pieces = pieces
        self._seen = seen

    def read(self, size: int) -> bytes:
        """Return the next piece, whatever its size, and no bytes at the end."""
        del size
        piece = next(self._pieces, b"")
        self._seen(piece)
        return piece


class Meter:
    """A counter of bytes from any thread that reports every twentieth part to a listener."""

    def __init__(self, listener: Listener, action: str, total_bytes: int | None) -> None:
        self._listener = listener
        self._action = action
        self._total = total_bytes
        self._step = max(_LEAST_BYTES, total_bytes // _STEPS) if total_bytes else _STEP_BYTES
        self._done = 0
        self._reported = 0
        self._lock = threading.Lock()

    def __call__(self, size_bytes: int) -> None:
        """Add the bytes that were moved since the last call."""
        with self._lock:
            self._done += size_bytes
            due = self._done - self._reported >= self._step
            self._reported = self._done if due else self._reported
            done = self._done
        if due:
            self._listener(Transferred(self._action, done, self._total))
