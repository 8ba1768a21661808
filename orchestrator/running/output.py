"""The limit on what one repeat may write into its folder, watched while it runs and once more when it has ended."""

import time
from collections.abc import Callable
from pathlib import Path

from orchestrator.domain import OutputLimit
from orchestrator.results.files.trees import Usage, usage
from orchestrator.runtimes import Ready, compile_caches

LOOK_S = 1.0
"""The shortest time between two looks."""
_REST = 50
"""Times as long as a look took is the pause after it: looking costs at most 2 % of one CPU."""


class OutputWatch:
    """Watch that ends a launch which has written more into its folder than its limit allows.

    Files that were there before do not count.
    """

    def __init__(self, folder: Path, limit: OutputLimit, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._limit = limit
        self._clock = clock
        self._before = usage(folder)
        self._next = clock() + LOOK_S
        self.reason: str | None = None
        """One line with figures, once the limit is exceeded."""

    def __call__(self) -> bool:
        """Count, unless the last count was a moment ago. Return true once the limit is exceeded."""
        began = self._clock()
        if not self.reason and began >= self._next:
            self.look()
            ended = self._clock()
            self._next = ended + max(LOOK_S, _REST * (ended - began))
        return bool(self.reason)

    def look(self) -> str | None:
        """Count now, and return the reason, or None within the limit."""
        before, limit = self._before, self._limit
        most = OutputLimit(before.size_bytes + limit.size_bytes, before.files + limit.files)
        # A folder that could not be counted before is that of an earlier attempt.
        now = usage(self._folder, most, known=before.uncounted)
        self.reason = self.reason or _reason(now, before, limit)
        return self.reason


class OutputWatches:
    """Watch over the folder of a launch and over that for what its framework compiles, if it has one."""

    def __init__(self, folder: Path, limit: OutputLimit, ready: Ready) -> None:
        compiled = [OutputWatch(ready.compile_cache[0], compile_caches.LIMIT)] if ready.compile_cache else []
        self._watches = [OutputWatch(folder, limit), *compiled]

    def __call__(self) -> bool:
        """Count what is due. Return true once a limit is exceeded."""
        return any(watch() for watch in self._watches)

    def look(self) -> str | None:
        """Count now, and return the reason, or None within the limits."""
        return next(filter(None, [watch.look() for watch in self._watches]), None)


def _reason(now: Usage, before: Usage, limit: OutputLimit) -> str | None:
    size, files = now.size_bytes - before.size_bytes, now.files - before.files
    if size > limit.size_bytes:
        return f"wrote {_size(size)} or more into its folder; the limit is {_size(limit.size_bytes)}"
    if files > limit.files:
        return f"made {files:,} files or more in its folder; the limit is {limit.files:,}"
    if now.problem:
        return f"what it wrote cannot be counted: {now.problem}"
    return None


def _size(size_bytes: int) -> str:
    """Format a size, such as `64 MiB`, `2.31 GiB` or `8 TiB`."""
    unit, name = next((unit, name) for unit, name in _UNITS if size_bytes >= unit or unit == 1)
    return f"{size_bytes / unit:.3g} {name}" if size_bytes < 1000 * unit else f"{size_bytes / unit:,.0f} {name}"


_UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "bytes"))
