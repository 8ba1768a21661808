"""Stored runs held against each other: two releases of one run, two runs, or several nights of each side."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from orchestrator.analysis.looks import ALPHA
from orchestrator.analysis.verdicts import Verdict
from orchestrator.catalog import KnownFault
from orchestrator.domain import Cell, Duration, Options, Plan, Skip, Workload
from orchestrator.errors import InputError
from orchestrator.regression.judge.comparable import HOST, Placed
from orchestrator.regression.judge.findings import PairFindings
from orchestrator.regression.judge.judge import Judge
from orchestrator.regression.judge.side_evidence import SideEvidence, moved_between, several_runs
from orchestrator.regression.metrics import METRICS, Gate
from orchestrator.regression.model import Design, JudgedPair, Regression, SideRecord
from orchestrator.regression.pairing import Unpaired
from orchestrator.regression.rules import LEAST_BLOCKS, Levels, Rules
from orchestrator.regression.sides import Side, side_of
from orchestrator.regression.trials.files import blocks_follow_sight
from orchestrator.results.contract import RunRecord
from orchestrator.results.plans import plan_from_json
from orchestrator.results.store import Run

_HOST = (("hostname", "host"), *HOST)
_Key = tuple[str, Workload, Options, Duration, str]
COMPUTES_NOTHING = "computes nothing"
"""Reason that a pair is not judged."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One side: the runs that it was measured in, one for each night, and which of their cells are meant."""

    text: str
    """As it was written."""
    runs: tuple[Run, ...]
    side: Side | None = None
    """None: every cell."""
    cell_ids: frozenset[str] | None = None
    """The cells of one side of regression tests; None: those of `side`."""
    unpaired: tuple[Unpaired, ...] = ()
    """What this side of regression tests alone can do, and was not measured for."""

    def has(self, cell: Cell) -> bool:
        """Whether a cell is meant."""
        if cell.script or (self.cell_ids is not None and cell.id not in self.cell_ids):
            return False
        return self.side is None or _is_of(cell, self.side)

    @property
    def is_whole(self) -> bool:
        """Whether it means all cells of its runs, and names no release and no side of a regression test."""
        return self.side is None and self.cell_ids is None


def _is_of(cell: Cell, side: Side) -> bool:
    framework, backend = cell.framework, cell.framework.backend
    return (
        (framework.name, framework.version) == (side.name, side.version)
        and (side.backend is None or (backend is not None and (backend.name, backend.version) == side.backend))
        and set(side.packages) <= set(framework.packages)
    )


def compare_runs(
    baseline: Operand,
    candidate: Operand,
    gates: Sequence[Gate],
    faults: Iterable[KnownFault] = (),
    idle_builders: Collection[str] = (),
) -> Regression:
    """Hold two operands against each other, cell by cell; what only one of them has stands in it too.

    `idle_builders` compute nothing: their cells are shown and decide nothing, unless both operands name what is meant.

    Raises `InputError` where the runs are of different hosts or runtimes, or no two cells are of the same work: such
    figures say nothing about a release. What only some cells differ in makes those `not comparable`.
    """
    runs = {run.name: run for run in (*baseline.runs, *candidate.runs)}
    records = {name: run.record() for name, run in runs.items()}
    _refuse_other_hosts(records)
    baseline, candidate = (_oldest_first(operand, records) for operand in (baseline, candidate))
    plans = {name: plan_from_json(record.plan) for name, record in records.items()}
    named = any(_has_several(operand, plans) for operand in (baseline, candidate))
    ones, others = (_nights(operand, plans, named=named) for operand in (baseline, candidate))
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
    found = [judge.look(*each, levels) for each in sides]
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
        baseline=SideRecord(text=baseline.text, label=_label(baseline, plans), python=_python(found, 0)),
        candidate=SideRecord(text=candidate.text, label=_label(candidate, plans), python=_python(found, 1)),
        measurement_version=max(each.measurement_version for each in found),
        alpha=ALPHA,
        family=family,
        looks=(),
        confirms=False,
        complete=True,
        design=judge.design,
        blocks_follow_sight=any(map(blocks_follow_sight, runs.values())),
        moved=tuple(dict.fromkeys(chain.from_iterable(moved_between(*each) for each in sides))),
        pairs=tuple(_shown_only(pair, idle) for pair in (*map(_pair, both, sides, found), *gone, *new)),
    )


def _idle_cells(plans: Iterable[Plan], idle_builders: Collection[str]) -> frozenset[str]:
    """Return the ids of the cells that compute nothing."""
    found: set[str] = set()
    for plan in plans:
        images = {image.name for image in plan.images if image.environment.builder in idle_builders}
        found.update(cell.id for cell in plan.cells if cell.image in images)
    return frozenset(found)


