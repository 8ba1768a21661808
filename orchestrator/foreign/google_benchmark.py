"""Results of Google Benchmark, https://github.com/google/benchmark: repetitions in one process."""

from collections.abc import Sequence
from typing import Any

from orchestrator.foreign.model import ForeignBenchmark, ForeignContents, ForeignSamples
from orchestrator.foreign.parts import CPU_TIME, ONE_PROCESS, TIME, Figure, Lenient, has_items
from orchestrator.modes.parts.metrics import Better

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_FITTED = frozenset({"BigO", "RMS"})
"""Rows about all sizes of a benchmark together, which no benchmark has measured."""
_LACKS = "one repetition is no sample; run it with --benchmark_repetitions=10"
_AGGREGATES = "the file has a mean and no repetitions; run it without --benchmark_report_aggregates_only"


class _GoogleRow(Lenient):
    name: str
    run_name: str = ""
    run_type: str = "iteration"
    aggregate_name: str = ""
    real_time: Figure | None = None
    cpu_time: Figure | None = None
    time_unit: str = "ns"
    error_occurred: bool = False
    error_message: str = ""
    skipped: bool = False

    @property
    def benchmark(self) -> str:
        return self.run_name or self.name


class _GoogleContext(Lenient):
    date: str = ""
    host_name: str = ""
    num_cpus: int | None = None
    library_version: str = ""
    library_build_type: str = ""


class _GoogleFile(Lenient):
    context: _GoogleContext
    benchmarks: tuple[_GoogleRow, ...]


def is_one(document: Any) -> bool:
    """Return true for a document of Google Benchmark."""
    return (
        isinstance(document, dict) and "context" in document and has_items(document, "benchmarks", "name", "iterations")
    )


def contents(document: Any) -> ForeignContents:
    """Read a document. Every repetition is a sample. Raises `ValueError` for a mistake."""
    file = _GoogleFile.model_validate(document)
    rows: dict[str, list[_GoogleRow]] = {}
    for row in file.benchmarks:
        if row.skipped or row.aggregate_name in _FITTED:
            continue
        rows.setdefault(row.benchmark, []).append(row)
    cpus = file.context.num_cpus
    facts = {"hostname": file.context.host_name, "cpus": "" if cpus is None else str(cpus)}
    benchmarks = tuple(_benchmark(name, listed) for name, listed in rows.items())
    return ForeignContents(benchmarks, file.context.library_version.removeprefix("v"), file.context.date, facts)


def _benchmark(name: str, rows: Sequence[_GoogleRow]) -> ForeignBenchmark:
    failed = next((row for row in rows if row.error_occurred), None)
    if failed is not None:
        return ForeignBenchmark(name, failure=failed.error_message or "it reports an error")
    repetitions = [row for row in rows if row.run_type == "iteration"]
    means = [row for row in rows if row.aggregate_name == "mean"]
    counted = repetitions or means
    if not counted:
        return ForeignBenchmark(name, failure="it has neither repetitions nor a mean")
    lacks = (_LACKS if repetitions else _AGGREGATES) if len(counted) == 1 else ""
    wall, cpu = (
        [_seconds(row, value) for row in counted if (value := getattr(row, key)) is not None]
        for key in ("real_time", "cpu_time")
    )
    metrics = {TIME: wall, CPU_TIME: cpu}
    note = ONE_PROCESS if len(repetitions) > 1 else ""
    return ForeignBenchmark(
        name,
        {
            metric: ForeignSamples("s", Better.LOWER, tuple(values), lacks)
            for metric, values in metrics.items()
            if values
        },
        note=note,
    )


def _seconds(row: _GoogleRow, time: float) -> float:
    if row.time_unit not in _SECONDS:
        raise ValueError(f"{row.name}: unknown time_unit {row.time_unit!r}; there is {', '.join(_SECONDS)}")
    return time * _SECONDS[row.time_unit]
