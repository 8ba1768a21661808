"""Taking turns: at any time one run measures on a host, for two would share its CPUs unseen."""

import fcntl
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from orchestrator import processes
from orchestrator.events import Listener, Notice
from orchestrator.processes import Stop

WAITING = "another run is measuring on this host; waiting for its repeat to end"
_READABLE = 0o644
"""Reading is all it takes to lock a file: other users can take their turn and cannot change it."""
_CAREFULLY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def taken(files: Sequence[Path], listener: Listener, stop: Stop) -> Iterator[bool]:
    """Hold the turns that `files` stand for, waited for where another run has one; false where stopped meanwhile.

    Without files there are no turns. A file that cannot be locked is told, and measuring goes on without it.
    """
    with ExitStack() as held:
        yield all(_wait(file, held, listener, stop) for file in files)


def _wait(file: Path, held: ExitStack, listener: Listener, stop: Stop) -> bool:
    told = False
    while not stop.is_set():
        try:
            held.callback(os.close, _locked(file))
            return True
        except BlockingIOError:
            if not told:
                listener(Notice(WAITING))
            told = True
        except OSError as error:
            why = error.strerror or error
            listener(Notice(f"{file}: {why}; another run could measure on this host at the same time"))
            return True
        time.sleep(processes.TICK_S)
    return False


def _locked(file: Path) -> int:
    """Open and lock a file that other users may lock too; raises `BlockingIOError` where another has it, or `OSError`.

    In a folder that everybody may write to, the file may be anybody's, and may be no file at all.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = _opened(file)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "is no plain file")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _opened(file: Path) -> int:
    """Open it as far as this user may, or make it; asking to make one that is another's is refused by some kernels."""
    for how in (os.O_RDWR, os.O_RDONLY):
        try:
            return os.open(file, how | _CAREFULLY)
        except PermissionError:
            continue
        except FileNotFoundError:
            break
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | _CAREFULLY, _READABLE)
    except FileExistsError:  # made by another run between the two
        return os.open(file, os.O_RDONLY | _CAREFULLY)
    os.fchmod(descriptor, _READABLE)  # whatever the umask
    return descriptor
