"""One cell of each side over all the runs that it was measured in: nights held against each other."""

import itertools
import math
import statistics
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from orchestrator.analysis.looks import looks
from orchestrator.analysis.parity import PairParity
from orchestrator.analysis.verdicts import Verdict
from orchestrator.catalog import KnownFault
from orchestrator.domain import Outcome
from orchestrator.regression.judge import comparable
from orchestrator.regression.judge.comparable import Placed
from orchestrator.regression.judge.evidence import CellEvidence, cell_evidence, moved, notes, values
from orchestrator.regression.judge.exact_metrics import judged_image_size, judged_loss
from orchestrator.regression.judge.judge import PairFindings, weakened
from orchestrator.regression.judge.metric_rule import MetricRule, doubted
from orchestrator.regression.judge.reliability import doubt, standing
from orchestrator.regression.judge.single_steps import with_enough_steps
from orchestrator.regression.metrics import METRICS, Gate, Metric, tolerance
from orchestrator.regression.model import Design, Judged, Moved, Nights
from orchestrator.regression.rules import LEAST_BLOCKS
from orchestrator.results.contract import EnvironmentRecord, EnvironmentsRecord
from orchestrator.results.store import Run

_SIDES = ("baseline", "candidate")


@dataclass(frozen=True, slots=True)
class CellRun:
    """One cell in one run."""

    placed: Placed
    evidence: CellEvidence
    environment: EnvironmentRecord | None
    """What it ran in; None where that was not recorded."""

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.placed[0].name


@dataclass(frozen=True)
class SideEvidence:
    """One cell of one side, night by night."""

    nights: tuple[CellRun, ...]
    """All of them, oldest first."""
    absent: tuple[str, ...] = ()
    """Runs of this side that have no such cell."""

    @cached_property
    def counting(self) -> tuple[CellRun, ...]:
        """Those that have a result."""
        return tuple(night for night in self.nights if night.evidence.measurements)

    @property
    def last(self) -> CellRun:
        """The last one with a result; the last of all where none has."""
        return (self.counting or self.nights)[-1]

    def joined(self) -> CellEvidence:
        """All nights as one, to see whether it runs at all, and what became of the repeats."""
        every = [night.evidence for night in self.nights]
        outcomes: dict[int, Outcome] = dict(enumerate(chain.from_iterable(one.outcomes.values() for one in every)))
        measurements = dict(enumerate(chain.from_iterable(one.measurements.values() for one in every)))
        return replace(every[0], outcomes=outcomes, measurements=measurements)


def measured(
    nights: Sequence[Placed], runs: Iterable[Run], environments: Mapping[str, EnvironmentsRecord]
) -> SideEvidence:
    """Read what a cell has left in each of a side's runs that has it; environments by the run's name."""
    found = []
    for run, cell in nights:
        made = {record.image: record for record in environments[run.name].environments}
        evidence = cell_evidence(run, cell, range(cell.repeats))
        found.append(CellRun((run, cell), evidence, made.get(cell.image)))
    there = {run.name for run, _ in nights}
    return SideEvidence(tuple(found), tuple(run.name for run in runs if run.name not in there))


def moved_between(one: SideEvidence, other: SideEvidence) -> tuple[Moved, ...]:
    """Packages that are not the same in the last environments of both sides."""
    return moved(one.last.environment, other.last.environment)


