"""The runs of a results folder, of which readers do not see those of an interrupted merge."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.files import open_plain
from orchestrator.results.names import JOURNAL, run_names
from orchestrator.results.store import Run

_MOST_BYTES = 64 * 1024 * 1024


class Journal(BaseModel):
    """The journal `.merging.json`, with the runs of a merge and their staging folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    staging: str = Field(pattern=r"\A\.[A-Za-z0-9-]{1,100}\z")
    """A folder beside the runs."""
    runs: tuple[str, ...]


def read_journal(results: Path) -> Journal | None:
    """Read the journal of an incomplete merge, or return None if every merge is complete.

    Raises `OSError` or `ValueError` where something else lies in its place.
    """
    try:
        with open_plain(results / JOURNAL) as file:
            return Journal.model_validate_json(file.read(_MOST_BYTES))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise ValueError(str(error)) from error


def notice(results: Path) -> str | None:
    """Return a line on the runs an interrupted merge hides, or None."""
    try:
        journal = read_journal(results)
    except (OSError, ValueError):
        return f"{results / JOURNAL}: is not the journal of a merge: some runs of that merge may be missing here"
    if not journal:
        return None
    runs, verb = ("1 run", "is") if len(journal.runs) == 1 else (f"{len(journal.runs):,} runs", "are")
    return f"{runs} of an interrupted merge {verb} hidden; the next merge of any file completes it"


def pending(results: Path) -> frozenset[str]:
    """Return the names of runs that are not to be seen yet."""
    try:
        journal = read_journal(results)
    except (OSError, ValueError):
        return frozenset()
    return frozenset(journal.runs) if journal else frozenset()


def runs(results: Path) -> list[Run]:
    """Every run below a results folder, oldest first."""
    return [Run(results / name) for name in run_names(results)]
