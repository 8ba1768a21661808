"""The comparison of stored runs: two releases of one run, two runs, or several runs of each side."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from orchestrator.analysis.looks import ALPHA
from orchestrator.analysis.verdicts import Verdict
from orchestrator.catalog import KnownFault
from orchestrator.domain import Cell, Plan, Skip
from orchestrator.errors import InputError
from orchestrator.regression.judge.comparable import Placed
from orchestrator.regression.judge.findings import PairFindings
from orchestrator.regression.judge.judge import Judge
from orchestrator.regression.judge.side_evidence import SideEvidence, moved_between, several_runs
from orchestrator.regression.metrics import METRICS, Gate
from orchestrator.regression.model import Design, JudgedPair, Regression, SideRecord
from orchestrator.regression.pairing import Unpaired
from orchestrator.regression.rules import LEAST_BLOCKS, Levels, Rules
from orchestrator.regression.stored_runs.operands import (
    Operand,
    WorkKey,
    cells_by_work,
    has_several,
    label,
    oldest_first,
    refuse_other_hosts,
)
from orchestrator.regression.trials.files import blocks_follow_sight
from orchestrator.results.plans import plan_from_json

COMPUTES_NOTHING = "computes nothing"
"""Reason that a pair is not judged."""


def compare_runs(
    baseline: Operand,
    candidate: Operand,
    gates: Sequence[Gate],
    faults: Iterable[KnownFault] = (),
    idle_builders: Collection[str] = (),
) -> Regression:
    """Compare two operands cell by cell. The result also lists cells that only one of them has.

    `idle_builders` compute nothing: their cells are shown and decide nothing, unless both operands name what is meant.

    Raises `InputError` where the runs are of different hosts or runtimes, or no two cells are of the same work: such
    figures say nothing about a release. What only some cells differ in makes those `not comparable`.
    """
    runs = {run.name: run for run in (*baseline.runs, *candidate.runs)}
    records = {name: run.record() for name, run in runs.items()}
    refuse_other_hosts(records)
    baseline, candidate = (oldest_first(operand, records) for operand in (baseline, candidate))
    plans = {name: plan_from_json(record.plan) for name, record in records.items()}
    named = any(has_several(operand, plans) for operand in (baseline, candidate))
    ones, others = (cells_by_work(operand, plans, named=named) for operand in (baseline, candidate))
    both = [key for key in ones if key in others]
    if not both:
        raise InputError(
            f"{baseline.text} and {candidate.text}: no cell of the one does the work of a cell of the other in the "
            f"same way; there is {_listed(ones)}, and {_listed(others)}"
        )
    named_both = not baseline.is_whole and not candidate.is_whole
    idle = frozenset() if named_both else _idle_cells(plans.values(), idle_builders)
    judged = sum(idle.isdisjoint(cell.id for _, cell in (*ones[key], *others[key])) for key in both)
    rules = Rules(tuple(gates), looks=(LEAST_BLOCKS,), confirm=False)
    family = rules.family(judged)
    levels = Levels(rules.alone(family), rules.alone(family * len(METRICS)), rules.alpha / max(1, judged))
    paired = baseline.runs == candidate.runs
    judge = Judge(rules, _design(baseline, candidate), paired, tuple(faults), notes_of_failing=False, shows_zeros=False)
    environments = {name: run.environments() for name, run in runs.items()}
    sides = [
        (several_runs(ones[key], baseline.runs, environments), several_runs(others[key], candidate.runs, environments))
        for key in both
    ]
    findings = [judge.look(*each, levels) for each in sides]
    gone = [_unpaired(key, ones[key], Verdict.GONE, candidate, plans) for key in ones if key not in others]
    new = [_unpaired(key, others[key], Verdict.NEW, baseline, plans) for key in others if key not in ones]
    if paired:
        gone += [_never_measured(each, Verdict.GONE) for each in dict.fromkeys(baseline.unpaired)]
        new += [_never_measured(each, Verdict.NEW) for each in dict.fromkeys(candidate.unpaired)]
    newest = records[candidate.runs[-1].name]
    return Regression(
        run=f"{baseline.text} {candidate.text}",
        created_at=newest.created_at,
        host=str(newest.host.get("hostname") or ""),
        runtime=newest.runtime,
        baseline=SideRecord(text=baseline.text, label=label(baseline, plans), python=_python(findings, 0)),
        candidate=SideRecord(text=candidate.text, label=label(candidate, plans), python=_python(findings, 1)),
        measurement_version=max(each.measurement_version for each in findings),
        alpha=ALPHA,
        family=family,
        looks=(),
        confirms=False,
        complete=True,
        design=judge.design,
        blocks_follow_sight=any(map(blocks_follow_sight, runs.values())),
        moved=tuple(dict.fromkeys(chain.from_iterable(moved_between(*each) for each in sides))),
        pairs=tuple(_shown_only(pair, idle) for pair in (*map(_pair, both, sides, findings), *gone, *new)),
    )


def _idle_cells(plans: Iterable[Plan], idle_builders: Collection[str]) -> frozenset[str]:
    """Return the ids of the cells that compute nothing."""
    cell_ids: set[str] = set()
    for plan in plans:
        images = {image.name for image in plan.images if image.environment.builder in idle_builders}
        cell_ids.update(cell.id for cell in plan.cells if cell.image in images)
    return frozenset(cell_ids)


def _shown_only(pair: JudgedPair, idle: Collection[str]) -> JudgedPair:
    """Keep the figures of a pair that computes nothing, without any verdict on them. Return others as they are."""
    if pair.baseline_cell not in idle and pair.candidate_cell not in idle:
        return pair
    if not pair.baseline_cell or not pair.candidate_cell:
        return pair.model_copy(update={"computes": False})
    nothing = {"verdict": Verdict.NOT_COMPARABLE, "reason": COMPUTES_NOTHING}
    metrics = tuple(each.model_copy(update={**nothing, "gates": False, "more_blocks": None}) for each in pair.metrics)
    notes = (*pair.notes, pair.reason) if pair.reason else pair.notes
    return pair.model_copy(update={**nothing, "computes": False, "notes": notes, "metrics": metrics})


def _pair(key: WorkKey, sides: tuple[SideEvidence, SideEvidence], findings: PairFindings) -> JudgedPair:
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
    """`cpu/lenet-train-b200`. With the release before it where a side has several, which hold the same work."""
    *_, release = key
    return cell.id if release else f"{cell.system.name}/{cell.id.partition('/')[2]}"


def _unpaired(
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


def _never_measured(each: Unpaired, verdict: Verdict) -> JudgedPair:
    return JudgedPair(id=each.id, verdict=verdict, reason=each.reason, **_named(each.cell_id, verdict))


def _named(cell_id: str, verdict: Verdict) -> dict[str, str]:
    return {"baseline_cell" if verdict is Verdict.GONE else "candidate_cell": cell_id}


def _is_on(skip: Skip, system: str) -> bool:
    return skip.cell_id.partition("/")[0].endswith(f"-{system}")


def _python(findings: Iterable[PairFindings], side: int) -> str:
    return " | ".join(dict.fromkeys(each.pythons[side] for each in findings if each.pythons[side]))


def _design(baseline: Operand, candidate: Operand) -> Design:
    if len(baseline.runs) == len(candidate.runs) == 1:
        return Design.BLOCKS if baseline.runs == candidate.runs else Design.RUNS
    return Design.NIGHTS


def _listed(by_key: Mapping[WorkKey, Sequence[Placed]]) -> str:
    ids = [placed[0][1].id for placed in by_key.values()]
    return ", ".join(ids[:3]) + (" …" if len(ids) > 3 else "")
