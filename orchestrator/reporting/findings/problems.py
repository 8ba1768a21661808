"""Problems of a run, one for each reason, whatever number of cells it hit."""

from collections.abc import Callable, Iterable, Sequence

from orchestrator.domain import Outcome, Status
from orchestrator.reporting.findings.model import Affected, CellReport, LogEnd, Problem
from orchestrator.wording import clean, clean_line

TAIL_LINES = 40
TAIL_CHARACTERS = 4000
MOST_LOGS = 400
"""Logs that a report reads; what fails beyond them is listed all the same, with its log by name."""

Tail = Callable[[Outcome], str]
"""The end of an outcome's log."""


def no_tail(outcome: Outcome) -> str:
    """Know no log."""
    del outcome
    return ""


def problems(cells: Iterable[CellReport], tail: Tail) -> tuple[Problem, ...]:
    """Group the repeats that did not end `ok` by status and reason, in the order of the plan.

    What one cell expects and another does not is two problems. `tail` is asked once for each of the first logs.
    """
    tail = _limited(tail)
    alike: dict[tuple[Status, str, bool], list[tuple[CellReport, list[Outcome]]]] = {}
    for cell in cells:
        for (status, reason), outcomes in _ended(cell).items():
            alike.setdefault((status, reason, status is cell.cell.expect), []).append((cell, outcomes))
    return tuple(
        Problem(
            status=status,
            reason=reason,
            expected=expected,
            cells=tuple(_affected(cell, outcomes) for cell, outcomes in hit),
            logs=_logs([outcomes[0] for _, outcomes in hit], reason, tail),
        )
        for (status, reason, expected), hit in alike.items()
    )


def _limited(tail: Tail) -> Tail:
    """`tail`, which after `MOST_LOGS` logs knows no more."""
    left = MOST_LOGS

    def limited(outcome: Outcome) -> str:
        nonlocal left
        left -= 1
        return tail(outcome) if left >= 0 else ""

    return limited


def bounded(log: str) -> str:
    """Return the end of a log, cleaned, of at most `TAIL_LINES` lines and `TAIL_CHARACTERS` characters."""
    # A carriage return redraws a line, as progress bars do: only what it left at last was meant to be read.
    lines = [line.rsplit("\r", 1)[-1] for line in log.replace("\r\n", "\n").rstrip().split("\n")]
    return clean("\n".join(lines[-TAIL_LINES:]))[-TAIL_CHARACTERS:]


def _ended(cell: CellReport) -> dict[tuple[Status, str], list[Outcome]]:
    by_end: dict[tuple[Status, str], list[Outcome]] = {}
    for repeat in cell.repeats:
        if repeat.outcome.status is not Status.OK:
            by_end.setdefault((repeat.outcome.status, repeat.outcome.reason), []).append(repeat.outcome)
    return by_end


def _affected(cell: CellReport, outcomes: Sequence[Outcome]) -> Affected:
    return Affected(cell.cell.id, cell.label, tuple(outcome.repeat for outcome in outcomes), outcomes[0].log)


def _logs(outcomes: Sequence[Outcome], reason: str, tail: Tail) -> tuple[LogEnd, ...]:
    tails: dict[str, str] = {}
    ends: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.log is not None:
            # The log of a build is that of every cell of its image.
            if outcome.log not in tails:
                tails[outcome.log] = _beyond(reason, bounded(tail(outcome)))
            ends.setdefault(tails[outcome.log], []).append(outcome)
    return tuple(
        LogEnd(str(same[0].log), tuple(outcome.cell_id for outcome in same), text) for text, same in ends.items()
    )


def _beyond(reason: str, tail: str) -> str:
    """Return the tail if it says more than the reason, else nothing. A long reason has its middle left out."""
    beginning, _, end = reason.partition(" … ")
    said = clean_line(tail)
    if said in reason or (end and said.startswith(beginning) and said.endswith(end)):
        return ""
    return tail
