"""Bencher Metric Format, https://bencher.dev/docs/reference/bencher-metric-format: one value for each measure."""

from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from orchestrator.foreign.model import ForeignBenchmark, ForeignContents, ForeignSamples
from orchestrator.foreign.parts import Lenient
from orchestrator.modes import METRICS
from orchestrator.modes.parts.metrics import Better

_LACKS = "a single value is no sample; give several files of each side, as in A1.json,A2.json B1.json,B2.json"
_BY_NAME = {metric.name: metric for metric in METRICS}
_LOWER, _HIGHER = ("latency", "build-time", "file-size"), ("throughput",)
_BETTER = {**dict.fromkeys(_LOWER, Better.LOWER), **dict.fromkeys(_HIGHER, Better.HIGHER)}
_RATIO = "_ratio"


class _BencherMetric(Lenient):
    value: Annotated[float, Field(allow_inf_nan=False)]


_FILE = TypeAdapter(dict[str, dict[str, _BencherMetric]])


def is_one(document: Any) -> bool:
    """Return true for an object of objects of objects with a value each, or one that means to be that."""
    if not isinstance(document, dict) or not document:
        return False
    measures = [measure for each in document.values() if isinstance(each, dict) for measure in each.values()]
    return all(isinstance(each, dict) for each in document.values()) and any(
        isinstance(measure, dict) and "value" in measure for measure in measures
    )


def contents(document: Any) -> ForeignContents:
    """Read a document. The format has neither samples nor directions. Raises `ValueError` for a mistake."""
    benchmarks = _FILE.validate_python(document)
    return ForeignContents(
        tuple(
            ForeignBenchmark(name, {measure: _samples(measure, metric) for measure, metric in measures.items()})
            for name, measures in benchmarks.items()
        )
    )


def _samples(measure: str, metric: _BencherMetric) -> ForeignSamples:
    ours = _BY_NAME.get(measure.removesuffix(_RATIO))
    better = ours.better if ours else _BETTER.get(measure)
    unit = ours.unit if ours and not measure.endswith(_RATIO) else ""
    return ForeignSamples(unit, better, (metric.value,), _LACKS)
