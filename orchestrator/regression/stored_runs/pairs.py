"""The pairs of a comparison, with findings or without a counterpart."""

from collections.abc import Collection, Mapping, Sequence

from orchestrator.analysis.verdicts import Verdict
from orchestrator.domain import Cell, Plan, Skip
from orchestrator.regression.judge.comparable import Placed
from orchestrator.regression.judge.findings import PairFindings
from orchestrator.regression.judge.side_evidence import SideEvidence
from orchestrator.regression.model import JudgedPair
from orchestrator.regression.pairing import Unpaired
from orchestrator.regression.stored_runs.operands import Operand, WorkKey

COMPUTES_NOTHING = "computes nothing"
"""Reason that a pair is not judged."""


def shown_only(pair: JudgedPair, idle: Collection[str]) -> JudgedPair:
    """Keep the figures of a pair that computes nothing, without any verdict on them. Return others as they are."""
    if pair.baseline_cell not in idle and pair.candidate_cell not in idle:
        return pair
    if not pair.baseline_cell or not pair.candidate_cell:
        return pair.model_copy(update={"computes": False})
    nothing = {"verdict": Verdict.NOT_COMPARABLE, "reason": COMPUTES_NOTHING}
    metrics = tuple(each.model_copy(update={**nothing, "gates": False, "more_blocks": None}) for each in pair.metrics)
    notes = (*pair.notes, pair.reason) if pair.reason else pair.notes
    return pair.model_copy(update={**nothing, "computes": False, "notes": notes, "metrics": metrics})


def judged_pair(key: WorkKey, sides: tuple[SideEvidence, SideEvidence], findings: PairFindings) -> JudgedPair:
    """Return the pair of two cells, with the findings on it."""
    one, other = (side.runs[-1].cell for side in sides)
    return JudgedPair(
        id=_pair_id(key, one),
        baseline_cell=one.id,
        candidate_cell=other.id,
        model=one.workload.model,
        verdict=findings.overall,
        reason=findings.because,
        notes=findings.notes,
        metrics=tuple(findings.metrics.values()),
    )


def _pair_id(key: WorkKey, cell: Cell) -> str:
    """Return an id such as `cpu/lenet-train-b200`, with the release before it if a side has several."""
    *_, release = key
    return cell.id if release else f"{cell.system.name}/{cell.id.partition('/')[2]}"


def unpaired_cell(
    key: WorkKey, placed: Sequence[Placed], verdict: Verdict, other: Operand, plans: Mapping[str, Plan]
) -> JudgedPair:
    """Return the pair of a cell that only one side has, with the reason in the other's plans."""
    cell = placed[-1][1]
    tail = cell.id.partition("/")[2]
    skipped = (
        skip.reason
        for run in other.runs
        for skip in plans[run.name].skips
        if skip.cell_id == cell.id
        or (not key[-1] and skip.cell_id.partition("/")[2] == tail and _is_on(skip, cell.system.name))
    )
    reason = next(skipped, f"it is not in the plan of {other.text}")
    return JudgedPair(
        id=_pair_id(key, cell), model=cell.workload.model, verdict=verdict, reason=reason, **_named(cell.id, verdict)
    )


def never_measured(each: Unpaired, verdict: Verdict) -> JudgedPair:
    """Return the pair of a cell that a regression test could plan on one side alone."""
    return JudgedPair(id=each.id, verdict=verdict, reason=each.reason, **_named(each.cell_id, verdict))


def _named(cell_id: str, verdict: Verdict) -> dict[str, str]:
    return {"baseline_cell" if verdict is Verdict.GONE else "candidate_cell": cell_id}


def _is_on(skip: Skip, system: str) -> bool:
    return skip.cell_id.partition("/")[0].endswith(f"-{system}")
