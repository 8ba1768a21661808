"""The comparison of stored runs, which are two releases of one run, two runs, or several runs of each side."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise

from orchestrator.analysis.comparison import Verdict
from orchestrator.catalog import COMPUTES_NOTHING, KnownFault
from orchestrator.domain import Cell, Plan, Skip
from orchestrator.errors import InputError
from orchestrator.regression.judge.comparable import HOST, Placed, host_fact
from orchestrator.regression.judge.evidence import SideEvidence, moved_between, several_runs
from orchestrator.regression.judge.findings import PairFindings
from orchestrator.regression.judge.judge import Judge
from orchestrator.regression.model import Design, JudgedPair, Regression, SideRecord
from orchestrator.regression.rules import LEAST_BLOCKS, Gate, Levels, Rules, most_of_a_mode
from orchestrator.regression.stored_runs.on_nodes import on_one_node
from orchestrator.regression.stored_runs.operands import (
    Operand,
    WorkKey,
    cells_by_work,
    has_several,
    label,
    oldest_first,
    refuse_smoke_runs,
)
from orchestrator.regression.trials.files import blocks_follow_sight
from orchestrator.results.records import RunRecord
from orchestrator.results.store import PartRun
from orchestrator.user_files import stand_in_warnings
from orchestrator.wording import listing

_HOST = (("hostname", "host"), *HOST)


def compare_runs(
    baseline: Operand,
    candidate: Operand,
    gates: Sequence[Gate],
    faults: Iterable[KnownFault] = (),
    idle_builders: Collection[str] = (),
) -> Regression:
    """Compare two operands cell by cell. The result also lists cells that only one of them has.

    `idle_builders` compute nothing: their cells are shown and decide nothing, unless both operands name what is meant.
    Of runs on a cluster, those of parts are given, and each pair of cells is compared that one node has measured.

    Raises `InputError` where the runs are of different hosts or runtimes, or no two cells are of the same work: such
    figures say nothing about a release. What only some cells differ in makes those `not comparable`.
    """
    runs = {run.name: run for run in (*baseline.runs, *candidate.runs)}
    records = {name: run.record() for name, run in runs.items()}
    by_node = any(isinstance(run, PartRun) for run in runs.values())
    unknown = () if by_node else _refuse_other_hosts(records)
    baseline, candidate = (oldest_first(operand, records) for operand in (baseline, candidate))
    plans = {name: run.plan() for name, run in runs.items()}
    refuse_smoke_runs(plans)
    work, paired = _matched(baseline, candidate, plans), baseline.runs == candidate.runs
    if by_node:
        both, apart = on_one_node(work.both, records, _refuse_other_hosts, same=paired)
        work = replace(work, both=both, apart=apart)
    idle = _idle_cells(baseline, candidate, plans.values(), idle_builders)
    judged = _judged(work, idle)
    rules = Rules(tuple(gates), looks=(LEAST_BLOCKS,), confirm=False)
    design = _design(baseline, candidate, by_node=by_node)
    judge = Judge(rules, design, paired, tuple(faults), notes_of_failing=False, shows_zeros=False)
    sides = list(_sides(work, (baseline, candidate), plans, by_node=by_node))
    levels = _levels(rules, judged)
    findings = [
        PairFindings(0, Verdict.NOT_COMPARABLE, work.apart[key])
        if key in work.apart
        else _noted(judge.look(*each, levels), unknown)
        for key, each in zip(work.both, sides, strict=True)
    ]
    pairs = (*map(_judged_pair, work.both, sides, findings), *_without_counterpart(work, baseline, candidate, plans))
    newest = records[candidate.runs[-1].name]
    return Regression(
        run=f"{baseline.text} {candidate.text}",
        created_at=newest.created_at,
        host=_hosts(records.values() if by_node else [newest]),
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
        warnings=tuple(dict.fromkeys(_stand_ins(work, plans))),
        pairs=tuple(_shown_only(pair, idle) for pair in pairs),
    )


def _judged(work: "_Work", idle: frozenset[str]) -> int:
    """Return the number of pairs that are judged, which share the risk of error."""
    return sum(
        idle.isdisjoint(cell.id for _, cell in (*ones, *others))
        for key, (ones, others) in work.both.items()
        if key not in work.apart
    )


def _sides(
    work: "_Work", operands: tuple[Operand, Operand], plans: Mapping[str, Plan], *, by_node: bool
) -> Iterator[tuple[SideEvidence, SideEvidence]]:
    """Yield the evidence of each pair. Where a run has some of the cells only, no other run lacks them."""
    runs = {run.name: run for operand in operands for run in operand.runs}
    environments = {name: run.environments() for name, run in runs.items()}
    expected = ((), ()) if by_node else (operands[0].runs, operands[1].runs)
    for ones, others in work.both.values():
        yield (
            several_runs(ones, expected[0], environments, plans),
            several_runs(others, expected[1], environments, plans),
        )


def _hosts(records: Iterable[RunRecord]) -> str:
    return listing(list(dict.fromkeys(str(record.host.get("hostname") or "") for record in records)))


@dataclass(frozen=True, slots=True)
class _Work:
    """The cells of two operands by their work, each with the runs that measured it."""

    both: Mapping[WorkKey, tuple[Sequence[Placed], Sequence[Placed]]]
    baseline_only: Mapping[WorkKey, Sequence[Placed]]
    candidate_only: Mapping[WorkKey, Sequence[Placed]]
    apart: Mapping[WorkKey, str] = field(default_factory=dict)
    """The reasons for what no one node has measured of both sides."""


def _matched(baseline: Operand, candidate: Operand, plans: Mapping[str, Plan]) -> _Work:
    named = any(has_several(operand, plans) for operand in (baseline, candidate))
    ones, others = (cells_by_work(operand, plans, named=named) for operand in (baseline, candidate))
    both = {key: (placed, others[key]) for key, placed in ones.items() if key in others}
    if not both:
        raise InputError(
            f"{baseline.text} and {candidate.text}: no cell of the one does the work of a cell of the other in the "
            f"same way; there is {_listed(ones)}, and {_listed(others)}"
        )
    first, second = ({key: placed for key, placed in side.items() if key not in both} for side in (ones, others))
    return _Work(both, first, second)


def _stand_ins(work: _Work, plans: Mapping[str, Plan]) -> Iterator[str]:
    """Yield a warning for each dataset of the compared cells whose files were a stand-in in any of their runs."""
    for run, cell in chain.from_iterable(chain(*both) for both in work.both.values()):
        yield from stand_in_warnings(data for data in plans[run.name].data if data.name == cell.workload.dataset)


def _levels(rules: Rules, judged: int) -> Levels:
    """Return the levels at so many judged pairs. A regression test has others for metrics that only inform."""
    family = rules.family(judged)
    return Levels(
        rules.alone(family), rules.alone(family * most_of_a_mode(lambda _metric: True)), rules.alpha / max(1, judged)
    )


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
        yield from (_unpaired_cell(key, placed, verdict, other, plans) for key, placed in cells.items())
        if same_runs:
            unpaired = dict.fromkeys(own.unpaired)
            yield from (JudgedPair.of_one_side(verdict, each.id, each.cell_id, each.reason) for each in unpaired)


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


def _design(baseline: Operand, candidate: Operand, *, by_node: bool) -> Design:
    if by_node:
        return Design.BLOCKS if baseline.runs == candidate.runs else Design.RUNS
    if len(baseline.runs) == len(candidate.runs) == 1:
        return Design.BLOCKS if baseline.runs == candidate.runs else Design.RUNS
    return Design.SEVERAL_RUNS


def _listed(by_key: Mapping[WorkKey, Sequence[Placed]]) -> str:
    ids = [placed[0][1].id for placed in by_key.values()]
    return ", ".join(ids[:3]) + (" …" if len(ids) > 3 else "")


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


def _judged_pair(key: WorkKey, sides: tuple[SideEvidence, SideEvidence], findings: PairFindings) -> JudgedPair:
    """Return the pair of two cells, with the findings on it."""
    one, other = (side.runs[-1].cell for side in sides)
    return findings.judged_pair(_pair_id(key, one), one, other)


def _pair_id(key: WorkKey, cell: Cell) -> str:
    """Return an id such as `cpu/lenet-train-b200`, with the release before it if a side has several."""
    *_, release = key
    return cell.id if release else f"{cell.system.name}/{cell.id.partition('/')[2]}"


def _unpaired_cell(
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
    return JudgedPair.of_one_side(verdict, _pair_id(key, cell), cell.id, reason, cell.workload.model)


def _is_on(skip: Skip, system: str) -> bool:
    return skip.cell_id.partition("/")[0].endswith(f"-{system}")


def _refuse_other_hosts(records: Mapping[str, RunRecord]) -> tuple[str, ...]:
    """Return a note for every fact that some of the hosts do not report, which is no difference.

    Raises `InputError` if runs are of different hosts or runtimes.
    """
    for fact, title in _HOST:
        told = {name: host_fact(record.host, fact) for name, record in records.items()}
        known = {name: value for name, value in told.items() if value is not None}
        for (first, one), (name, other) in pairwise(known.items()):
            if one != other:
                raise InputError(
                    f"{first} and {name} cannot be compared: {title} {one} against {other}; compare runs of one host, "
                    f"or lay them side by side: orchestrator report {first} {name}"
                )
    (first, one), *rest = records.items()
    for name, record in rest:
        if one.runtime != record.runtime:
            raise InputError(f"{first} and {name} cannot be compared: runtime {one.runtime} against {record.runtime}")
    return tuple(_unknown_facts(records))


def _unknown_facts(records: Mapping[str, RunRecord]) -> Iterator[str]:
    for fact, title in _HOST:
        unknown = [name for name, record in records.items() if record.host.get(fact) is None]
        if unknown and len(unknown) < len(records):
            yield f"{listing(unknown)} does not report its {title}: it may be another one"
