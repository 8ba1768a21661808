"""The figures of a cell for every metric that it has."""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from orchestrator import modes
from orchestrator.analysis.estimates import Estimate, estimate, printed
from orchestrator.analysis.measurements import RepeatMeasurement, repeat_measurement
from orchestrator.domain import Cell
from orchestrator.modes.parts.metrics import ENERGY, FIRST_EPOCH, Metric
from orchestrator.regression.judge import comparable
from orchestrator.regression.judge.exact_metrics import StoredFigures
from orchestrator.regression.printed import PREFIX
from orchestrator.results.evidence import Stored
from orchestrator.results.store import Run

_COLUMNS = tuple(column for rules in modes.RULES.values() for column in rules.columns)
ORDER: tuple[str, ...] = tuple(
    dict.fromkeys(metric.name for metric in (*modes.METRICS, *_COLUMNS, FIRST_EPOCH, ENERGY))
)
"""The names of all metrics in the order in which a site shows them, before those that scripts print."""


@dataclass(frozen=True, slots=True)
class MetricName:
    """A metric as it is shown."""

    name: str
    title: str
    unit: str
    better: str


@dataclass(frozen=True, slots=True)
class CellFigures:
    """The figures of one cell of one run."""

    estimates: dict[MetricName, Estimate]
    """From the repeats that were measured in the same way as the last one."""
    repeats: dict[MetricName, list[float | None]]
    """One value for each stored repeat."""
    conditions: dict[str, str]
    """The conditions that must be equal where figures are compared, by title."""
    measurements: list[RepeatMeasurement | None]
    """One for each stored repeat."""


def cell_figures(run: Run, cell: Cell, stored: Sequence[Stored], image_bytes: int | None) -> CellFigures:
    """Return the figures of a cell from its stored repeats."""
    if cell.script:
        return _printed(cell, stored)
    measurements = [_measurement(cell, each) for each in stored]
    conditions = [
        comparable.reported(comparable.surrounding([each.result])) if each.result and measured else None
        for each, measured in zip(stored, measurements, strict=True)
    ]
    last = next((each for each in reversed(conditions) if each is not None), None)
    alike = [each == last and last is not None for each in conditions]
    exact = StoredFigures(run, cell, image_bytes)
    estimates: dict[MetricName, Estimate] = {}
    repeats: dict[MetricName, list[float | None]] = {}
    for metric in _metrics(cell) if last is not None else ():
        name = _shown(metric)
        if metric.exact:
            value = metric.exact(exact)
            values, counted = [], [] if value is None else [float(value)]
        else:
            values = [None if each is None or not metric.take else metric.take(each) for each in measurements]
            counted = [float(value) for value, same in zip(values, alike, strict=True) if same and value is not None]
        if any(value is not None for value in values):
            repeats[name] = values
        # As in a history: a mean without the repeats of 0 would hide them.
        if counted and min(counted) > 0:
            estimates[name] = estimate(counted)
    return CellFigures(estimates, repeats, last or {}, measurements)


@lru_cache(maxsize=256)
def _shown(metric: Metric) -> MetricName:
    return MetricName(metric.name, metric.title, metric.unit, metric.better.value)


def _metrics(cell: Cell) -> Iterable[Metric]:
    """Return the metrics of a cell's mode, and those that reports show besides."""
    rules = cell.workload.rules
    return {metric.name: metric for metric in (*rules.metrics, *rules.columns, FIRST_EPOCH, ENERGY)}.values()


def _measurement(cell: Cell, stored: Stored) -> RepeatMeasurement | None:
    if stored.result is None:
        return None
    with contextlib.suppress(ValueError):  # a block without a finite rate
        in_epochs = cell.duration.epochs is not None
        return repeat_measurement(
            stored.result, stored.outcome.create_s, stored.telemetry, in_epochs=in_epochs, with_scatter=False
        )
    return None


def _printed(cell: Cell, stored: Sequence[Stored]) -> CellFigures:
    """Return the figures that a script has printed, which have their range in place of an interval."""
    metrics = cell.script.metrics if cell.script else ()
    results = [each.printed for each in stored]
    names = {each.name: MetricName(f"{PREFIX}{each.name}", each.name, each.unit, each.better.value) for each in metrics}
    repeats: dict[MetricName, list[float | None]] = {name: [None] * len(stored) for name in names.values()}
    for place, result in enumerate(results):
        for each in printed(metrics, [result]) if result else ():
            repeats[names[each.name]][place] = each.value
    estimates = {
        names[each.name]: Estimate(each.value, each.low, each.high, len(each.repeats))
        for each in printed(metrics, [result for result in results if result])
        if each.value > 0
    }
    return CellFigures(estimates, repeats, {}, [None] * len(stored))
