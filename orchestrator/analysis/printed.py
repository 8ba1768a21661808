"""Figures that scripts printed: summarised from repeat to repeat, never measured, never compared with what is."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from orchestrator.brought import Metric
from orchestrator.results.scripts.contract import ScriptResult


@dataclass(frozen=True, slots=True)
class Printed:
    """One figure of one script, over its `ok` repeats."""

    name: str
    unit: str
    better: str
    """`higher` or `lower`, as the matrix says."""
    value: float
    """Median over the repeats; a repeat's own value is the median over the matches that count."""
    low: float
    high: float
    """The lowest and the highest repeat: two or three are too few for an interval that means something."""
    repeats: tuple[float, ...]
    """Of the `ok` repeats, in their order."""
    matches: int
    """In the output of all repeats together."""


def printed(metrics: Sequence[Metric], results: Sequence[ScriptResult]) -> tuple[Printed, ...]:
    """Summarise what the repeats of one cell printed, in the order of the matrix; empty without repeats."""
    return tuple(_summary(metric, results) for metric in metrics) if results else ()


def _summary(metric: Metric, results: Sequence[ScriptResult]) -> Printed:
    found = [result.metrics[metric.name] for result in results]
    repeats = tuple(float(median(each.values)) for each in found)
    return Printed(
        name=metric.name,
        unit=metric.unit,
        better=metric.better.value,
        value=float(median(repeats)),
        low=min(repeats),
        high=max(repeats),
        repeats=repeats,
        matches=sum(each.matches for each in found),
    )
