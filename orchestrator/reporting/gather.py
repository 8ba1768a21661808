"""Read a run's files into a report."""

from collections.abc import Iterator
from dataclasses import replace

from orchestrator.domain import Cell, Outcome, Status
from orchestrator.files import read_tail
from orchestrator.reporting.document import document
from orchestrator.reporting.model import Report
from orchestrator.results.store import InvalidResultError, Run, Stored, plan_from_json

_TAIL_BYTES = 16_384


def report(run: Run) -> Report:
    """Report on a run's folder, one repeat in memory at a time; raises `InputError` where there is no such run."""
    record = run.record()
    plan = plan_from_json(record.plan)
    return document(
        record.model_copy(update={"plan": {}, "matrix": {}}),  # of many cells, the heaviest thing in memory
        plan,
        stored(run, plan.cells),
        lambda outcome: log_tail(run, outcome),
        run.environments().environments,
    )


def stored(run: Run, cells: tuple[Cell, ...]) -> Iterator[Stored]:
    """Every recorded outcome with its result; one whose result has rotted since comes as `invalid_result`."""
    for outcome in run.outcomes(cells):
        try:
            yield Stored(outcome, run.result(outcome))
        except InvalidResultError as error:
            yield Stored(replace(outcome, status=Status.INVALID_RESULT, reason=str(error)), None)


def log_tail(run: Run, outcome: Outcome) -> str:
    """The last few kilobytes of an outcome's log; empty where there is none, or it lies outside the run's folder."""
    if outcome.log is None:
        return ""
    path = (run.folder / outcome.log).resolve()
    if not path.is_relative_to(run.folder.resolve()):
        return ""
    return read_tail(path, _TAIL_BYTES)
