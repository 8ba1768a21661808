"""Bencher Metric Format, which `bencher run --adapter json` and its API read.

Source: the JSON Schema https://bencher.dev/bmf.json
"""

from collections.abc import Iterator, Sequence

from orchestrator.documents import json_text
from orchestrator.reporting.measures import MeasuredMetric, MeasuredRun, named

_MOST_CHARACTERS = 1024
"""Of the name of a benchmark."""
_MOST_OF_A_MEASURE = 64


def texts(runs: Sequence[MeasuredRun]) -> Iterator[str]:
    """Render an object with the measures of every benchmark, each with the ends of its interval."""
    benchmarks: dict[str, dict[str, dict[str, float]]] = {}
    for name, _, measure in named(runs):
        benchmarks.setdefault(name[:_MOST_CHARACTERS], {})[measure.metric[:_MOST_OF_A_MEASURE]] = _figures(measure)
    yield json_text(benchmarks, indent=1) + "\n"


def _figures(measure: MeasuredMetric) -> dict[str, float]:
    ends = {"lower_value": measure.low, "upper_value": measure.high}
    return {"value": measure.value, **{key: end for key, end in ends.items() if end is not None}}
