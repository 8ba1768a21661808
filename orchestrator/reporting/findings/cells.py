"""From stored repeats to what each cell of the plan shows, and each environment.

The raw samples of one cell are in memory at a time.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from sys import intern

from pydantic_core import to_json

from orchestrator.analysis.estimates import printed
from orchestrator.analysis.measurements import RepeatMeasurement, measurement, repeat_measurement
from orchestrator.domain import Cell, Outcome, Status
from orchestrator.reporting.findings.model import (
    CellReport,
    Facts,
    Repeat,
    StatusCounts,
)
from orchestrator.results.evidence import Stored
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.wording import clean_line

NO_OUTCOME = "no outcome was recorded: the run was stopped, or is still going on"
NO_RESULT = "result.json is missing or unreadable"

_MOST_VALUES = 4


def cell_reports(cells: Sequence[Cell], labels: Mapping[str, str], stored: Iterable[Stored]) -> tuple[CellReport, ...]:
    """Report on every cell of a plan, in its order.

    `labels` names cells by their id. `stored` is read once, in any order; where it comes cell by cell, the raw
    samples of no more than one cell are held.
    """
    planned = {cell.id: cell for cell in cells}
    shared = _Shared()
    gathering: dict[str, _Gathering] = {}
    reports: dict[str, CellReport] = {}
    for item in stored:
        cell = planned.get(item.outcome.cell_id)
        if cell is None or item.outcome.repeat >= cell.repeats or cell.id in reports:
            continue
        gathered = gathering.setdefault(cell.id, _Gathering(cell, shared))
        gathered.add(item)
        if len(gathered.repeats) == cell.repeats:
            reports[cell.id] = gathering.pop(cell.id).report(labels[cell.id])
    for cell in cells:
        if cell.id not in reports:
            reports[cell.id] = gathering.get(cell.id, _Gathering(cell, shared)).report(labels[cell.id])
    return tuple(reports[cell.id] for cell in cells)


def counts(statuses: Iterable[Status]) -> StatusCounts:
    """Count each status."""
    counts = Counter(statuses)
    return tuple((status, counts[status]) for status in Status if counts[status])


def _number(result: ScriptResult) -> int:
    return result.repeat


@dataclass
class _Shared:
    """Facts that are the same in thousands of containers, kept once."""

    _pairs: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    _facts: dict[Facts, Facts] = field(default_factory=dict)
    _flattened: dict[bytes, Facts] = field(default_factory=dict)
    """By the digest of what was flattened: flattening the same facts again would be most of a report's time."""

    def __call__(self, facts: Iterable[tuple[str, str]]) -> Facts:
        whole = tuple(self._pairs.setdefault(pair, pair) for pair in facts)
        return self._facts.setdefault(whole, whole)

    def flat(self, facts: Mapping[str, object]) -> Facts:
        """`flatten` the facts of a container."""
        digest = sha256(to_json(facts)).digest()
        known = self._flattened.get(digest)
        if known is None:
            known = self._flattened[digest] = self(flatten(facts))
        return known


@dataclass
class _Gathering:
    """One cell while its repeats come in."""

    cell: Cell
    shared: _Shared
    repeats: dict[int, Repeat] = field(default_factory=dict)
    step_s: "list[array[float]]" = field(default_factory=list)
    """Of each repeat that measured."""
    facts: list[Facts] = field(default_factory=list)
    versions: set[int] = field(default_factory=set)
    printed: list[ScriptResult] = field(default_factory=list)

    def add(self, item: Stored) -> None:
        outcome = replace(
            item.outcome,
            cell_id=self.cell.id,
            reason=clean_line(item.outcome.reason),
            image_id=None if item.outcome.image_id is None else intern(item.outcome.image_id),
        )
        if item.printed is not None:
            self.printed.append(item.printed)
            self.facts.append(self.shared.flat(item.printed.facts))
            self.repeats[outcome.repeat] = Repeat(outcome, None)
            return
        measured, outcome = _measured(outcome, item, self.cell)
        self.repeats[outcome.repeat] = Repeat(outcome, measured)
        if measured is not None and item.result is not None:
            self.step_s.append(array("d", item.result.latency_s))
            self.facts.append(self.shared.flat(item.result.facts))
            self.versions.add(item.result.measurement_version)

    def report(self, label: str) -> CellReport:
        repeats = tuple(
            self.repeats.get(number) or Repeat(Outcome(self.cell.id, number, Status.NOT_RUN, NO_OUTCOME), None)
            for number in range(self.cell.repeats)
        )
        measured = [repeat.measurement for repeat in repeats if repeat.measurement is not None]
        return CellReport(
            cell=self.cell,
            label=label,
            repeats=repeats,
            statuses=counts(repeat.outcome.status for repeat in repeats),
            measurement=measurement(measured, self.step_s) if measured and not self.cell.workload.searches else None,
            facts=self.shared(merged(self.facts)),
            measurement_versions=tuple(sorted(self.versions)),
            printed=printed(self.cell.script.metrics, sorted(self.printed, key=_number)) if self.cell.script else (),
        )


def _measured(outcome: Outcome, item: Stored, cell: Cell) -> tuple[RepeatMeasurement | None, Outcome]:
    """Return the measurement of an `ok` repeat with its outcome, which says so if there is none."""
    if outcome.status is not Status.OK:
        return None, outcome
    if item.result is None:
        return None, replace(outcome, status=Status.INVALID_RESULT, reason=outcome.reason or NO_RESULT)
    in_epochs, load = cell.duration.epochs is not None, cell.workload.load
    try:
        return (
            repeat_measurement(item.result, outcome.create_s, item.telemetry, in_epochs=in_epochs, load=load),
            outcome,
        )
    except ValueError as error:
        return None, replace(outcome, status=Status.INVALID_RESULT, reason=f"result.json: {error}")


def merged(several: Iterable[Facts]) -> Facts:
    """Return one value per fact, those of containers that disagree joined by ` | `."""
    different = list(dict.fromkeys(several))
    if len(different) == 1:
        return different[0]
    values: dict[str, dict[str, None]] = {}
    for facts in different:
        for name, value in facts:
            values.setdefault(name, {})[value] = None
    return tuple(
        (name, " | ".join([*values_of_name][:_MOST_VALUES]) + (" | …" if len(values_of_name) > _MOST_VALUES else ""))
        for name, values_of_name in values.items()
    )


def flatten(facts: Mapping[str, object], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Nested facts as dotted names and short texts, in their own order."""
    for key, value in facts.items():
        name = f"{prefix}{clean_line(str(key))}"
        if isinstance(value, Mapping):
            yield from flatten(value, f"{name}.")
        elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
            yield from flatten({str(number): item for number, item in enumerate(value)}, f"{name}.")
        elif isinstance(value, list | tuple):
            yield from [(name, ", ".join(clean_line(str(item)) for item in value))] if value else []
        elif value is not None:
            yield name, clean_line(str(value))
