"""Stored runs held against each other: two releases of one run, two runs, or several nights of each side."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from orchestrator.analysis.looks import ALPHA, looks
from orchestrator.catalog import KnownFault
from orchestrator.domain import Cell, Duration, Options, Outcome, Workload
from orchestrator.errors import InputError
from orchestrator.regression import comparable
from orchestrator.regression.evidence import CellEvidence, cell_evidence, standing, values
from orchestrator.regression.judging import Held
from orchestrator.regression.metrics import METRICS, Gate, Metric, tolerance
from orchestrator.regression.model import Design, Judged, JudgedPair, Nights, Regression, SideRecord, Verdict
from orchestrator.regression.sides import Side
from orchestrator.regression.verdicts import Found, weakened
from orchestrator.results.contract import RunRecord
from orchestrator.results.plans import plan_from_json
from orchestrator.results.store import Run

_HOST = (("hostname", "host"), ("machine", "machine"), ("cpu", "CPU"), ("cpus", "CPUs"), ("gpus", "GPUs"))
_Key = tuple[str, Workload, Options, Duration, str]


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

    def has(self, cell: Cell) -> bool:
        """Whether a cell is meant."""
        if cell.script or (self.cell_ids is not None and cell.id not in self.cell_ids):
            return False
        return self.side is None or _is_of(cell, self.side)


def _is_of(cell: Cell, side: Side) -> bool:
    framework, backend = cell.framework, cell.framework.backend
    return (
        (framework.name, framework.version) == (side.name, side.version)
        and (side.backend is None or (backend is not None and (backend.name, backend.version) == side.backend))
        and set(side.packages) <= set(framework.packages)
    )


_Night = tuple[Run, Cell]


def across(
    baseline: Operand, candidate: Operand, gates: Sequence[Gate], faults: Iterable[KnownFault] = ()
) -> Regression:
    """Hold two operands against each other, cell by cell.

    Raises `InputError` where the runs are of different hosts or runtimes, or no two cells are of the same work: such
    figures say nothing about a release. What only some cells differ in makes those `not comparable`.
    """
    records = {run.name: run.record() for run in (*baseline.runs, *candidate.runs)}
    _refuse_other_hosts(records)
    plans = {name: plan_from_json(record.plan).cells for name, record in records.items()}
    named = len(_releases(baseline, plans)) > 1 or len(_releases(candidate, plans)) > 1
    ones, others = (_nights(operand, plans, named=named) for operand in (baseline, candidate))
    both = [key for key in ones if key in others]
    if not both:
        raise InputError(
            f"{baseline.text} and {candidate.text}: no cell of the one does the work of a cell of the other in the "
            f"same way; there is {_listed(ones)}, and {_listed(others)}"
        )
    design = _design(baseline, candidate)
    family = max(1, len(both) * sum(metric.take is not None and _gates(gates, metric) for metric in METRICS))
    judge = _Across(design, tuple(gates), family, tuple(faults))
    first = records[candidate.runs[-1].name]
    return Regression(
        run=f"{baseline.text} {candidate.text}",
        created_at=first.created_at,
        host=str(first.host.get("hostname") or ""),
        runtime=first.runtime,
        baseline=SideRecord(text=baseline.text, label=_label(baseline, plans)),
        candidate=SideRecord(text=candidate.text, label=_label(candidate, plans)),
        alpha=ALPHA,
        family=family,
        looks=(),
        confirms=False,
        complete=True,
        design=design,
        pairs=tuple(judge.pair(ones[key], others[key]) for key in both),
    )


@dataclass(frozen=True)
class _Across:
    design: Design
    gates: tuple[Gate, ...]
    family: int
    faults: tuple[KnownFault, ...]

    def pair(self, ones: Sequence[_Night], others: Sequence[_Night]) -> JudgedPair:
        """Judge one cell of each side, with all its nights."""
        one, other = ones[-1][1], others[-1][1]
        nights = [[cell_evidence(run, cell, range(cell.repeats)) for run, cell in side] for side in (ones, others)]
        found = self._found(nights[0], nights[1], (ones[-1], others[-1]))
        return JudgedPair(
            id=f"{one.system.name}/{one.id.partition('/')[2]}",
            baseline_cell=one.id,
            candidate_cell=other.id,
            model=one.workload.model,
            verdict=found.overall,
            reason=found.reason,
            notes=found.notes,
            metrics=tuple(found.metrics.values()),
        )

    def _found(
        self, ones: Sequence[CellEvidence], others: Sequence[CellEvidence], last: tuple[_Night, _Night]
    ) -> Found:
        found = Found(0)
        stands = standing(_joined(ones), _joined(others))
        if stands is not None:
            return replace(found, verdict=stands[0], reason=stands[1])
        for each in chain(ones[1:], others):
            differs = comparable.environment_difference(ones[0].surrounding, each.surrounding)
            if differs:
                return replace(found, verdict=Verdict.NOT_COMPARABLE, reason=differs)
        parity = comparable.parity(*last, self.faults)
        work = comparable.work_difference(parity)
        if work:
            return replace(found, verdict=Verdict.NOT_COMPARABLE, reason=work)
        metrics = {}
        for metric in METRICS:
            gates, allowed = tolerance(self.gates, metric, last[0][1].workload.model)
            if metric.take is not None:
                judged = self._judged(Held(metric, gates, allowed), ones, others)
                if judged.gates or judged.verdict is not Verdict.NOT_MEASURED:
                    metrics[metric.name] = judged
        return replace(found, metrics=metrics, notes=weakened(parity))

    def _judged(self, held: Held, ones: Sequence[CellEvidence], others: Sequence[CellEvidence]) -> Judged:
        nights = [[_values(held.metric, each) for each in side] for side in (ones, others)]
        family = self.family if held.gates else self.family * len(METRICS)
        look = looks(family, blocks=(2,))[0]
        if self.design is Design.BLOCKS:
            return held.judge(values(held.metric, ones[0], others[0]), look)
        measured = [[found for found in side if found] for side in nights]
        if self.design is Design.NIGHTS:
            sides = [[math.exp(statistics.fmean(map(math.log, found))) for found in side] for side in measured]
        else:
            sides = [list(chain.from_iterable(side)) for side in measured]
        paired = self.design is Design.NIGHTS and len(sides[0]) == len(sides[1]) and _same_runs(ones, others)
        found = held.compared(sides[0], sides[1], look, paired=paired)
        if not all(measured):
            return found
        return found.model_copy(update={"nights": _scatter(measured[0], measured[1])})


def _values(metric: Metric, evidence: CellEvidence) -> list[float]:
    taken = (metric.take(each) for each in evidence.measurements.values()) if metric.take else ()
    return [float(value) for value in taken if value is not None and value > 0]


def _same_runs(ones: Sequence[CellEvidence], others: Sequence[CellEvidence]) -> bool:
    return [each.run for each in ones] == [each.run for each in others]


def _scatter(ones: Sequence[Sequence[float]], others: Sequence[Sequence[float]]) -> Nights:
    """The parts of the variance of a nested design, pooled over both sides.

    Source: Searle, Casella and McCulloch, Variance Components (1992), the method of moments for a one-way layout.
    """
    inside = [[math.log(value) for value in night] for night in (*ones, *others)]
    freedom = sum(len(night) - 1 for night in inside)
    within = sum(len(night) * statistics.pvariance(night) for night in inside) / freedom if freedom else None
    sides = [[statistics.fmean(map(math.log, night)) for night in side] for side in (ones, others)]
    nights = sum(len(side) - 1 for side in sides)
    between = None
    if nights:
        of_means = sum(len(side) * statistics.pvariance(side) for side in sides) / nights
        explained = (within or 0.0) * statistics.fmean(1 / len(night) for night in inside)
        between = max(0.0, of_means - explained)
    return Nights(
        baseline=len(ones),
        candidate=len(others),
        within=None if within is None else math.sqrt(within),
        between=None if between is None else math.sqrt(between),
    )


def _joined(nights: Sequence[CellEvidence]) -> CellEvidence:
    """All nights of a cell as one, to see whether it runs at all."""
    outcomes: dict[int, Outcome] = dict(enumerate(chain.from_iterable(each.outcomes.values() for each in nights)))
    return replace(nights[0], outcomes=outcomes)


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


def _releases(operand: Operand, plans: Mapping[str, Sequence[Cell]]) -> set[str]:
    return {cell.framework.label for run in operand.runs for cell in plans[run.name] if operand.has(cell)}


def _nights(operand: Operand, plans: Mapping[str, Sequence[Cell]], *, named: bool) -> dict[_Key, list[_Night]]:
    """The cells of an operand by the work that they do, each with its nights; with the release where there are more."""
    found: dict[_Key, list[_Night]] = {}
    for run in operand.runs:
        taken: dict[_Key, str] = {}
        for cell in plans[run.name]:
            if not operand.has(cell):
                continue
            release = cell.id.partition("/")[0] if named else ""
            key = (cell.system.name, cell.workload, cell.options, cell.duration, release)
            other = taken.setdefault(key, cell.id)
            if other != cell.id:
                raise InputError(
                    f"{operand.text}: {other} and {cell.id} of {run.name} are both meant; say which, as in "
                    f"{run.name}:baseline where it is a regression test, or {run.name}:{cell.framework.name}==VERSION"
                )
            found.setdefault(key, []).append((run, cell))
    if not found:
        there = dict.fromkeys(cell.framework.label for run in operand.runs for cell in plans[run.name])
        raise InputError(f"{operand.text}: no such cells in the plan; there is {', '.join(there)}")
    return found


def _gates(gates: Sequence[Gate], metric: Metric) -> bool:
    return any(gate.metric == metric.name for gate in gates)


def _label(operand: Operand, plans: Mapping[str, Sequence[Cell]]) -> str:
    if operand.side:
        nights = f", {len(operand.runs)} nights" if len(operand.runs) > 1 else ""
        return f"{operand.side.label}{nights}"
    return " and ".join(sorted(_releases(operand, plans)))


def _listed(found: Mapping[_Key, Sequence[_Night]]) -> str:
    ids = [nights[0][1].id for nights in found.values()]
    return ", ".join(ids[:3]) + (" …" if len(ids) > 3 else "")
