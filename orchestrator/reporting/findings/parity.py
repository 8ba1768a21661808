"""Parity in a report, from the checks of a run to plain lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orchestrator.analysis.parity.sides import OutputEvidence, ParitySide
from orchestrator.analysis.parity.work import PairParity, pair
from orchestrator.catalog import KnownFault
from orchestrator.domain import Cell, Plan, Status
from orchestrator.planning import Check, check_id, checks
from orchestrator.reporting.findings.model import CheckReport
from orchestrator.reporting.findings.shared_texts import labels
from orchestrator.results.parity.contract import ParityOutcome, ParityResult

NOT_ASKED = "parity was not asked for: nothing says that the cells that are compared do the same work"
NOTHING_TO_CHECK = "it computes nothing that could be checked"
NO_OUTCOME = "no outcome of its parity check was recorded"

Answer = tuple[ParityOutcome | None, ParityResult | None]
"""The end of a check, and its result if it ended `ok` and its file is sound."""


@dataclass(frozen=True)
class Parity:
    """The parity of a run, judged for each pair when it is first needed."""

    plan: Plan
    answers: Mapping[str, Answer]
    """By id of the check."""
    faults: Sequence[KnownFault] = ()
    outputs: Mapping[str, OutputEvidence] = field(default_factory=dict)
    """By id of a cell whose results hold outputs."""
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
        if cell.id in self.outputs:
            return ParitySide(label, cell.framework, cell.options, None, NO_OUTCOME, output=self.outputs[cell.id])
        name = check_id(cell)
        outcome, result = (None, None) if cell.script else self.answers.get(name, (None, None))
        why_not = NO_OUTCOME
        if cell.script or name not in self._checks:
            why_not = NOTHING_TO_CHECK
        elif outcome is not None:
            where = f" (log: {outcome.log})" if outcome.log else ""
            why_not = f"its parity check ended as {outcome.status.value}: {outcome.shown_reason}{where}"
        return ParitySide(label, cell.framework, cell.options, result, "" if result else why_not, cell.parity_batch)

    def reports(self) -> tuple[CheckReport, ...]:
        """Every check, in the order of the plan."""
        return tuple(_report(check, *self.answers.get(check.id, (None, None))) for check in self._checks.values())


def _report(check: Check, outcome: ParityOutcome | None, result: ParityResult | None) -> CheckReport:
    if outcome is None:
        return CheckReport(check.id, Status.NOT_RUN, NO_OUTCOME, None, 0.0)
    figures = (result.parameters, result.first_loss, result.losses.get("10")) if result else (None, None, None)
    return CheckReport(check.id, outcome.status, outcome.shown_reason, outcome.log, outcome.wall_s, *figures)
