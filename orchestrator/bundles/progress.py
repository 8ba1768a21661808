"""How far a long transfer is, told seldom enough to be read."""

import threading

from orchestrator.events import Listener, Transferred

_STEPS = 20
_LEAST_BYTES = 32 * 1024 * 1024
_STEP_BYTES = 256 * 1024 * 1024
"""Of what nobody knows the end."""


class Meter:
    """Counts bytes from any thread, and tells a listener about every twentieth part."""

    def __init__(self, listener: Listener, what: str, total_bytes: int | None) -> None:
        self._listener = listener
        self._what = what
        self._total = total_bytes
        self._step = max(_LEAST_BYTES, total_bytes // _STEPS) if total_bytes else _STEP_BYTES
        self._done = 0
        self._told = 0
        self._lock = threading.Lock()

    def __call__(self, size_bytes: int) -> None:
        """Count what was moved since the last call."""
        with self._lock:
            self._done += size_bytes
            due = self._done - self._told >= self._step
            self._told = self._done if due else self._told
            done = self._done
        if due:
            self._listener(Transferred(self._what, done, self._total))
