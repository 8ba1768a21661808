"""The result of the run that answers one question of a search."""

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.analysis.verdicts import Verdict
from orchestrator.domain import Status
from orchestrator.errors import HostError
from orchestrator.regression.judge.evidence import cell_evidence
from orchestrator.regression.judge.metric_rule import Values
from orchestrator.regression.rules import LEAST_BLOCKS
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.carry_out import MeasuredTrial
from orchestrator.regression.trials.files import stored_trial
from orchestrator.results.store import Run

_OF_THE_HOST = frozenset({Status.NO_DEVICE, Status.NOT_RUN})
"""They tell nothing of a release: the search stops there, and asks again when it is taken up."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of the run of a comparison."""

    run: str = ""
    values: Values = ()
    reason: str = ""
    """The reason there are no values."""
    culprit: str = ""
    """`Side.text` of the side that the reason speaks of; empty where that cannot be told from this run alone."""


def probe_result(measured: MeasuredTrial, blocks: int) -> ProbeResult:
    """Return the result of a trial with one pair. Raises `HostError` if this host kept it from being measured."""
    run, trial = measured.run, measured.trial
    (pair,), (gate,) = trial.pairs, trial.rules.gates
    judged_pair = next(each for each in measured.regression.pairs if each.id == pair.id)
    judged = next((each for each in judged_pair.metrics if each.metric == gate.metric), None)
    # Where a side is 0 in some blocks, there are fewer values, and no ratio of the others says what changed.
    whole = judged is not None and len(judged.values) == judged.blocks >= LEAST_BLOCKS
    if judged is not None and whole and judged.verdict is not Verdict.NOT_COMPARABLE:
        return ProbeResult(run.name, judged.values)
    cells = {cell.id: cell for cell in measured.plan.cells}
    for side, cell_id in ((trial.baseline, pair.baseline), (trial.candidate, pair.candidate)):
        evidence = cell_evidence(run, cells[cell_id], range(blocks))
        if evidence.outcomes and all(each.status in _OF_THE_HOST for each in evidence.outcomes.values()):
            raise HostError(f"{side.label}: {evidence.failure}")
        if not evidence.telling or not evidence.runs:
            return ProbeResult(run.name, reason=evidence.failure or "no outcome was recorded", culprit=side.text)
    said = judged.reason if judged else judged_pair.reason
    fails_more = {Verdict.BROKE: trial.candidate.text, Verdict.FIXED: trial.baseline.text}
    culprit = fails_more.get(judged_pair.verdict, "")
    return ProbeResult(run.name, reason=said or f"{gate.metric} was not measured on both sides", culprit=culprit)


def packages(run: Run, side: Side) -> Mapping[str, str]:
    """Return the packages of a side's environment, as its run recorded it. None for an image of the user's own."""
    trial = stored_trial(run)
    (pair,) = trial.pairs
    wanted = pair.baseline if trial.baseline.text == side.text else pair.candidate
    cell = next(cell for cell in run.plan().cells if cell.id == wanted)
    if cell.framework.image or cell.framework.dockerfile:
        return {}
    made = {record.image: record for record in run.environments().environments}
    return made[cell.image].versions if cell.image in made else {}
