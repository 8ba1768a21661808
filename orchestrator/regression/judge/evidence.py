"""What the repeats of a pair of cells have left in a run's folder."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from orchestrator.analysis import RepeatMeasurement, repeat_measurement
from orchestrator.domain import Cell, Outcome, Status
from orchestrator.regression.judge.comparable import Surrounding, surrounding
from orchestrator.regression.judge.metric_rule import Values
from orchestrator.regression.metrics import Metric
from orchestrator.regression.model import Moved
from orchestrator.results.contract import EnvironmentRecord, Result
from orchestrator.results.evidence import read_repeats
from orchestrator.results.store import Run

SILENT = frozenset({Status.BUILD_FAILED, Status.LAUNCH_FAILED, Status.NO_DEVICE, Status.NOT_RUN})
"""They tell of the host, the index or the engine, and nothing of the release."""


@dataclass(frozen=True)
class CellEvidence:
    """One cell, repeat by repeat."""

    blocks: range
    """The repeats that were read."""
    outcomes: Mapping[int, Outcome]
    measurements: Mapping[int, RepeatMeasurement]
    surrounding: Surrounding
    python: str

    @cached_property
    def telling(self) -> tuple[Outcome, ...]:
        """The outcomes that say something of the release."""
        return tuple(outcome for outcome in self.outcomes.values() if outcome.status not in SILENT)

    @property
    def failed(self) -> int:
        """How many of those did not end well; what was disturbed did."""
        return sum(outcome.status is not Status.OK for outcome in self.telling)

    @property
    def runs(self) -> bool:
        """Whether it works: more of its repeats than not."""
        return 2 * self.failed < len(self.telling)

    @property
    def failure(self) -> str:
        """How most of what did not end `ok` ended, in one line; empty where all did."""
        outcomes = self.telling if self.failed else self.outcomes.values()
        ended = Counter((outcome.status, outcome.reason) for outcome in outcomes if outcome.status is not Status.OK)
        if not ended:
            return ""
        (status, reason), _ = ended.most_common(1)[0]
        return f"{status.value}: {reason}" if reason else status.value


def cell_evidence(run: Run, cell: Cell, blocks: range) -> CellEvidence:
    """Read the repeats of a cell in some blocks; a result that measures nothing counts as `invalid_result`."""
    outcomes: dict[int, Outcome] = {}
    measurements: dict[int, RepeatMeasurement] = {}
    results: list[Result] = []
    for stored in read_repeats(run, cell.id, blocks):
        outcome = stored.outcome
        if stored.result is not None:
            try:
                measurements[outcome.repeat] = measured(stored.result, outcome, cell)
                results.append(stored.result)
            except ValueError as error:
                outcome = replace(outcome, status=Status.INVALID_RESULT, reason=str(error))
        outcomes[outcome.repeat] = outcome
    pythons = dict.fromkeys(str(result.facts.get("python", "")) for result in results)
    return CellEvidence(blocks, outcomes, measurements, surrounding(results), " | ".join(pythons))


def measured(result: Result, outcome: Outcome, cell: Cell) -> RepeatMeasurement:
    """Return the figures of a repeat; raises `ValueError` if a block has no finite rate."""
    return repeat_measurement(result, outcome.create_s, in_epochs=cell.duration.epochs is not None)


def values(metric: Metric, baseline: CellEvidence, candidate: CellEvidence) -> Values:
    """Both sides of a metric, of every block in which both have it."""
    found = []
    for repeat, one in baseline.measurements.items():
        other = candidate.measurements.get(repeat)
        if metric.take is None or other is None:
            continue
        pair = metric.take(one), metric.take(other)
        if pair[0] is not None and pair[1] is not None:
            found.append((float(pair[0]), float(pair[1])))
    return found


def repeat_notes(baseline: CellEvidence, candidate: CellEvidence) -> Iterator[str]:
    """What of the repeats must be known beside their values."""
    for side, found in (("baseline", baseline), ("candidate", candidate)):
        failed = sum(outcome.status is not Status.OK for outcome in found.outcomes.values())
        if failed and found.measurements:
            yield f"{failed} of {len(found.outcomes)} repeats of the {side} did not end ok: {found.failure}"
        disturbed = sum(bool(outcome.disturbance) for outcome in found.outcomes.values())
        if disturbed:
            yield f"{disturbed} of {len(found.outcomes)} repeats of the {side} were disturbed, and count"


def moved(baseline: EnvironmentRecord | None, candidate: EnvironmentRecord | None) -> tuple[Moved, ...]:
    """Packages that are not the same in two environments, by name; none where one of them is not known."""
    if baseline is None or candidate is None or not baseline.versions or not candidate.versions:
        return ()
    names = sorted({*baseline.versions, *candidate.versions}, key=str.lower)
    return tuple(
        Moved(name=name, baseline=baseline.versions.get(name, ""), candidate=candidate.versions.get(name, ""))
        for name in names
        if baseline.versions.get(name) != candidate.versions.get(name)
    )
