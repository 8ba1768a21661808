"""The evidence of one cell in one run."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from orchestrator.analysis import RepeatMeasurement, repeat_measurement
from orchestrator.domain import Cell, Outcome, Status
from orchestrator.modes.parts.metrics import Metric
from orchestrator.regression.judge.comparable import Surrounding, surrounding
from orchestrator.regression.judge.metric_rule import Values
from orchestrator.regression.model import Moved
from orchestrator.results.contract import Result
from orchestrator.results.evidence import read_repeats
from orchestrator.results.records import EnvironmentRecord
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
    measurements: dict[int, RepeatMeasurement] = {}
    results: list[Result] = []
    rotten: set[int] = set()
    for stored in read_repeats(run, cell.id, blocks):
        outcome = stored.outcome
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
    return repeat_measurement(result, outcome.create_s, in_epochs=cell.duration.epochs is not None)


def values(metric: Metric, baseline: CellEvidence, candidate: CellEvidence) -> Values:
    """Return both values of a metric for every block in which both sides have one."""
    pairs = []
    for repeat, one in baseline.measurements.items():
        other = candidate.measurements.get(repeat)
        if metric.take is None or other is None:
            continue
        pair = metric.take(one), metric.take(other)
        if pair[0] is not None and pair[1] is not None:
            pairs.append((float(pair[0]), float(pair[1])))
    return pairs


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
