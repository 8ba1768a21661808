"""Results of pyperf, https://pyperf.readthedocs.io/en/latest/json.html: values of worker processes."""

import statistics
from typing import Any

from pydantic import Field

from orchestrator.foreign.model import ForeignBenchmark, ForeignContents, ForeignSamples
from orchestrator.foreign.parts import MEMORY, ONE_PROCESS, TIME, Figure, Lenient, has_items
from orchestrator.modes.parts.metrics import Better

_METRICS = {"second": (TIME, "s"), "byte": (MEMORY, "B"), "integer": ("value", "")}
_FACTS = {
    "hostname": "hostname", "cpu": "cpu_model_name", "cpus": "cpu_count", "python": "python_version",
    "platform": "platform",
}  # fmt: skip


class _PyperfRun(Lenient):
    metadata: dict[str, Any] = Field(default_factory=dict)
    values: tuple[Figure, ...] = ()


class _PyperfBenchmark(Lenient):
    metadata: dict[str, Any] = Field(default_factory=dict)
    runs: tuple[_PyperfRun, ...] = Field(min_length=1)


class _PyperfSuite(Lenient):
    metadata: dict[str, Any] = Field(default_factory=dict)
    benchmarks: tuple[_PyperfBenchmark, ...]


def is_one(document: Any) -> bool:
    """Return true for a document of pyperf."""
    return has_items(document, "benchmarks", "runs")


def contents(document: Any) -> ForeignContents:
    """Read a document. A process is a sample, with the median of its values. Raises `ValueError` for a mistake."""
    suite = _PyperfSuite.model_validate(document)
    metadata = [suite.metadata | each.metadata | each.runs[0].metadata for each in suite.benchmarks]
    benchmarks = tuple(map(_benchmark, suite.benchmarks, metadata))
    common = metadata[0] if metadata else {}
    dates = [str(run.metadata.get("date", "")) for each in suite.benchmarks for run in each.runs]
    return ForeignContents(
        benchmarks,
        str(common.get("perf_version", "")),
        min(filter(None, dates), default=str(common.get("date", ""))).partition(".")[0],
        {ours: str(common.get(theirs, "")) for ours, theirs in _FACTS.items()},
    )


def _benchmark(benchmark: _PyperfBenchmark, metadata: dict[str, Any]) -> ForeignBenchmark:
    name, unit = str(metadata.get("name", "unnamed")), str(metadata.get("unit", "second"))
    if unit not in _METRICS:
        raise ValueError(f"{name}: unknown unit {unit!r}; there is {', '.join(_METRICS)}")
    metric, ours = _METRICS[unit]
    processes = [run.values for run in benchmark.runs if run.values]
    if len(processes) == 1:
        samples = ForeignSamples(ours, Better.LOWER, processes[0], note=ONE_PROCESS)
    else:
        samples = ForeignSamples(ours, Better.LOWER, tuple(map(statistics.median, processes)))
    return ForeignBenchmark(name, {metric: samples}, "" if processes else "it has no values")
