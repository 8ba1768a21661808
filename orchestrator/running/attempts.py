"""The attempts at one repeat, as they are on disk.

The folder of a repeat holds what is being measured, or what counts; earlier attempts lie in it, in `attempt-<n>`. The
files are the truth: a run that goes on after a kill finds in them what the one before it knew.
"""

import contextlib
import os
import re
import shutil
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from orchestrator.domain import Outcome, Status
from orchestrator.errors import host_error
from orchestrator.files import move_aside, open_plain
from orchestrator.results.container_answers import InvalidResultError, read_answer, read_result
from orchestrator.results.files.trees import reclaim, unnest
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.results.store import Run
from orchestrator.running.folders import LOG
from orchestrator.runtimes import STOPPED

_ATTEMPT = re.compile(r"attempt-([0-9]{1,9})")
_PART = re.compile(r"attempt-[0-9]{1,9}\.part")
_OUTCOME = "outcome.json"


@dataclass(frozen=True, slots=True)
class Attempts:
    """Those at one repeat of a cell."""

    run: Run
    cell_id: str
    repeat: int

    def begin(self) -> int:
        """Move the files of an earlier attempt aside, and return the number of attempts so far."""
        return set_aside(self._folder)

    def disturbed(self) -> int:
        """Count the measurements that were set aside as disturbed, each of which used up an extra repeat."""
        return len(self._measured())

    def record(self, outcome: Outcome) -> None:
        """Write down how an attempt ended, beside the measurement that it was to replace where it came to nothing."""
        if outcome.status is Status.OK or not self._measured():
            self.run.write_outcome(outcome)
        else:
            # Never in the place of what counts: a kill at this moment must not leave a failure there.
            self.run.write_outcome(outcome, attempt=set_aside(self._folder, launched=True))

    def not_launched(self, outcome: Outcome) -> Outcome:
        """Record that nothing was launched, unless an earlier attempt says more, and return the outcome that counts.

        A repeat that a stop left without a folder gets none: readers take it as `not_run`, and a stop of thousands of
        repeats takes no longer than one of ten.
        """
        if outcome.reason == STOPPED and not self._folder.exists():
            return outcome
        recorded = self.run.outcome(self.cell_id, self.repeat)
        if recorded and recorded.status.is_failure and (recorded.attempts or not outcome.status.is_failure):
            return recorded
        self.begin()
        return self.settle(outcome)

    def settle(self, outcome: Outcome) -> Outcome:
        """Return the outcome that counts, of the last attempt or of the measurement it was to replace."""
        if outcome.status is Status.OK:
            return outcome
        earlier = self._fall_back(outcome)
        if earlier is None:
            self.run.write_outcome(outcome)
        return earlier or outcome

    def _fall_back(self, instead: Outcome) -> Outcome | None:
        """Have the last measurement that was set aside count after all, since measuring again ended as `instead`.

        None where there is none. It is copied back, so that a kill in the middle leaves it whole where it was.
        """
        measured = self._measured()
        for number, earlier in reversed(measured):
            with contextlib.suppress(InvalidResultError):
                _require_sound(self._folder / f"attempt-{number}" / "result.json")
                attempts = self.begin()
                _copy_back(self._folder / f"attempt-{number}", self._folder)
                why = f"{instead.status.value}: {instead.reason}"
                counts = replace(earlier, attempts=attempts, remeasured=len(measured) - 1, not_remeasured=why)
                self.run.write_outcome(counts)
                return counts
        return None

    def _measured(self) -> list[tuple[int, Outcome]]:
        """Earlier attempts that were measured and set aside for a disturbance, with their numbers, in order."""
        outcomes = [(number, self.run.outcome(self.cell_id, self.repeat, attempt=number)) for number in self._numbers()]
        return [(number, one) for number, one in outcomes if one and one.status is Status.OK and one.disturbance]

    def _numbers(self) -> list[int]:
        names = [match for match in map(_ATTEMPT.fullmatch, _names(self._folder)) if match]
        # A link to a folder, which what was measured could have made, may lead anywhere.
        return sorted(int(match[1]) for match in names if not (self._folder / match[0]).is_symlink())

    @property
    def _folder(self) -> Path:
        return self.run.repeat_folder(self.cell_id, self.repeat)


def set_aside(folder: Path, *, launched: bool = False) -> int:
    """Move the files of an earlier attempt into `attempt-<n>`, and return the number of attempts so far.

    What has neither log nor result was never launched, and is no attempt unless it is known to have been `launched`.
    The last rename makes it an attempt: what was interrupted before is found as `attempt-<n>.part`, and finished. The
    number is the first that is free, whatever other names what was measured may have made. Raises `HostError` where
    that cannot be done.
    """
    reclaim(folder)
    try:
        names = _names(folder)
        parts = _parts(folder)
        if not parts and (launched or LOG in names or "result.json" in names):
            parts = [folder / next(part for part in map("attempt-{}.part".format, count(1)) if part not in names)]
            parts[0].mkdir()
        for part in parts:
            _move_into(part)
            part.rename(folder / f"attempt-{_free(_names(folder))}")
        unnest(folder)  # a further attempt could write there uncounted
        return _free(_names(folder)) - 1
    except OSError as error:
        why = f"{folder}: an earlier attempt cannot be moved aside: {error.strerror}"
        raise host_error(why, error) from error


def _require_sound(path: Path) -> None:
    """Raise `InvalidResultError` unless a file holds a measurement, or what a script printed."""
    try:
        read_result(path)
    except InvalidResultError:
        read_answer(path, ScriptResult)


def _names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except FileNotFoundError:
        return []


def _free(names: list[str]) -> int:
    return next(number for number in count(1) if f"attempt-{number}" not in names)


def _parts(folder: Path) -> list[Path]:
    parts = [folder / name for name in _names(folder) if _PART.fullmatch(name)]
    return [part for part in parts if part.is_dir() and not part.is_symlink()]


def _move_into(part: Path) -> None:
    """Move in everything next to it that is no attempt.

    The outcome goes first, so that a repeat that has begun to move does not count.
    """
    folder = part.parent
    others = {name for name in _names(folder) if not _ATTEMPT.fullmatch(name)} - {each.name for each in _parts(folder)}
    for name in sorted(others, key=lambda name: (name != _OUTCOME, name)):
        if os.path.lexists(part / name):
            move_aside(part / name)
        (folder / name).rename(part / name)


def _copy_back(attempt: Path, folder: Path) -> None:
    """Copy the plain files of an attempt, except its outcome. Raises `HostError`."""
    try:
        for name in _names(attempt):
            if (attempt / name).is_file() and not (attempt / name).is_symlink() and name != _OUTCOME:
                if os.path.lexists(folder / name):
                    move_aside(folder / name)
                with open_plain(attempt / name) as source, (folder / name).open("xb") as target:
                    shutil.copyfileobj(source, target)
    except OSError as error:
        why = f"{folder}: what was measured before cannot be copied back: {error.strerror}"
        raise host_error(why, error) from error
