"""Clocks that tests set, in the place of the module `time`."""

import threading
import time
from pathlib import Path


class LateClock:
    """The clock of a process that gets no CPU for an hour as soon as a file is there.

    A file `read` beside it says that the time was read, so that a deadline is known.
    """

    def __init__(self, late: Path) -> None:
        self._late = late

    def monotonic(self) -> float:
        now = time.monotonic() + self._away_s()
        self._late.with_name("read").touch()
        return now

    def perf_counter(self) -> float:
        return time.perf_counter() + self._away_s()

    def __getattr__(self, name: str) -> object:
        return getattr(time, name)

    def _away_s(self) -> float:
        return 3600.0 * self._late.exists()


class SteppedClock:
    """A clock that goes on only while an event of its own is waited for."""

    def __init__(self) -> None:
        self._now_s = 0.0

    def monotonic(self) -> float:
        return self._now_s

    def event(self) -> threading.Event:
        """Return an event that never comes, and takes no time to wait for."""
        clock = self

        class Never(threading.Event):
            def wait(self, timeout: float | None = None) -> bool:
                assert timeout is not None
                clock._now_s += timeout
                return False

        return Never()
