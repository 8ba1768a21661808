"""The folder of one repeat: what an earlier attempt left, the phase it is in, the answer it gives.

What lies there was written by what was launched, which may be anything: links and pipes are not followed.
"""

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

from orchestrator.errors import HostError
from orchestrator.results.contract import Result
from orchestrator.results.store import InvalidResultError, read_result

LOG = "log.txt"
_ATTEMPT = "attempt-"
_PHASE = re.compile(rb"[a-z][a-z_]{0,30}\n?")


def set_aside(folder: Path) -> int:
    """Move what an earlier attempt left into `attempt-<n>` beside it; return how many attempts there have been."""
    if not folder.is_dir():
        return 0
    names = sorted(entry.name for entry in folder.iterdir())
    attempts = sum(name.startswith(_ATTEMPT) for name in names)
    if LOG not in names and "result.json" not in names:
        return attempts
    aside = folder / f"{_ATTEMPT}{attempts + 1}"
    try:
        aside.mkdir()
        for name in names:
            if not name.startswith(_ATTEMPT):
                (folder / name).rename(aside / name)
    except OSError as error:
        raise HostError(f"{folder}: an earlier attempt cannot be moved aside: {error.strerror}") from error
    return attempts + 1


def answer(folder: Path) -> Result | InvalidResultError:
    """Read what a launch answered, or say what is wrong with it."""
    path = folder / "result.json"
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return InvalidResultError("result.json is no plain file")
        return read_result(path)
    except FileNotFoundError:
        return InvalidResultError("no result.json was written")
    except InvalidResultError as error:
        return error


class PhaseWatch:
    """Tells a listener whenever the phase that a launch has written down is another one."""

    def __init__(self, folder: Path, changed: Callable[[str], None]) -> None:
        self._path = folder / "phase"
        self._changed = changed
        self._last = ""

    def __call__(self) -> None:
        """Look once."""
        phase = _read_phase(self._path)
        if phase and phase != self._last:
            self._last = phase
            self._changed(phase)


def _read_phase(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        word = os.read(descriptor, 64)
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return word.decode().strip() if _PHASE.fullmatch(word) else ""