def _shown_only(pair: JudgedPair, idle: Collection[str]) -> JudgedPair:
    """Keep the figures of a pair that computes nothing, without any verdict on them; return others as they are."""
    if pair.baseline_cell not in idle and pair.candidate_cell not in idle:
        return pair
    if not pair.baseline_cell or not pair.candidate_cell:
        return pair.model_copy(update={"computes": False})
    nothing = {"verdict": Verdict.NOT_COMPARABLE, "reason": COMPUTES_NOTHING}
    metrics = tuple(each.model_copy(update={**nothing, "gates": False, "more_blocks": None}) for each in pair.metrics)
    notes = (*pair.notes, pair.reason) if pair.reason else pair.notes
    return pair.model_copy(update={**nothing, "computes": False, "notes": notes, "metrics": metrics})


def _pair(key: _Key, sides: tuple[SideEvidence, SideEvidence], found: PairFindings) -> JudgedPair:
    one, other = (side.runs[-1].cell for side in sides)
    return JudgedPair(
        id=_pair_id(key, one),
        baseline_cell=one.id,
        candidate_cell=other.id,
        model=one.workload.model,
        verdict=found.overall,
        reason=found.because,
        notes=found.notes,
        metrics=tuple(found.metrics.values()),
    )


def _pair_id(key: _Key, cell: Cell) -> str:
    """`cpu/lenet-train-b200`; with the release before it where a side has several, which hold the same work."""
    *_, release = key
    return cell.id if release else f"{cell.system.name}/{cell.id.partition('/')[2]}"


def _unpaired(
    key: _Key, nights: Sequence[Placed], verdict: Verdict, other: Operand, plans: Mapping[str, Plan]
) -> JudgedPair:
    """A cell that only one side has, with what the other's plans say of it."""
    cell = nights[-1][1]
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


def _python(found: Iterable[PairFindings], side: int) -> str:
    return " | ".join(dict.fromkeys(each.pythons[side] for each in found if each.pythons[side]))


def _oldest_first(operand: Operand, records: Mapping[str, RunRecord]) -> Operand:
    """By when they were measured, in whatever order they were named."""
    return replace(operand, runs=tuple(sorted(operand.runs, key=lambda run: (records[run.name].created_at, run.name))))


def _design(baseline: Operand, candidate: Operand) -> Design:
    if len(baseline.runs) == len(candidate.runs) == 1:
        return Design.BLOCKS if baseline.runs == candidate.runs else Design.RUNS
    return Design.NIGHTS


def _refuse_other_hosts(records: Mapping[str, RunRecord]) -> None:
    (first, one), *rest = records.items()
    for name, other in rest:
        for fact, title in _HOST:
            if one.host.get(fact) != other.host.get(fact):
                raise InputError(
                    f"{first} and {name} cannot be compared: {title} {one.host.get(fact)} against "
                    f"{other.host.get(fact)}; compare runs of one host, or lay them side by side: orchestrator report "
                    f"{first} {name}"
                )
        if one.runtime != other.runtime:
            raise InputError(f"{first} and {name} cannot be compared: runtime {one.runtime} against {other.runtime}")


def _has_several(operand: Operand, plans: Mapping[str, Plan]) -> bool:
    """Whether it means several releases, or a whole run that has one with several versions of a package."""
    meant = [[cell.framework for cell in plans[run.name].cells if operand.has(cell)] for run in operand.runs]
    if len({framework.label for frameworks in meant for framework in frameworks}) > 1:
        return True
    return operand.is_whole and any(len({framework.packages for framework in frameworks}) > 1 for frameworks in meant)


def _nights(operand: Operand, plans: Mapping[str, Plan], *, named: bool) -> dict[_Key, list[Placed]]:
    """The cells of an operand by the work that they do, each with its nights; with the release where there are more."""
    found: dict[_Key, list[Placed]] = {}
    for run in operand.runs:
        taken: dict[_Key, str] = {}
        for cell in plans[run.name].cells:
            if not operand.has(cell):
                continue
            release = cell.id.partition("/")[0] if named else ""
            key = (cell.system.name, cell.workload, cell.options, cell.duration, release)
            other = taken.setdefault(key, cell.id)
            if other != cell.id:
                raise InputError(
                    f"{operand.text}: {other} and {cell.id} of {run.name} are both meant; say which, as in "
                    f"{run.name}:baseline where it is a regression test, or {run.name}:{side_of(cell.framework).text}"
                )
            found.setdefault(key, []).append((run, cell))
    if not found:
        every = (cell.framework for run in operand.runs for cell in plans[run.name].cells if not cell.script)
        there = dict.fromkeys(side_of(framework).label for framework in every)
        raise InputError(f"{operand.text}: no such cells in the plan; there is {', '.join(there)}")
    return found


def _label(operand: Operand, plans: Mapping[str, Plan]) -> str:
    meant = (cell.framework for run in operand.runs for cell in plans[run.name].cells if operand.has(cell))
    releases = " and ".join(sorted({side_of(framework).label for framework in meant}))
    return f"{releases}, {len(operand.runs)} nights" if operand.side and len(operand.runs) > 1 else releases


def _listed(found: Mapping[_Key, Sequence[Placed]]) -> str:
    ids = [nights[0][1].id for nights in found.values()]
    return ", ".join(ids[:3]) + (" …" if len(ids) > 3 else "")
