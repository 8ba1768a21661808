"""Taking turns: at any time one run of a user measures on a host, for two would share its CPUs unseen."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from orchestrator import processes
from orchestrator.events import Listener, Notice
from orchestrator.processes import Stop


@contextmanager
def taken(file: Path | None, listener: Listener, stop: Stop) -> Iterator[bool]:
    """Hold the turn that `file` stands for, waited for where another run has it; false where stopped meanwhile.

    Without a file there are no turns. A file that cannot be written is told, and measuring goes on without it.
    """
    if file is None:
        yield True
        return
    lock = FileLock(file)
    mine = _wait(lock, listener, stop)
    try:
        yield mine
    finally:
        lock.release()


def _wait(lock: FileLock, listener: Listener, stop: Stop) -> bool:
    told = False
    while not stop.is_set():
        try:
            lock.acquire(timeout=processes.TICK_S if told else 0, poll_interval=processes.TICK_S)
            return True
        except Timeout:
            if not told:
                listener(Notice("another run is measuring on this host; waiting for its repeat to end"))
            told = True
        except OSError as error:
            why = error.strerror or error
            listener(Notice(f"{lock.lock_file}: {why}; another run could measure on this host at the same time"))
            return True
    return False
