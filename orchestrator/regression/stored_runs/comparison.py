"""The comparison of stored runs, which are two releases of one run, two runs, or several runs of each side."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from orchestrator.analysis.verdicts import Verdict
from orchestrator.catalog import KnownFault
from orchestrator.domain import Cell, Plan
from orchestrator.errors import InputError
from orchestrator.modes import METRICS
from orchestrator.regression.judge.comparable import Placed
from orchestrator.regression.judge.findings import PairFindings
from orchestrator.regression.judge.judge import Judge
from orchestrator.regression.judge.side_evidence import moved_between, several_runs
from orchestrator.regression.metrics import Gate
from orchestrator.regression.model import Design, JudgedPair, Regression, SideRecord
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
from orchestrator.regression.stored_runs.pairs import judged_pair, never_measured, shown_only, unpaired_cell
from orchestrator.regression.trials.files import blocks_follow_sight


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
    unknown = refuse_other_hosts(records)
    baseline, candidate = (oldest_first(operand, records) for operand in (baseline, candidate))
    plans = {name: run.plan() for name, run in runs.items()}
    work = _matched(baseline, candidate, plans)
    idle = _idle_cells(baseline, candidate, plans.values(), idle_builders)
    judged = sum(idle.isdisjoint(cell.id for _, cell in (*ones, *others)) for ones, others in work.both.values())
    rules = Rules(tuple(gates), looks=(LEAST_BLOCKS,), confirm=False)
    paired = baseline.runs == candidate.runs
    judge = Judge(rules, _design(baseline, candidate), paired, tuple(faults), notes_of_failing=False, shows_zeros=False)
    environments = {name: run.environments() for name, run in runs.items()}
    sides = [
        (
            several_runs(ones, baseline.runs, environments, plans),
            several_runs(others, candidate.runs, environments, plans),
        )
        for ones, others in work.both.values()
    ]
    levels = _levels(rules, judged)
    findings = [_noted(judge.look(*each, levels), unknown) for each in sides]
    pairs = (*map(judged_pair, work.both, sides, findings), *_without_counterpart(work, baseline, candidate, plans))
    newest = records[candidate.runs[-1].name]
    return Regression(
        run=f"{baseline.text} {candidate.text}",
        created_at=newest.created_at,
        host=str(newest.host.get("hostname") or ""),
        runtime=newest.runtime,
        baseline=SideRecord(text=baseline.text, label=label(baseline, plans), python=_python(findings, 0)),
        candidate=SideRecord(text=candidate.text, label=label(candidate, plans), python=_python(findings, 1)),
        measurement_version=max(each.measurement_version for each in findings),
        alpha=rules.alpha,
        family=rules.family(judged),
        looks=(),
        confirms=False,
        complete=True,
        design=judge.design,
        blocks_follow_sight=any(map(blocks_follow_sight, runs.values())),
        moved=tuple(dict.fromkeys(chain.from_iterable(moved_between(*each) for each in sides))),
        pairs=tuple(shown_only(pair, idle) for pair in pairs),
    )


@dataclass(frozen=True, slots=True)
class _Work:
    """The cells of two operands by their work, each with the runs that measured it."""

    both: Mapping[WorkKey, tuple[Sequence[Placed], Sequence[Placed]]]
    baseline_only: Mapping[WorkKey, Sequence[Placed]]
    candidate_only: Mapping[WorkKey, Sequence[Placed]]


def _matched(baseline: Operand, candidate: Operand, plans: Mapping[str, Plan]) -> _Work:
    named = any(has_several(operand, plans) for operand in (baseline, candidate))
    ones, others = (cells_by_work(operand, plans, named=named) for operand in (baseline, candidate))
    both = {key: (placed, others[key]) for key, placed in ones.items() if key in others}
    if not both:
        raise InputError(
            f"{baseline.text} and {candidate.text}: no cell of the one does the work of a cell of the other in the "
            f"same way; there is {_listed(ones)}, and {_listed(others)}"
        )
    rest = ({key: placed for key, placed in side.items() if key not in both} for side in (ones, others))
    return _Work(both, *rest)


def _levels(rules: Rules, judged: int) -> Levels:
    """Return the levels at so many judged pairs. A regression test has others for metrics that only inform."""
    family = rules.family(judged)
    return Levels(rules.alone(family), rules.alone(family * len(METRICS)), rules.alpha / max(1, judged))


def _noted(findings: PairFindings, notes: Iterable[str]) -> PairFindings:
    return replace(findings, notes=(*notes, *findings.notes))


def _without_counterpart(
    work: _Work, baseline: Operand, candidate: Operand, plans: Mapping[str, Plan]
) -> Iterator[JudgedPair]:
    """Yield the pairs of cells that only one side has, first those of the baseline."""
    same_runs = baseline.runs == candidate.runs
    for cells, verdict, own, other in (
        (work.baseline_only, Verdict.GONE, baseline, candidate),
        (work.candidate_only, Verdict.NEW, candidate, baseline),
    ):
        yield from (unpaired_cell(key, placed, verdict, other, plans) for key, placed in cells.items())
        if same_runs:
            yield from (never_measured(each, verdict) for each in dict.fromkeys(own.unpaired))


def _idle_cells(
    baseline: Operand, candidate: Operand, plans: Iterable[Plan], idle_builders: Collection[str]
) -> frozenset[str]:
    """Return the ids of the cells that compute nothing, unless both operands name what is meant."""
    if not baseline.is_whole and not candidate.is_whole:
        return frozenset()
    return frozenset(cell.id for plan in plans for cell in _idle_of(plan, idle_builders))


def _idle_of(plan: Plan, idle_builders: Collection[str]) -> list[Cell]:
    images = {image.name for image in plan.images if image.environment.builder in idle_builders}
    return [cell for cell in plan.cells if cell.image in images]


def _python(findings: Iterable[PairFindings], side: int) -> str:
    return " | ".join(dict.fromkeys(each.pythons[side] for each in findings if each.pythons[side]))


def _design(baseline: Operand, candidate: Operand) -> Design:
    if len(baseline.runs) == len(candidate.runs) == 1:
        return Design.BLOCKS if baseline.runs == candidate.runs else Design.RUNS
    return Design.SEVERAL_RUNS


def _listed(by_key: Mapping[WorkKey, Sequence[Placed]]) -> str:
    ids = [placed[0][1].id for placed in by_key.values()]
    return ", ".join(ids[:3]) + (" …" if len(ids) > 3 else "")
