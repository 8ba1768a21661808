"""The execution of a joint trial, and what its blocks hold of each side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from orchestrator.analysis.comparison import Verdict
from orchestrator.catalog import KnownFault
from orchestrator.domain import Status
from orchestrator.errors import HostError
from orchestrator.regression.judge.evidence import CellEvidence, SideEvidence, one_run
from orchestrator.regression.judge.findings import PairFindings
from orchestrator.regression.judge.judge import Judge
from orchestrator.regression.rules import Rules, metric_of
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.joint import JointTrial
from orchestrator.results.store import Run
from orchestrator.running import Policy, Surroundings, execute

_OF_THE_HOST = frozenset({Status.NO_DEVICE, Status.NOT_RUN})
"""They tell nothing of a side: whoever asks stops there, and asks again later."""
_OF_THE_REFERENCE = frozenset({Verdict.FIXED, Verdict.NEW})
"""Verdicts that speak against the reference, which fails more often than another side."""


@dataclass(frozen=True, slots=True)
class JointResult:
    """The result of a joint trial."""

    run: str = ""
    """Name of the run; empty if there was nothing to run."""
    values: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """A value for each block by `Side.text`, None where the repeat failed. Sides that cannot be compared have none."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """The reason that a side cannot be compared, by `Side.text`."""


def carry_out_joint(
    trial: JointTrial, around: Surroundings, policy: Policy, faults: Sequence[KnownFault] = ()
) -> JointResult | None:
    """Measure all blocks of a joint trial, and return its result, or None if it was stopped before the end.

    Raises `HostError` as `execute` does, and if this host kept a side from being measured.
    """
    for _ in execute(around.run.plan(), around, policy):
        pass
    return None if around.stop.is_set() else joint_result(around.run, trial, faults)


def joint_result(run: Run, trial: JointTrial, faults: Sequence[KnownFault] = ()) -> JointResult:
    """Read the result of a joint trial from the files of its run.

    A side that runs in no more than half of its repeats, does other work than the reference, or has a value of 0
    cannot be compared. Raises `HostError` if this host kept a side from being measured.
    """
    plan, environments = run.plan(), run.environments()
    cells = {cell.id: cell for cell in plan.cells}
    sides = {
        each.side.text: one_run(run, cells[each.cell], range(trial.blocks), environments, asks_parity=plan.parity)
        for each in trial.sides
    }
    for each in trial.sides:
        _refuse_silence(each.side, sides[each.side.text].last.evidence)
    reasons = dict(_alone(trial, sides))
    _compare_with_reference(trial, sides, reasons, faults)
    values = {text: _values(trial, side.last.evidence) for text, side in sides.items() if text not in reasons}
    return JointResult(run.name, values, {**trial.unplanned, **reasons})


def _refuse_silence(side: Side, evidence: CellEvidence) -> None:
    """Raise `HostError` if every repeat of a side tells of the host alone."""
    if evidence.outcomes and all(each.status in _OF_THE_HOST for each in evidence.outcomes.values()):
        raise HostError(f"{side.label}: {evidence.failure}")


def _alone(trial: JointTrial, sides: Mapping[str, SideEvidence]) -> Iterator[tuple[str, str]]:
    """Yield the sides that cannot be compared with any other, with their reasons."""
    metric = metric_of(trial.gate)
    for text, side in sides.items():
        evidence = side.last.evidence
        zeros = sum(value == 0 for value in _values(trial, evidence))
        if not evidence.telling or 2 * evidence.failed > len(evidence.telling):
            yield text, evidence.failure or "no outcome was recorded"
        elif zeros:
            yield text, f"{metric.title} is 0 in {zeros} of {trial.blocks} blocks"
        elif not any(_values(trial, evidence)):
            yield text, f"{metric.name} was not measured"


def _compare_with_reference(
    trial: JointTrial, sides: Mapping[str, SideEvidence], reasons: dict[str, str], faults: Sequence[KnownFault]
) -> None:
    """Add the reason of every side that the judge does not compare with the reference."""
    rules = Rules(gates=(trial.gate,), looks=(trial.blocks,), confirm=False)
    judge, levels = Judge(rules, faults=tuple(faults)), rules.levels(0, len(sides))
    tested = [text for text in sides if text not in reasons]
    while len(tested) > 1:
        reference, *others = tested
        judged = {text: judge.look(sides[reference], sides[text], levels) for text in others}
        blamed = next((each.reason for each in judged.values() if each.verdict in _OF_THE_REFERENCE), None)
        if blamed is None:
            reasons |= {text: reason for text in others if (reason := _reason(trial, judged[text]))}
            return
        reasons[reference] = blamed
        tested = others


def _reason(trial: JointTrial, findings: PairFindings) -> str:
    """Return the reason that the figures of a pair say nothing, or an empty text."""
    if findings.verdict is not None:
        return findings.reason
    judged = findings.metrics.get(trial.gate.metric)
    if judged is None:
        return f"{trial.gate.metric} was not measured on both sides"
    return judged.reason if judged.verdict in {Verdict.NOT_COMPARABLE, Verdict.NOT_MEASURED} else ""


def _values(trial: JointTrial, evidence: CellEvidence) -> tuple[float | None, ...]:
    """Return the value of each block."""
    take = metric_of(trial.gate).take
    repeats = evidence.measurements
    return tuple(take(repeats[block]) if take and block in repeats else None for block in range(trial.blocks))
