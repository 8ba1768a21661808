"""Figures that scripts printed, which are summarised over repeats and never compared with measured ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.user_files import PrintedMetric


@dataclass(frozen=True, slots=True)
class Printed:
    """One figure of one script, over its `ok` repeats."""

    name: str
    unit: str
    better: str
    """`higher` or `lower`, as in the matrix."""
    value: float
    """Median over the repeats, each of which is the median over its counted matches."""
    low: float
    high: float
    """The highest repeat, as `low` is the lowest; two or three repeats are too few for a meaningful interval."""
    repeats: tuple[float, ...]
    """The value of each `ok` repeat, in order."""
    matches: int
    """Matches in the output of all repeats together."""


def printed(metrics: Sequence[PrintedMetric], results: Sequence[ScriptResult]) -> tuple[Printed, ...]:
    """Return a summary of the figures that the repeats of one cell printed, or none without repeats.

    The order is that of the matrix.
    """
    return tuple(_summary(metric, results) for metric in metrics) if results else ()


def _summary(metric: PrintedMetric, results: Sequence[ScriptResult]) -> Printed:
    figures = [result.metrics[metric.name] for result in results]
    repeats = tuple(float(median(each.values)) for each in figures)
    return Printed(
        name=metric.name,
        unit=metric.unit,
        better=metric.better.value,
        value=float(median(repeats)),
        low=min(repeats),
        high=max(repeats),
        repeats=repeats,
        matches=sum(each.matches for each in figures),
    )
