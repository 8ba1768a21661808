"""Results of pytest-benchmark, https://pytest-benchmark.readthedocs.io: rounds of one process."""

from typing import Any

from pydantic import Field

from orchestrator.foreign.model import ForeignBenchmark, ForeignContents, ForeignSamples
from orchestrator.foreign.parts import TIME, Figure, Lenient, has_items, stretched, stretches
from orchestrator.modes.parts.metrics import Better

_LACKS = "the file has a median and no rounds; write it with --benchmark-json, or save it with --benchmark-save-data"


class _PytestStats(Lenient):
    median: Figure
    data: tuple[Figure, ...] = ()


class _PytestBenchmark(Lenient):
    name: str
    fullname: str = ""
    stats: _PytestStats


class _PytestFile(Lenient):
    version: str = ""
    datetime: str = ""
    machine_info: dict[str, Any] = Field(default_factory=dict)
    benchmarks: tuple[_PytestBenchmark, ...]


def is_one(document: Any) -> bool:
    """Return true for a document of pytest-benchmark."""
    return has_items(document, "benchmarks", "stats", "fullname")


def contents(document: Any) -> ForeignContents:
    """Read a document. Rounds are samples, many of them in stretches. Raises `ValueError` for a mistake."""
    file = _PytestFile.model_validate(document)
    info, cpu = file.machine_info, file.machine_info.get("cpu")
    cpu = cpu if isinstance(cpu, dict) else {}
    facts = {
        "hostname": info.get("node", ""), "cpu": cpu.get("brand_raw", ""), "cpus": cpu.get("count", ""),
        "python": info.get("python_version", ""),
    }  # fmt: skip
    benchmarks = tuple(map(_benchmark, file.benchmarks))
    return ForeignContents(benchmarks, file.version, file.datetime, {name: str(value) for name, value in facts.items()})


def _benchmark(benchmark: _PytestBenchmark) -> ForeignBenchmark:
    rounds = benchmark.stats.data
    if rounds:
        samples = ForeignSamples("s", Better.LOWER, stretches(rounds), note=stretched(len(rounds)))
    else:
        samples = ForeignSamples("s", Better.LOWER, (benchmark.stats.median,), _LACKS)
    return ForeignBenchmark(benchmark.fullname or benchmark.name, {TIME: samples})