@dataclass(frozen=True)
class Across:
    """Judges cells of stored runs."""

    design: Design
    gates: tuple[Gate, ...]
    family: int
    """Statistical verdicts that share alpha."""
    level: float
    """Of each test whether one side fails more often than the other."""
    paired: bool = False
    """Whether both sides are of the same nights, and are held against each other night by night."""
    faults: tuple[KnownFault, ...] = ()

    def found(self, one: SideEvidence, other: SideEvidence) -> PairFindings:
        """Judge one cell of each side, with all its nights."""
        sides = one.joined(), other.joined()
        found = replace(_known(one, other), notes=tuple(self._notes(one, other)))
        stands = standing(*sides, self.level)
        if stands is not None:
            return replace(found, verdict=stands[0], reason=stands[1])
        parity = comparable.parity(one.last.placed, other.last.placed, self.faults)
        was_asked = any(side.last.placed[0].plan().parity for side in (one, other))
        found = replace(found, notes=(*found.notes, *notes(*sides), *weakened(parity if was_asked else None)))
        for each, another in itertools.combinations(chain(one.counting, other.counting), 2):
            differs = comparable.environment_difference(each.evidence.surrounding, another.evidence.surrounding)
            if differs:
                where = f" ({each.run}, {another.run})" if self.design is Design.NIGHTS else ""
                return replace(found, verdict=Verdict.NOT_COMPARABLE, reason=differs + where)
        judged = {held.metric.name: self._judged(held, parity, one, other) for held in self._held(one)}
        why = doubt(*sides)
        return replace(found, metrics={name: doubted(each, why) for name, each in judged.items() if each is not None})

    def _held(self, one: SideEvidence) -> Iterator[MetricRule]:
        for metric in METRICS:
            gates, allowed = tolerance(self.gates, metric, one.last.placed[1].workload.model)
            yield MetricRule(metric, gates, allowed)

    def _judged(self, held: MetricRule, parity: PairParity, one: SideEvidence, other: SideEvidence) -> Judged | None:
        if held.metric.name == "loss":
            return judged_loss(held, parity, one.last.placed, other.last.placed)
        if held.metric.name == "image_size":
            return judged_image_size(held, one.last.environment, other.last.environment)
        found = self._compared(held, one, other)
        found = with_enough_steps(found, held.metric, one.joined().measurements, other.joined().measurements)
        if found.verdict is Verdict.NOT_MEASURED and not held.gates:
            return None
        work = comparable.work_difference(parity)
        if work and held.metric.name != "accuracy":
            return found.model_copy(update={"verdict": Verdict.NOT_COMPARABLE, "reason": work, "more_blocks": None})
        return found

    def _compared(self, held: MetricRule, one: SideEvidence, other: SideEvidence) -> Judged:
        family = self.family if held.gates else self.family * len(METRICS)
        look = looks(family, blocks=(LEAST_BLOCKS,))[0]
        if self.design is Design.BLOCKS:
            return held.judge(values(held.metric, one.last.evidence, other.last.evidence), look)
        ones, others = (_values(held.metric, side.counting) for side in (one, other))
        if self.design is Design.RUNS:
            found = held.compared(_flat(ones), _flat(others), look, paired=False)
        else:
            both = self._shared(ones, others)
            nights = [[_mean(side[run]) for run in both or side] for side in (ones, others)]
            found = held.compared(nights[0], nights[1], look, paired=bool(both))
            if found.verdict is not Verdict.NOT_MEASURED and found.blocks < LEAST_BLOCKS:
                found = found.model_copy(update={"reason": _too_few(len(nights[0]), len(nights[1]))})
        scattering = [[each for each in side.values() if min(each) > 0] for side in (ones, others)]
        return found.model_copy(update={"nights": _scatter(*scattering)}) if all(scattering) else found

    def _shared(self, ones: Iterable[str], others: Collection[str]) -> list[str]:
        """The runs that have values of both sides, to be held against each other run by run.

        Empty where there are fewer than two: then the nights of each side count by themselves.
        """
        both = [run for run in ones if run in others] if self.paired else []
        return both if len(both) >= LEAST_BLOCKS else []

    def _notes(self, one: SideEvidence, other: SideEvidence) -> Iterator[str]:
        """What of the nights must be known: those that do not count, and packages that moved from one to another."""
        for side, found in zip(_SIDES, (one, other), strict=True):
            yield from _without_result(side, found)
        ones, others = ([night.run for night in side.counting] for side in (one, other))
        if self._shared(ones, others):
            for run in sorted({*ones} ^ {*others}):
                yield f"{run} does not count: only one side has a result in it, and both are compared night by night"
        for side, found in zip(_SIDES, (one, other), strict=True):
            yield from _moved_on(side, found)


def _without_result(side: str, found: SideEvidence) -> Iterator[str]:
    for night in found.nights:
        if not night.evidence.measurements and len(found.nights) > 1:
            yield f"the {side} has no result in {night.run}: {night.evidence.failure or 'no outcome was recorded'}"
    for run in found.absent:
        yield f"the {side} has no result in {run}: it is not in its plan"


def _moved_on(side: str, found: SideEvidence) -> Iterator[str]:
    for earlier, later in itertools.pairwise(found.counting):
        changed = moved(earlier.environment, later.environment)
        if changed:
            texts = (f"{each.name} {each.baseline or 'absent'} → {each.candidate or 'absent'}" for each in changed)
            yield f"packages of the {side} moved between {earlier.run} and {later.run}: {', '.join(texts)}"


def _too_few(ones: int, others: int) -> str:
    side = _SIDES[0] if ones < others else _SIDES[1]
    whose = "of each side" if ones == others else f"of the {side}"
    return f"one night {whose} says nothing of how nights scatter; give two or more"


def _values(metric: Metric, nights: Iterable[CellRun]) -> dict[str, list[float]]:
    """The values of the repeats of each run that has any."""
    take: Callable[..., float | None] = metric.take or (lambda _: None)
    taken = {night.run: map(take, night.evidence.measurements.values()) for night in nights}
    found = {run: [float(value) for value in each if value is not None] for run, each in taken.items()}
    return {run: each for run, each in found.items() if each}


def _flat(nights: Mapping[str, Sequence[float]]) -> list[float]:
    return list(chain.from_iterable(nights.values()))


def _mean(night: Sequence[float]) -> float:
    """The geometric mean, which is 0 where one of the repeats is."""
    return math.exp(statistics.fmean(map(math.log, night))) if min(night) > 0 else 0.0


def _known(one: SideEvidence, other: SideEvidence) -> PairFindings:
    sides = [[night.evidence for night in side.counting] for side in (one, other)]
    versions = chain.from_iterable(each.surrounding.measurement_versions for each in chain(*sides))
    pythons = [" | ".join(dict.fromkeys(each.python for each in side if each.python)) for side in sides]
    return PairFindings(0, pythons=(pythons[0], pythons[1]), measurement_version=max(versions, default=0))


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
