"""Problems of a run, one for each reason, and warnings to read before its figures."""

from collections.abc import Callable, Iterable, Sequence

from orchestrator.domain import Outcome, Status
from orchestrator.reporting.findings.gpus import gpu_warnings
from orchestrator.reporting.findings.model import Affected, CellReport, ImageReport, LogEnd, Problem
from orchestrator.results.records import ProvedWith
from orchestrator.wording import clean, clean_line, listing_of, plural

TAIL_LINES = 40
TAIL_CHARACTERS = 4000
MOST_LOGS = 400
"""Logs that a report reads; what fails beyond them is listed all the same, with its log by name."""

Tail = Callable[[Outcome], str]
"""The end of an outcome's log."""

_MOST_NAMED = 3


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


def warnings(
    images: Sequence[ImageReport], cells: Sequence[CellReport], proved_with: ProvedWith | None = None
) -> Iterable[str]:
    """Everything that a run's own files say against its figures."""
    yield from _measured_differently(images)
    yield from _other_threads(cells)
    yield from _compiled_anew(cells)
    yield from _disturbances([repeat.outcome for cell in cells for repeat in cell.repeats])
    yield from gpu_warnings(cells, proved_with)


def _measured_differently(images: Sequence[ImageReport]) -> Iterable[str]:
    versions = sorted({version for image in images for version in image.measurement_versions})
    if len(versions) > 1:
        yield (
            f"measured in {len(versions)} different ways (measurement_version "
            f"{', '.join(str(version) for version in versions)}): the figures of this run are not comparable throughout"
        )


def _other_threads(cells: Sequence[CellReport]) -> Iterable[str]:
    """Yield frameworks that say they run another number of threads than they were given."""
    running_as: dict[tuple[str, str, str], list[str]] = {}
    for cell in cells:
        facts = dict(cell.facts)
        asked, running = facts.get("threads_asked"), facts.get("threads")
        if asked and running and asked != running:
            running_as.setdefault((cell.cell.framework.label, running, asked), []).append(cell.cell.id)
    for (_, running, asked), ids in running_as.items():
        yield clean_line(
            f"{listing_of(ids, 3)}: the framework ran {running} threads where {asked} were asked for: "
            "its figures are not comparable with those of frameworks that kept to it"
        )


def _compiled_anew(cells: Sequence[CellReport]) -> Iterable[str]:
    """Yield the cells with a repeat that compiled what a later one found compiled."""
    cold = [cell.cell.id for cell in cells if "cold" in dict(cell.facts).get("compile_cache", "")]
    if cold:
        yield clean_line(
            f"{listing_of(cold, 3)}: a repeat compiled (compile_cache: cold), and its build and its first step took "
            "the time of that; repeats that found it compiled are warm"
        )


def _disturbances(outcomes: Sequence[Outcome]) -> Iterable[str]:
    """Yield the counts of disturbed repeats, and say if they count."""
    launched = [outcome for outcome in outcomes if outcome.attempts]
    disturbed = [outcome for outcome in launched if outcome.disturbance]
    again = [outcome for outcome in launched if outcome.remeasured]
    in_vain = [outcome for outcome in launched if outcome.not_remeasured]
    busy = [outcome for outcome in launched if outcome.busy]
    if disturbed:
        named = "; ".join(f"{one.cell_id} repeat {one.repeat}: {one.disturbance}" for one in disturbed[:_MOST_NAMED])
        more = f"; and {len(disturbed) - _MOST_NAMED} more" if len(disturbed) > _MOST_NAMED else ""
        yield clean_line(
            f"{len(disturbed)} of {len(launched)} repeats {_were(disturbed)} disturbed and {_counts(disturbed)}: "
            f"{named}{more}"
        )
    if again:
        yield (
            f"{len(again)} {plural('repeat', len(again))} {_were(again)} measured again after a disturbance: "
            "what was disturbed is kept in attempt-1 and so on, and does not count"
        )
    if in_vain:
        first = in_vain[0]
        yield clean_line(
            f"{len(in_vain)} {plural('repeat', len(in_vain))} {_were(in_vain)} to be measured again and "
            f"{_were(in_vain)} not, so the disturbed measurement counts: {first.cell_id} repeat {first.repeat}: "
            f"{first.not_remeasured}"
        )
    if busy:
        yield clean_line(f"the host was not idle when {len(busy)} of {len(launched)} repeats began: {busy[0].busy}")


def _were(some: Sequence[Outcome]) -> str:
    return "was" if len(some) == 1 else "were"


def _counts(some: Sequence[Outcome]) -> str:
    return "counts" if len(some) == 1 else "count"
