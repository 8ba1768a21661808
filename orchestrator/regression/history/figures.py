"""The figures of one cell of one run, as a history holds them."""

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.analysis import RepeatMeasurement
from orchestrator.domain import Cell
from orchestrator.modes.parts.figures import ExactFigures
from orchestrator.modes.parts.metrics import Metric
from orchestrator.regression.judge import comparable
from orchestrator.regression.judge.evidence import measured
from orchestrator.regression.judge.exact_metrics import StoredFigures
from orchestrator.results.evidence import read_repeats
from orchestrator.results.store import Run

Figure = tuple[str, float, int]
"""Metric, value, and the number of repeats it is the mean of."""


def cell_figures(run: Run, cell: Cell, image_bytes: int | None) -> tuple[Mapping[str, str], tuple[Figure, ...]]:
    """Return the conditions of a cell's last repeat, and the figures of the repeats measured in the same way."""
    repeats = list(_repeats(run, cell))
    # A mean over two ways of measuring says nothing.
    conditions = repeats[-1].conditions if repeats else {}
    alike = [repeat.measurement for repeat in repeats if repeat.conditions == conditions]
    exact = StoredFigures(run, cell, image_bytes)
    return conditions, tuple(figures_of(cell.workload.rules.metrics, alike, exact)) if alike else ()


@dataclass(frozen=True, slots=True)
class _Repeat:
    measurement: RepeatMeasurement
    conditions: Mapping[str, str]


def _repeats(run: Run, cell: Cell) -> Iterator[_Repeat]:
    """Yield the repeats that ended `ok` and can be read, in order."""
    for stored in read_repeats(run, cell.id, range(cell.repeats)):
        if stored.result is None:
            continue
        with contextlib.suppress(ValueError):
            conditions = comparable.reported(comparable.surrounding([stored.result]))
            yield _Repeat(measured(stored.result, stored.outcome, cell), conditions)


def figures_of(
    metrics: Iterable[Metric], repeats: Sequence[RepeatMeasurement], exact: ExactFigures
) -> Iterator[Figure]:
    """Yield the geometric mean of each metric over its repeats, and the value of each exact metric.

    A metric with a repeat of 0 has no figure, since the mean of the others would hide it.
    """
    for metric in metrics:
        taken = [metric.exact(exact)] if metric.exact else [metric.take(each) for each in repeats if metric.take]
        values = [float(value) for value in taken if value is not None]
        if values and min(values) > 0:
            # One value by itself: the way over logarithms does not come back to it.
            mean = math.exp(math.fsum(map(math.log, values)) / len(values)) if len(values) > 1 else values[0]
            yield metric.name, mean, len(values)
