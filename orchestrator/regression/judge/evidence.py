"""The evidence of a cell in one run, and of a side, which is a cell over all runs that measured it."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from orchestrator.analysis.measurements import RepeatMeasurement, repeat_measurement
from orchestrator.analysis.printed_figures import printed_figures
from orchestrator.domain import Cell, Outcome, Plan, Status
from orchestrator.modes.parts.figures import RepeatFigures
from orchestrator.modes.parts.metrics import Metric
from orchestrator.regression.judge.comparable import Placed, Surrounding, surrounding
from orchestrator.regression.judge.exact_metrics import StoredFigures
from orchestrator.regression.model import SILENT, Moved
from orchestrator.regression.rules import LEAST_BLOCKS, Values
from orchestrator.results.contract import Result
from orchestrator.results.evidence import read_repeats
from orchestrator.results.records import EnvironmentRecord, EnvironmentsRecord
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.results.store import Run

_SIDES = ("baseline", "candidate")


@dataclass(frozen=True)
class CellEvidence:
    """One cell, repeat by repeat."""

    blocks: range
    """The repeats that were read."""
    outcomes: Mapping[int, Outcome]
    measurements: Mapping[int, RepeatFigures]
    surrounding: Surrounding
    python: str
    rotten: frozenset[int] = frozenset()
    """The repeats whose stored result has rotted, which tells of the disk and nothing of the release."""

    @cached_property
    def telling(self) -> tuple[Outcome, ...]:
        """Return the outcomes that depend on the release."""
        return tuple(
            outcome
            for number, outcome in self.outcomes.items()
            if outcome.status not in SILENT and number not in self.rotten
        )

    @property
    def failed(self) -> int:
        """Return the number of those that did not end `ok`. A disturbed repeat is `ok`."""
        return sum(outcome.status is not Status.OK for outcome in self.telling)

    @property
    def runs(self) -> bool:
        """Return true if more than half of the repeats are `ok`."""
        return 2 * self.failed < len(self.telling)

    @property
    def failure(self) -> str:
        """Return the most frequent failure in one line, or an empty text."""
        outcomes = self.telling if self.failed else self.outcomes.values()
        ended = Counter((outcome.status, outcome.reason) for outcome in outcomes if outcome.status is not Status.OK)
        if not ended:
            return ""
        (status, reason), _ = ended.most_common(1)[0]
        return f"{status.value}: {reason}" if reason else status.value


def cell_evidence(run: Run, cell: Cell, blocks: range) -> CellEvidence:
    """Read the repeats of a cell in some blocks. A result that measures nothing counts as `invalid_result`."""
    outcomes: dict[int, Outcome] = {}
    measurements: dict[int, RepeatFigures] = {}
    results: list[Result | ScriptResult] = []
    rotten: set[int] = set()
    for stored in read_repeats(run, cell.id, blocks, of_script=cell.script is not None):
        outcome = stored.outcome
        if stored.printed is not None:
            measurements[outcome.repeat] = printed_figures(stored.printed)
            results.append(stored.printed)
        if stored.result is not None:
            try:
                measurements[outcome.repeat] = measured(stored.result, outcome, cell)
                results.append(stored.result)
            except ValueError as error:
                outcome = replace(outcome, status=Status.INVALID_RESULT, reason=str(error))
        outcomes[outcome.repeat] = outcome
        if stored.rotten:
            rotten.add(outcome.repeat)
    pythons = dict.fromkeys(str(result.facts.get("python", "")) for result in results)
    return CellEvidence(blocks, outcomes, measurements, surrounding(results), " | ".join(pythons), frozenset(rotten))


def measured(result: Result, outcome: Outcome, cell: Cell) -> RepeatMeasurement:
    """Return the figures of a repeat. Raises `ValueError` if a block has no finite rate."""
    in_epochs = cell.duration.epochs is not None
    return repeat_measurement(result, outcome.create_s, in_epochs=in_epochs, load=cell.workload.load)


def values(metric: Metric, baseline: CellEvidence, candidate: CellEvidence) -> Values:
    """Return both values of a metric for every block in which both sides have one, measured on the same GPUs."""
    return list(_by_block(metric, baseline, candidate).values())


def _by_block(metric: Metric, baseline: CellEvidence, candidate: CellEvidence) -> dict[int, tuple[float, float]]:
    pairs = {}
    apart = apart_on_gpus(baseline, candidate)
    for repeat, one in baseline.measurements.items():
        other = candidate.measurements.get(repeat)
        if metric.take is None or other is None or repeat in apart:
            continue
        pair = metric.take(one), metric.take(other)
        if pair[0] is not None and pair[1] is not None:
            pairs[repeat] = float(pair[0]), float(pair[1])
    return pairs


def apart_on_gpus(baseline: CellEvidence, candidate: CellEvidence) -> frozenset[int]:
    """Return the blocks of a run that both sides have measured, but on different GPUs, as after one has failed."""
    both = baseline.measurements.keys() & candidate.measurements.keys()
    return frozenset(block for block in both if baseline.outcomes[block].ran_on != candidate.outcomes[block].ran_on)


def block_notes(baseline: CellEvidence, candidate: CellEvidence) -> Iterator[str]:
    """Yield a note on the blocks of a run that do not count."""
    if apart := apart_on_gpus(baseline, candidate):
        yield f"{len(apart)} of {len(baseline.blocks)} blocks do not count: the two sides ran on different GPUs in them"


def chained_values(metric: Metric, links: Sequence[tuple[CellEvidence, CellEvidence]]) -> Values:
    """Return the values of the last link, its baseline carried over from the first one, block by block.

    The ratio of each pair is the product of the ratios of all links in its block, so that its variance over the blocks
    is the sum of theirs. A block counts if every link has both values in it. The values of one link are its own.
    """
    *earlier, last = (_by_block(metric, one, other) for one, other in links)
    carried = []
    for block, (baseline, candidate) in last.items():
        steps = [link.get(block, (0.0, 0.0)) for link in earlier]
        if all(min(step) > 0 for step in steps):
            factor = math.prod(one / other for one, other in steps)
            carried.append((baseline * factor, candidate))
    return carried


def repeat_notes(baseline: CellEvidence, candidate: CellEvidence) -> Iterator[str]:
    """Yield notes on repeats that failed or were disturbed."""
    for side, evidence in (("baseline", baseline), ("candidate", candidate)):
        failed = sum(outcome.status is not Status.OK for outcome in evidence.outcomes.values())
        if failed and evidence.measurements:
            yield f"{failed} of {len(evidence.outcomes)} repeats of the {side} did not end ok: {evidence.failure}"
        disturbed = sum(bool(outcome.disturbance) for outcome in evidence.outcomes.values())
        if disturbed:
            yield f"{disturbed} of {len(evidence.outcomes)} repeats of the {side} were disturbed, and count"


def moved(baseline: EnvironmentRecord | None, candidate: EnvironmentRecord | None) -> tuple[Moved, ...]:
    """Return the packages that differ between two environments, by name, or none if an environment is not known."""
    if baseline is None or candidate is None or not baseline.versions or not candidate.versions:
        return ()
    names = sorted({*baseline.versions, *candidate.versions}, key=str.lower)
    return tuple(
        Moved(name=name, baseline=baseline.versions.get(name, ""), candidate=candidate.versions.get(name, ""))
        for name in names
        if baseline.versions.get(name) != candidate.versions.get(name)
    )


@dataclass(frozen=True, slots=True)
class CellRun:
    """One cell in one run."""

    run: Run
    cell: Cell
    evidence: CellEvidence
    environment: EnvironmentRecord | None
    """The environment it ran in; None if that was not recorded."""
    asks_parity: bool
    """True if the plan of the run asks for parity checks."""

    @property
    def placed(self) -> Placed:
        """Return the run and the cell."""
        return self.run, self.cell

    @property
    def exact(self) -> StoredFigures:
        """Return the figures that are known exactly."""
        return StoredFigures(self.run, self.cell, self.environment.size_bytes if self.environment else None)


@dataclass(frozen=True)
class SideEvidence:
    """One cell of one side, run by run."""

    runs: tuple[CellRun, ...]
    """Oldest first."""
    absent: tuple[str, ...] = ()
    """Names of runs of this side that have no such cell."""

    @cached_property
    def counting(self) -> tuple[CellRun, ...]:
        """Return the runs with a result."""
        return tuple(each for each in self.runs if each.evidence.measurements)

    @property
    def last(self) -> CellRun:
        """Return the last run with a result, or the last of all if none has one."""
        return (self.counting or self.runs)[-1]

    @cached_property
    def measurements(self) -> Mapping[int, RepeatFigures]:
        """Return the measurements of all runs, numbered anew."""
        return self.joined().measurements

    def joined(self) -> CellEvidence:
        """Return all runs as one, which says how often the side fails."""
        every = [each.evidence for each in self.runs]
        ended = [(outcome, number in one.rotten) for one in every for number, outcome in one.outcomes.items()]
        outcomes = {number: outcome for number, (outcome, _) in enumerate(ended)}
        rotten = frozenset(number for number, (_, is_rotten) in enumerate(ended) if is_rotten)
        measurements = dict(enumerate(chain.from_iterable(one.measurements.values() for one in every)))
        return replace(every[0], outcomes=outcomes, measurements=measurements, rotten=rotten)


def one_run(
    run: Run, cell: Cell, blocks: range, environments: EnvironmentsRecord, *, asks_parity: bool
) -> SideEvidence:
    """Read some blocks of a cell in the one run of its side."""
    by_image = {record.image: record for record in environments.environments}
    evidence = cell_evidence(run, cell, blocks)
    return SideEvidence((CellRun(run, cell, evidence, by_image.get(cell.image), asks_parity),))


def several_runs(
    placed: Sequence[Placed],
    runs: Iterable[Run],
    environments: Mapping[str, EnvironmentsRecord],
    plans: Mapping[str, Plan],
) -> SideEvidence:
    """Read a cell in each of its side's runs that has it. Environments and plans are by the name of the run."""
    sides = [
        one_run(run, cell, range(cell.repeats), environments[run.name], asks_parity=plans[run.name].parity)
        for run, cell in placed
    ]
    present = {run.name for run, _ in placed}
    absent = tuple(run.name for run in runs if run.name not in present)
    return SideEvidence(tuple(chain.from_iterable(side.runs for side in sides)), absent)


