"""The events of a run in its folder, for whoever looks on from another process."""

import contextlib
import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from orchestrator.events import Event, Listener, PhaseChanged
from orchestrator.reporting.live.lines import event_line
from orchestrator.results.names import EVENTS

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def recorded(folder: Path, listener: Listener, clock: Callable[[], datetime]) -> Iterator[Listener]:
    """Yield a listener that also writes each event into the folder of a run, a line for each, until the end.

    Nothing is written while a repeat is timed: its phases are left out, as it writes them down itself. Where the folder
    cannot be written, nobody looks on, and the run goes on.
    """
    try:
        file = _opened(folder)
    except OSError:
        yield listener
        return

    def tell(event: Event) -> None:
        listener(event)
        if not isinstance(event, PhaseChanged):
            with contextlib.suppress(OSError):  # such as a full disk
                os.write(file, event_line(event, clock()).encode())

    try:
        yield tell
    finally:
        os.close(file)


def _opened(folder: Path) -> int:
    """Open a new file, which takes its place once it is locked: no reader finds it without its lock."""
    beside = folder / f".{EVENTS}.{secrets.token_hex(8)}"
    file = os.open(beside, _NEW, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        beside.replace(folder / EVENTS)
    except OSError:
        os.close(file)
        beside.unlink(missing_ok=True)
        raise
    return file
