"""The parity checks of a run, one folder each below `<run>/parity/`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from orchestrator.domain import Status
from orchestrator.files import open_plain
from orchestrator.results.container_answers import InvalidResultError, read_answer
from orchestrator.results.contract import Request
from orchestrator.results.files.writing import NO_FILES, made_folder, write_end, write_request
from orchestrator.results.parity.contract import ParityOutcome, ParityResult
from orchestrator.results.store import MAX_OUTCOME_BYTES, Run

FOLDER = "parity"


@dataclass(frozen=True, slots=True)
class Checks:
    """The folder of a run's parity checks."""

    run: Run

    def folder(self, check: str) -> Path:
        """Return the folder of a check, `<run>/parity/<check id>`."""
        return self.run.folder / FOLDER / check

    def prepare(self, request: Request, files: Mapping[str, str] = NO_FILES) -> Path:
        """Make the folder of a check with its request and the texts of the files that this names, and return it.

        Raises `HostError` where that cannot be done.
        """
        folder = made_folder(self.folder(request.cell))
        write_request(folder, request, files)
        return folder

    def write_outcome(self, outcome: ParityOutcome) -> None:
        """Write the outcome of a check, which is its last file."""
        text = outcome.model_dump_json(by_alias=True, indent=1) + "\n"
        write_end(made_folder(self.folder(outcome.check)), text, of_result=outcome.status is Status.OK)

    def outcome(self, check: str) -> ParityOutcome | None:
        """Return the outcome of a check, or None if it has none, or one that is broken or another's."""
        try:
            with open_plain(self.folder(check) / "outcome.json") as file:
                outcome = ParityOutcome.model_validate_json(file.read(MAX_OUTCOME_BYTES))
        except (OSError, ValidationError):
            return None
        return outcome if outcome.check == check else None

    def result(self, outcome: ParityOutcome) -> ParityResult:
        """Return the answer of a check that ended `ok`. Raises `InvalidResultError` with one line."""
        parts = Path(outcome.folder).parts
        if not parts or Path(outcome.folder).is_absolute() or ".." in parts:
            raise InvalidResultError(f"{outcome.folder!r} is no folder of a check")
        return read_answer(self.folder(outcome.folder) / "result.json", ParityResult)
