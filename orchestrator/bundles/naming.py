"""The last step of a merge: runs that are complete get their names, all of them, even if it is killed in between."""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.bundles.returns import MERGED, RUN_NAME
from orchestrator.errors import HostError
from orchestrator.results.pending import JOURNAL, Journal, read_journal
from orchestrator.results.store import write_atomically

STAGING = ".merging-"


@dataclass(frozen=True, slots=True)
class Naming:
    """Runs in a staging folder that are to get their names in the results folder beside it."""

    staging: Path
    runs: tuple[str, ...]

    @property
    def journal(self) -> Path:
        """The file that hides the runs as long as it is there."""
        return self.staging.parent / JOURNAL

    def all_or_none(self) -> None:
        """Give every run its name; where one cannot have its name, none keeps its own."""
        if not self.runs:
            return
        os.sync()  # what gets its name now must be on disk
        write_atomically(self.journal, Journal(staging=self.staging.name, runs=self.runs).model_dump_json() + "\n")
        try:
            self.finish()
        except BaseException:
            self._undo()
            raise

    def finish(self) -> None:
        """Name the runs that have no name yet, and then show all of them."""
        for run in self.runs:
            if (self.staging / run).is_dir():
                (self.staging / run).rename(self.staging.parent / run)
        os.sync()  # once the journal is gone, every name must be on disk
        self.journal.unlink(missing_ok=True)

    def _undo(self) -> None:
        for run in self.runs:
            if not (self.staging / run).exists():
                (self.staging.parent / run).rename(self.staging / run)
        self.journal.unlink(missing_ok=True)


def complete_interrupted(results: Path) -> None:
    """Complete the merge that was killed while it gave names; raises `HostError` where its journal is unreadable."""
    try:
        found = read_journal(results)
    except (OSError, ValueError) as error:
        kept = "".join(f"; {staging} with its {counted(runs)} is kept" for staging, runs in unnamed(results).items())
        raise HostError(f"{results / JOURNAL}: is not the journal of a merge; move it away{kept}") from error
    if found is not None:
        Naming(results / found.staging, tuple(name for name in found.runs if RUN_NAME.fullmatch(name))).finish()


def unnamed(results: Path) -> dict[Path, int]:
    """Return the staging folders that hold whole runs without a name, with their number.

    They are left where the journal of an interrupted merge was lost.
    """
    numbers = {staging: len(list(staging.glob(f"*/{MERGED}"))) for staging in sorted(results.glob(f"{STAGING}*/"))}
    return {staging: runs for staging, runs in numbers.items() if runs}


def counted(runs: int) -> str:
    """`1 run`, `2 runs`."""
    return "1 run" if runs == 1 else f"{runs:,} runs"


def clear_away(results: Path) -> None:
    """Remove what killed merges have left, but for whole runs: their journal was lost, and nothing else names them."""
    kept = unnamed(results)
    remove(staging for staging in results.glob(f"{STAGING}*/") if staging not in kept)


def remove(stagings: Iterable[Path]) -> None:
    """Remove staging folders, unless a merge that is not complete needs them."""
    for staging in stagings:
        if not (staging.parent / JOURNAL).exists():
            shutil.rmtree(staging, ignore_errors=True)
