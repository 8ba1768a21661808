"""Answers of parity checks, stored by their content so that later runs do not ask again."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from orchestrator.errors import HostError
from orchestrator.files import open_plain
from orchestrator.results.container_answers import InvalidResultError, read_answer
from orchestrator.results.files.writing import write_atomically
from orchestrator.results.parity.checks import Checks
from orchestrator.results.parity.contract import ParityOutcome, ParityResult
from orchestrator.results.store import MAX_OUTCOME_BYTES


@dataclass(frozen=True, slots=True)
class Answers:
    """A folder of the cache with one folder for each content. It may be removed at any time."""

    folder: Path

    def keep(self, checks: Checks, outcome: ParityOutcome) -> None:
        """Store the answer of a check that ended `ok`, if the cache can be written."""
        if len(Path(outcome.content).parts) != 1:
            return
        with contextlib.suppress(HostError, OSError, InvalidResultError):
            place = self.folder / outcome.content
            place.mkdir(parents=True, exist_ok=True)
            write_atomically(place / "result.json", _text(checks.result(outcome)))
            write_atomically(place / "outcome.json", _text(outcome))

    def find(self, content: str) -> tuple[ParityOutcome, ParityResult] | None:
        """Return the stored answer for a content, or None if there is none or it is broken."""
        place = self.folder / content
        try:
            with open_plain(place / "outcome.json") as file:
                outcome = ParityOutcome.model_validate_json(file.read(MAX_OUTCOME_BYTES))
            result = read_answer(place / "result.json", ParityResult)
        except (OSError, ValidationError, InvalidResultError):
            return None
        return (outcome, result) if outcome.content == content and result.cell == outcome.folder else None


def take_over(checks: Checks, check: str, earlier: tuple[ParityOutcome, ParityResult]) -> ParityOutcome:
    """Write an earlier answer into a check's folder, and return the outcome to record.

    Raises `HostError` where that cannot be done.
    """
    outcome, result = earlier
    write_atomically(checks.folder(check) / "result.json", _text(result.model_copy(update={"cell": check})))
    return outcome.model_copy(update={"check": check, "folder": check, "log": None, "reused": True})


def _text(document: ParityOutcome | ParityResult) -> str:
    return document.model_dump_json(by_alias=True, indent=1) + "\n"
