"""The one reader of what repeats and parity checks left on disk."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from orchestrator.domain import Cell, Outcome, Status
from orchestrator.results.container_answers import InvalidResultError
from orchestrator.results.contract import Result
from orchestrator.results.parity.checks import Checks
from orchestrator.results.parity.contract import ParityOutcome, ParityResult
from orchestrator.results.parts.outputs import Outputs
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.results.store import Run
from orchestrator.results.telemetry.contract import Telemetry, spans
from orchestrator.results.telemetry.files import read_telemetry


@dataclass(frozen=True, slots=True)
class Stored:
    """One repeat as it is stored."""

    outcome: Outcome
    """With its attempts and its disturbance; `invalid_result` if the file of its result has rotted since."""
    result: Result | None
    """None unless the outcome is `ok`."""
    printed: ScriptResult | None = None
    """The result of a script, in place of a result."""
    rotten: bool = False
    """True if the file of its result has rotted, which tells of the disk and nothing of the release."""
    telemetry: Telemetry | None = None
    """The series of its GPUs; None without one, and without blocks that tell when they began."""


@dataclass(frozen=True, slots=True)
class StoredCheck:
    """One parity check as it is stored."""

    outcome: ParityOutcome | None
    """`invalid_result` if the file of its answer has rotted since; None if there is no check."""
    result: ParityResult | None = None
    rot: str = ""
    """The defect of the answer's file."""


def read_repeat(run: Run, outcome: Outcome, *, of_script: bool = False) -> Stored:
    """Read the result behind an outcome."""
    try:
        if of_script:
            return Stored(outcome, None, run.printed(outcome))
        result = run.result(outcome)
        return Stored(outcome, result, telemetry=_telemetry(run, outcome, result))
    except InvalidResultError as error:
        return Stored(replace(outcome, status=Status.INVALID_RESULT, reason=str(error)), None, rotten=True)


def _telemetry(run: Run, outcome: Outcome, result: Result | None) -> Telemetry | None:
    """Read the series of the GPUs of a repeat, which only one with GPUs has."""
    if result is None or not spans(result.blocks):
        return None
    return read_telemetry(run.repeat_folder(outcome.cell_id, outcome.repeat))


def read_repeats(run: Run, cell_id: str, repeats: Iterable[int], *, of_script: bool = False) -> Iterator[Stored]:
    """Read those repeats of a cell that have an outcome."""
    for repeat in repeats:
        outcome = run.outcome(cell_id, repeat)
        if outcome is not None:
            yield read_repeat(run, outcome, of_script=of_script)


def read_cells(run: Run, cells: tuple[Cell, ...]) -> Iterator[Stored]:
    """Read every repeat of these cells that has an outcome, scripts included."""
    scripts = {cell.id for cell in cells if cell.script}
    for outcome in run.outcomes(cells):
        yield read_repeat(run, outcome, of_script=outcome.cell_id in scripts)


def read_outputs(run: Run, cell: Cell) -> tuple[Outputs, int] | None:
    """Read the outputs that the results of a cell hold, with their measurement version.

    All repeats draw the same inputs. The error is the largest of any repeat.
    """
    results = [stored.result for stored in read_repeats(run, cell.id, range(cell.repeats))]
    known = [(each.outputs, each.measurement_version) for each in results if each and each.outputs]
    if not known:
        return None
    outputs, version = known[0]
    return outputs.model_copy(update={"error": max(each.error for each, _ in known)}), version


def read_check(run: Run, check_id: str) -> StoredCheck:
    """Read a parity check and its answer."""
    checks = Checks(run)
    outcome = checks.outcome(check_id)
    if outcome is None or outcome.status is not Status.OK:
        return StoredCheck(outcome)
    try:
        return StoredCheck(outcome, checks.result(outcome))
    except InvalidResultError as error:
        rotted = outcome.model_copy(update={"status": Status.INVALID_RESULT, "reason": str(error)})
        return StoredCheck(rotted, rot=str(error))
