"""Parity in a report, from the checks of a run to plain lines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from orchestrator.analysis.parity.sides import ParitySide
from orchestrator.analysis.parity.work import PairParity, WorkParity, pair
from orchestrator.catalog import KnownFault
from orchestrator.domain import Cell, Plan, Status
from orchestrator.planning import Check, check_id, checks
from orchestrator.reporting.findings.cells import labels
from orchestrator.reporting.findings.model import CheckReport, Group
from orchestrator.results.parity.contract import ParityOutcome, ParityResult
from orchestrator.wording import clean_line, listing_of

MOST_NAMES = 6
NOT_ASKED = "parity was not asked for: nothing says that the cells that are compared do the same work"
NOTHING_TO_CHECK = "it computes nothing that could be checked"
NO_OUTCOME = "no outcome of its parity check was recorded"

Answer = tuple[ParityOutcome | None, ParityResult | None]
"""How a check ended, and what it found where it ended `ok` and its file is sound."""


@dataclass(frozen=True)
class Parity:
    """The parity of a run, judged for each pair when it is first needed."""

    plan: Plan
    answers: Mapping[str, Answer]
    """By id of the check."""
    faults: Sequence[KnownFault] = ()
    _checks: dict[str, Check] = field(default_factory=dict, init=False)
    _sides: dict[str, ParitySide] = field(default_factory=dict, init=False)
    _verdicts: dict[tuple[str, str], PairParity] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._checks.update((check.id, check) for check in checks(self.plan))
        groups: dict[object, list[Cell]] = {}
        for cell in self.plan.cells:
            groups.setdefault((cell.system, cell.workload), []).append(cell)
        for members in groups.values() if self.plan.parity else ():
            self._sides.update(
                (cell.id, self._side(cell, to)) for cell, to in zip(members, labels(members), strict=True)
            )

    def judge(self, one: Cell, other: Cell) -> PairParity:
        """Say whether two cells of a group do the same work, in a run that was to check it."""
        key = (one.id, other.id) if one.id < other.id else (other.id, one.id)
        if key not in self._verdicts:
            first, second = (self._sides[each] for each in key)
            self._verdicts[key] = pair(first, second, one.workload.mode, self.faults)
        return self._verdicts[key]

    def _side(self, cell: Cell, label: str) -> ParitySide:
        name = check_id(cell)
        outcome, result = (None, None) if cell.script else self.answers.get(name, (None, None))
        why_not = NO_OUTCOME
        if cell.script or name not in self._checks:
            why_not = NOTHING_TO_CHECK
        elif outcome is not None:
            where = f" (log: {outcome.log})" if outcome.log else ""
            why_not = f"its parity check ended as {outcome.status.value}: {clean_line(outcome.reason)}{where}"
        return ParitySide(label, cell.framework, cell.options, result, "" if result else why_not)

    def reports(self) -> tuple[CheckReport, ...]:
        """Every check, in the order of the plan."""
        return tuple(_report(check, *self.answers.get(check.id, (None, None))) for check in self._checks.values())


def _report(check: Check, outcome: ParityOutcome | None, result: ParityResult | None) -> CheckReport:
    if outcome is None:
        return CheckReport(check.id, Status.NOT_RUN, NO_OUTCOME, None, 0.0)
    figures = (result.parameters, result.first_loss, result.losses.get("10")) if result else (None, None, None)
    return CheckReport(check.id, outcome.status, clean_line(outcome.reason), outcome.log, outcome.wall_s, *figures)


def lines(group: Group) -> tuple[str, ...]:
    """Say what parity found of a group: every measured cell beside the first one, and who of them do other work."""
    beside = [(place.label, place.parity) for place in group.places if place.parity is not None]
    if not beside or group.places[0].parity is not None:
        return ()  # nothing is known, or the best is not shown: every line would name it
    best, alike = group.places[0].label, [label for label, verdict in beside if verdict.work is WorkParity.SAME]
    said = []
    if alike:
        names = listing_of(alike, MOST_NAMES)
        who = f"all {len(beside) + 1} cells" if len(alike) == len(beside) else f"{best} and {names}"
        what = f"{who} do the same work" if _is_mutual(group) else f"{best} does the same work as {names}"
        said.append(f"Parity: {what}{_furthest([verdict for _, verdict in beside])}.")
    said += _not_comparable(best, beside)
    said += _apart_from_each_other(group)
    unknown = dict.fromkeys(verdict.reason for _, verdict in beside if verdict.work is WorkParity.NOT_CHECKED)
    said += [f"Parity: not checked: {reason}." for reason in unknown]
    said += [f"Parity: {note}." for note in dict.fromkeys(verdict.note for _, verdict in beside if verdict.note)]
    return tuple(said)


def _is_mutual(group: Group) -> bool:
    """Return True if all that do the work of the first cell are known to do each other's work."""
    alike = [index for index, place in enumerate(group.places) if place.parity and place.parity.work is WorkParity.SAME]
    pairs = [group.parity[one][other] for one, other in combinations(alike, 2)] if group.parity else [None]
    return all(verdict is not None and verdict.work is WorkParity.SAME for verdict in pairs)


def _apart_from_each_other(group: Group) -> Iterator[str]:
    """The pairs, of all that are comparable with the first, that are not comparable with each other."""
    ranked = [index for index, place in enumerate(group.places) if place.rank][1:] if group.parity else []
    pairs = [
        (group.places[one].label, group.places[other].label, verdict)
        for one, other in combinations(ranked, 2)
        if (verdict := group.parity[one][other]) and verdict.work is WorkParity.NOT_COMPARABLE
    ]
    for one, other, verdict in pairs[:MOST_NAMES]:
        yield from _not_comparable(one, [(other, verdict)])
    if len(pairs) > MOST_NAMES:
        yield f"Parity: nor are {len(pairs) - MOST_NAMES:,} more pairs."


def _furthest(verdicts: Sequence[PairParity]) -> str:
    differences = [difference for each in verdicts if each.work is WorkParity.SAME for difference in each.differences]
    if not differences:
        return ""
    worst = max(differences, key=lambda difference: difference.value / difference.bar)
    return f"; nearest to its bar: {worst.what}, {worst.value:.2g} apart of {worst.bar:g} allowed"


def _not_comparable(best: str, beside: Sequence[tuple[str, PairParity]]) -> list[str]:
    who: dict[tuple[str, str], list[str]] = {}
    for label, verdict in beside:
        if verdict.work is WorkParity.NOT_COMPARABLE:
            who.setdefault((verdict.reason, verdict.known_fault), []).append(label)
    return [
        f"Parity: {listing_of(names, MOST_NAMES)} and {best} are not comparable: {reason}"
        f"{f'; known fault of {fault}' if fault else ''}."
        for (reason, fault), names in who.items()
    ]
