"""The time budget of a night."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass
class Budget:
    """Sets the event that stops a night when its time is over. A signal may set the same event."""

    stop: threading.Event
    is_spent: bool = False

    def _spend(self) -> None:
        self.is_spent = True
        self.stop.set()

    @property
    def is_interrupted(self) -> bool:
        """Return true if the stop was requested, rather than due to the end of the budget."""
        return self.stop.is_set() and not self.is_spent

    @contextlib.contextmanager
    def running(self, seconds: float | None) -> Iterator[None]:
        """Let the time run until the context ends."""
        timer = threading.Timer(seconds, self._spend) if seconds is not None else None
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()
