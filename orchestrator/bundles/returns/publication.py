"""The last step of a merge, which gives all its runs their names, even if it is interrupted."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.bundles.returns.results_manifest import MERGED, RUN_NAME
from orchestrator.errors import HostError
from orchestrator.results.files.writing import flush, write_atomically
from orchestrator.results.names import JOURNAL
from orchestrator.results.results_folder import Journal, read_journal
from orchestrator.wording import counted

STAGING = ".merging-"


@dataclass(frozen=True, slots=True)
class Publication:
    """Complete runs in a staging folder, whose names go into the results folder around it."""

    staging: Path
    runs: tuple[str, ...]

    @property
    def journal(self) -> Path:
        """The file that hides the runs while it exists."""
        return self.staging.parent / JOURNAL

    def all_or_none(self) -> None:
        """Rename every run into the results folder. If one fails, none is renamed."""
        if not self.runs:
            return
        flush(self.staging)  # the contents must be on disk before the names
        write_atomically(self.journal, Journal(staging=self.staging.name, runs=self.runs).model_dump_json() + "\n")
        try:
            self.finish()
        except BaseException:
            self._undo()
            raise

    def finish(self) -> None:
        """Rename the remaining runs, then remove the journal, which makes all of them visible."""
        for run in self.runs:
            if (self.staging / run).is_dir():
                (self.staging / run).rename(self.staging.parent / run)
        flush(self.staging.parent)  # the names must be on disk before the journal goes
        self.journal.unlink(missing_ok=True)

    def _undo(self) -> None:
        for run in self.runs:
            if not (self.staging / run).exists():
                (self.staging.parent / run).rename(self.staging / run)
        self.journal.unlink(missing_ok=True)


def complete_interrupted(results: Path) -> None:
    """Complete a merge that was killed while it renamed runs. Raises `HostError` if its journal is unreadable."""
    try:
        journal = read_journal(results)
    except (OSError, ValueError) as error:
        kept = "".join(
            f"; {staging} with its {counted(runs, 'run')} is kept" for staging, runs in unnamed(results).items()
        )
        raise HostError(f"{results / JOURNAL}: is not the journal of a merge; move it away{kept}") from error
    if journal is not None:
        names = tuple(name for name in journal.runs if RUN_NAME.fullmatch(name))
        Publication(results / journal.staging, names).finish()


def unnamed(results: Path) -> dict[Path, int]:
    """Return the staging folders that hold complete runs, with their number.

    An interrupted merge leaves them if its journal is lost.
    """
    numbers = {staging: len(list(staging.glob(f"*/{MERGED}"))) for staging in sorted(results.glob(f"{STAGING}*/"))}
    return {staging: runs for staging, runs in numbers.items() if runs}


def clear_away(results: Path) -> None:
    """Remove the staging folders of killed merges, except those with complete runs, which exist nowhere else."""
    with_runs = unnamed(results)
    remove(staging for staging in results.glob(f"{STAGING}*/") if staging not in with_runs)


def remove(stagings: Iterable[Path]) -> None:
    """Remove staging folders, unless an interrupted merge needs them."""
    for staging in stagings:
        if not (staging.parent / JOURNAL).exists():
            shutil.rmtree(staging, ignore_errors=True)
