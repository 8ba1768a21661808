"""The metrics of all modes as columns, taken from the registry of modes, so that none is left out."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from orchestrator import modes
from orchestrator.domain import Cell
from orchestrator.modes.parts.metrics import Better, Metric
from orchestrator.tables.columns import ColumnKind, TableColumn

_DIRECTION = {Better.HIGHER: "higher is better", Better.LOWER: "lower is better", Better.EQUAL: "no change is good"}


def every_metric() -> Iterator[Metric]:
    """Yield each metric that a mode measures or shows, each once."""
    rules = (*modes.RULES.values(), *modes.BY_TOKENS.values(), *modes.SEARCHES.values())
    every = chain(modes.METRICS, *((*each.metrics, *each.columns) for each in rules))
    yield from {metric.name: metric for metric in every}.values()


def names_of(cell: Cell | None) -> frozenset[str]:
    """Return the metrics of the mode of a cell. If the cell is not known, these are all.

    A figure that the mode does not stand for, such as the throughput of a search, is no value of a metric.
    """
    if cell is None:
        return frozenset(metric.name for metric in every_metric())
    rules = cell.workload.rules
    return frozenset(metric.name for metric in (*rules.metrics, *rules.columns))


def _described(metric: Metric) -> str:
    return f"{metric.title[:1].upper()}{metric.title[1:]}; {_DIRECTION[metric.better]}."


def _column(metric: Metric, source: Any) -> TableColumn:
    return TableColumn(metric.name, ColumnKind.NUMBER, _described(metric), source, metric.unit)


def _of_repeat(metric: Metric) -> Any:
    take = metric.take
    assert take is not None  # noqa: S101 -- the metric is none of the exact ones
    return lambda source: take(source.figures) if metric.name in source.metrics else None


def _of_cell(metric: Metric) -> Any:
    return lambda source: source.exact.get(metric.name)


OF_REPEATS = tuple(_column(metric, _of_repeat(metric)) for metric in every_metric() if not metric.is_exact)
"""Metrics that scatter from repeat to repeat."""
OF_CELLS = tuple(_column(metric, _of_cell(metric)) for metric in every_metric() if metric.is_exact)
"""Metrics that are known once for each cell of a run."""
