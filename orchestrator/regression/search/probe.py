"""The result of the run that answers one question of a search."""

from dataclasses import dataclass

from orchestrator.analysis.comparison import Verdict
from orchestrator.domain import Status
from orchestrator.errors import HostError
from orchestrator.regression.judge.evidence import cell_evidence
from orchestrator.regression.rules import LEAST_BLOCKS, Values
from orchestrator.regression.trials.carry_out import MeasuredTrial

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