def moved_between(baseline: SideEvidence, candidate: SideEvidence) -> tuple[Moved, ...]:
    """Return the packages that differ between the last environments of both sides."""
    return moved(baseline.last.environment, candidate.last.environment)


def values_by_run(metric: Metric, runs: Iterable[CellRun]) -> dict[str, list[float]]:
    """Return the values of the repeats of each run that has any."""
    take: Callable[..., float | None] = metric.take or (lambda _: None)
    values_of_runs = {each.run.name: map(take, each.evidence.measurements.values()) for each in runs}
    known = {run: [float(value) for value in values if value is not None] for run, values in values_of_runs.items()}
    return {run: values for run, values in known.items() if values}


def shared_runs(ones: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the runs with values of both sides, or none if they are too few to be compared run by run."""
    present = set(others)
    both = [run for run in ones if run in present]
    return both if len(both) >= LEAST_BLOCKS else []


def run_notes(baseline: SideEvidence, candidate: SideEvidence, unpaired: Sequence[str]) -> Iterator[str]:
    """Return notes on runs that do not count, and on packages that moved from one run of a side to another."""
    sides = tuple(zip(_SIDES, (baseline, candidate), strict=True))
    for name, side in sides:
        yield from _without_result(name, side)
    for run in unpaired:
        yield f"{run} does not count: only one side has a result in it, and both are compared run by run"
    for name, side in sides:
        yield from _moved_within(name, side)


def _without_result(name: str, side: SideEvidence) -> Iterator[str]:
    for each in side.runs:
        if not each.evidence.measurements and len(side.runs) > 1:
            yield f"the {name} has no result in {each.run.name}: {each.evidence.failure or 'no outcome was recorded'}"
    for run in side.absent:
        yield f"the {name} has no result in {run}: it is not in its plan"


def _moved_within(name: str, side: SideEvidence) -> Iterator[str]:
    for earlier, later in itertools.pairwise(side.counting):
        changed = moved(earlier.environment, later.environment)
        if changed:
            texts = (f"{each.name} {each.baseline or 'absent'} → {each.candidate or 'absent'}" for each in changed)
            yield f"packages of the {name} moved between {earlier.run.name} and {later.run.name}: {', '.join(texts)}"
