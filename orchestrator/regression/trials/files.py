"""The files of a regression test in its run's folder."""

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from orchestrator.errors import InputError
from orchestrator.files import read_record
from orchestrator.regression.model import Regression
from orchestrator.regression.pairing import Pair, Unpaired
from orchestrator.regression.rules import Rules
from orchestrator.regression.sides import Side
from orchestrator.results.plans import first_problem
from orchestrator.results.store import Run
from orchestrator.results.writing import write_atomically

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


_TRIAL = TypeAdapter(Trial)


def store_trial(run: Run, trial: Trial) -> None:
    """Write a trial to its run's folder, before `run.json`."""
    write_atomically(run.folder / TRIAL_FILE, _TRIAL.dump_json(trial, indent=1).decode() + "\n")


def stored_trial(run: Run) -> Trial:
    """Read a trial back. Raises `InputError` where the run is of none, or its file is broken."""
    path = run.folder / TRIAL_FILE
    try:
        return _TRIAL.validate_json(read_record(path))
    except FileNotFoundError:
        raise InputError(
            f"{run.folder}: is no regression test; `orchestrator run --resume` takes up other runs"
        ) from None
    except ValidationError as error:
        raise InputError(
            f"{path}: not a regression test: {first_problem(error)}; bring back a copy, or test anew: what the run has "
            "measured stays, and `orchestrator report` shows it"
        ) from error


def blocks_follow_sight(run: Run) -> bool:
    """Return true if a regression test chose the number of blocks of a run by its results."""
    if not (run.folder / TRIAL_FILE).exists():
        return False
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
    path = run.folder / REGRESSION_FILE
    try:
        return Regression.model_validate_json(read_record(path))
    except FileNotFoundError:
        raise InputError(
            f"{run.folder}: has no {REGRESSION_FILE}: it is no regression test, or has not come to its end"
        ) from None
    except ValidationError as error:
        raise InputError(
            f"{path}: not a regression: {first_problem(error)}; `orchestrator regress --resume {run.name} --results "
            f"{run.folder.parent}` makes it anew of what is measured"
        ) from error
