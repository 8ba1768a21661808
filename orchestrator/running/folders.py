"""The folder of one launch, with its phase, its answer and its log.

What lies there was written by what was launched, which may be anything: links and pipes are not followed.
"""

import contextlib
import re
from collections.abc import Callable
from pathlib import Path

from orchestrator.files import BoundedLog, move_aside, open_plain
from orchestrator.results.container_answers import InvalidResultError, read_answer, read_result
from orchestrator.results.contract import Result
from orchestrator.results.files.trees import reclaim
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.results.store import Run

LOG = "log.txt"
_PHASE = re.compile(rb"[a-z][a-z_]{0,30}\n?")


def note(log: Path, text: str) -> None:
    """Add a line of our own to a log, which what was measured may have replaced by a link, a pipe or a folder."""
    reclaim(log.parent)
    with contextlib.suppress(OSError):
        if log.is_symlink() or not log.is_file():
            move_aside(log)
    with BoundedLog(log) as bounded:
        bounded.write(f"{text}\n".encode())


def relative(run: Run, path: Path) -> str:
    """Return a path relative to the folder of a run, if it is below that."""
    return path.relative_to(run.folder).as_posix() if path.is_relative_to(run.folder) else str(path)


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

    def __call__(self) -> bool:
        """Read the phase once. No phase ends a launch."""
        phase = _read_phase(self._path)
        if phase and phase != self._last:
            self._last = phase
            self._changed(phase)
        return False


def _read_phase(path: Path) -> str:
    try:
        with open_plain(path) as file:
            word = file.read(64)
    except OSError:
        return ""
    return word.decode().strip() if _PHASE.fullmatch(word) else ""
