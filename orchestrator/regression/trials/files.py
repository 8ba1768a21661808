"""The files of a regression test in its run's folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from orchestrator.errors import InputError, first_problem
from orchestrator.files import read_record
from orchestrator.regression.anchoring import Anchor
from orchestrator.regression.model import Regression
from orchestrator.regression.pairing import Pair, Unpaired
from orchestrator.regression.rules import Rules
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.joint import is_joint
from orchestrator.results.decisions import is_until_decided
from orchestrator.results.files.writing import write_atomically
from orchestrator.results.store import Run

TRIAL_FILE = "trial.json"

REGRESSION_FILE = "regression.json"


@dataclass(frozen=True, slots=True)
class Trial:
    """A regression test as it was begun, with its pairs and its rules."""

    baseline: Side
    candidate: Side
    pairs: tuple[Pair, ...]
    rules: Rules
    gone: tuple[Unpaired, ...] = ()
    new: tuple[Unpaired, ...] = ()
    anchor: Anchor | None = None
    """The third side, if a nightly has one."""

    @property
    def compared(self) -> int:
        """Return the number of pairs that share alpha, with those of the anchor."""
        return len(self.pairs) + (len(self.anchor.pairs) if self.anchor else 0)


_TRIAL = TypeAdapter(Trial)

_REGRESSION = TypeAdapter(Regression)

_Stored = TypeVar("_Stored", Trial, Regression)


def store_trial(run: Run, trial: Trial) -> None:
    """Write a trial to its run's folder, before `run.json`."""
    write_atomically(run.folder / TRIAL_FILE, _TRIAL.dump_json(trial, indent=1).decode() + "\n")


def stored_trial(run: Run) -> Trial:
    """Read a trial back. Raises `InputError` where the run is of none, or its file is broken."""
    return _stored(
        run.folder / TRIAL_FILE,
        _TRIAL,
        missing="is no regression test; `orchestrator run --resume` takes up other runs",
        broken="not a regression test",
        remedy="bring back a copy, or test again: what the run has measured stays, and `orchestrator report` shows it",
    )


def blocks_follow_sight(run: Run) -> bool:
    """Return true if a ranking, a regression test or a search chose the number of blocks of a run by its results."""
    if is_joint(run):
        return True
    if not (run.folder / TRIAL_FILE).exists():
        return is_until_decided(run)
    looks = stored_trial(run).rules.looks
    return len(looks) > 1 or any(cell.repeats > looks[-1] for cell in run.plan().cells)


def regression_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `regression.json`."""
    schema = Regression.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def write_regression(run: Run, regression: Regression) -> None:
    """Write `regression.json` into a run's folder."""
    write_atomically(run.folder / REGRESSION_FILE, regression.model_dump_json(by_alias=True, indent=1) + "\n")


def stored_regression(run: Run) -> Regression:
    """Read `regression.json` back. Raises `InputError` where there is none, or it is broken."""
    again = f"`orchestrator regress --resume {run.name} --results {run.folder.parent}`"
    return _stored(
        run.folder / REGRESSION_FILE,
        _REGRESSION,
        missing=f"has no {REGRESSION_FILE}: it is no regression test, or has not come to its end",
        broken="not a regression",
        remedy=f"{again} makes it again from what is measured",
    )


def _stored(path: Path, kind: TypeAdapter[_Stored], *, missing: str, broken: str, remedy: str) -> _Stored:
    """Read a file of a run's folder. Raises `InputError` where it is missing or broken."""
    try:
        return kind.validate_json(read_record(path))
    except FileNotFoundError:
        raise InputError(f"{path.parent}: {missing}") from None
    except ValidationError as error:
        raise InputError(f"{path}: {broken}: {first_problem(error)}; {remedy}") from error
