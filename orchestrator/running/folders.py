"""The folder of one repeat: what an earlier attempt left, the phase it is in, the answer it gives.

What lies there was written by what was launched, which may be anything: links and pipes are not followed.
"""

import contextlib
import re
from collections.abc import Callable
from pathlib import Path

from orchestrator.errors import HostError
from orchestrator.files import move_aside, open_plain
from orchestrator.processes import BoundedLog
from orchestrator.results.contract import Result
from orchestrator.results.scripts import ScriptResult
from orchestrator.results.store import InvalidResultError, read_answer, read_result

LOG = "log.txt"
_ATTEMPT = re.compile(r"attempt-([0-9]{1,9})")
_PHASE = re.compile(rb"[a-z][a-z_]{0,30}\n?")


def set_aside(folder: Path) -> int:
    """Move what an earlier attempt left into `attempt-<n>` beside it; return how many attempts there have been.

    Raises `HostError` where that cannot be done.
    """
    reclaim(folder)
    try:
        names = sorted(entry.name for entry in folder.iterdir())
        earlier = [int(match[1]) for match in map(_ATTEMPT.fullmatch, names) if match]
        # Not how many there are: what was measured may have made one of that name itself.
        attempts = max(earlier, default=0)
        if LOG not in names and "result.json" not in names:
            return attempts
        aside = folder / f"attempt-{attempts + 1}"
        aside.mkdir()
        for name in names:
            if not _ATTEMPT.fullmatch(name):
                (folder / name).rename(aside / name)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise HostError(f"{folder}: an earlier attempt cannot be moved aside: {error.strerror}") from error
    return attempts + 1


def reclaim(folder: Path) -> None:
    """Take back the right to write where what was measured has locked its own folder."""
    with contextlib.suppress(OSError):
        folder.chmod(0o755)


def note(log: Path, text: str) -> None:
    """Add a line of our own to a log, which what was measured may have replaced by a link, a pipe or a folder."""
    reclaim(log.parent)
    with contextlib.suppress(OSError):
        if log.is_symlink() or not log.is_file():
            move_aside(log)
    with BoundedLog(log) as kept:
        kept.write(f"{text}\n".encode())


def answer(folder: Path, *, of_script: bool = False) -> Result | ScriptResult | InvalidResultError:
    """Read what a launch answered, or say what is wrong with it."""
    try:
        path = folder / "result.json"
        return read_answer(path, ScriptResult) if of_script else read_result(path)
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
        with open_plain(path) as file:
            word = file.read(64)
    except OSError:
        return ""
    return word.decode().strip() if _PHASE.fullmatch(word) else ""
