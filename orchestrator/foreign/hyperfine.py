"""Results of hyperfine, https://github.com/sharkdp/hyperfine: every run of a command is a process."""

from typing import Any

from orchestrator.foreign.model import ForeignBenchmark, ForeignContents, ForeignSamples
from orchestrator.foreign.parts import TIME, Figure, Lenient, has_items
from orchestrator.modes.parts.metrics import Better

_LACKS = "the file has a mean and no times; write it with --export-json"


class _HyperfineResult(Lenient):
    command: str
    mean: Figure
    times: tuple[Figure, ...] | None = None
    exit_codes: tuple[int | None, ...] = ()


class _HyperfineFile(Lenient):
    results: tuple[_HyperfineResult, ...]


def is_one(document: Any) -> bool:
    """Return true for a document of hyperfine."""
    return has_items(document, "results", "command", "mean")


def contents(document: Any) -> ForeignContents:
    """Read a document. Every run that ended with 0 is a sample. Raises `ValueError` for a mistake."""
    return ForeignContents(tuple(map(_benchmark, _HyperfineFile.model_validate(document).results)))


def _benchmark(result: _HyperfineResult) -> ForeignBenchmark:
    if not result.times:
        return ForeignBenchmark(result.command, {TIME: ForeignSamples("s", Better.LOWER, (result.mean,), _LACKS)})
    codes = result.exit_codes or (0,) * len(result.times)
    good = tuple(time for time, code in zip(result.times, codes, strict=False) if code == 0)
    failed = [code for code in codes if code != 0]
    if not good:
        return ForeignBenchmark(result.command, failure=f"every run failed, the first with exit status {failed[0]}")
    note = f"{len(failed)} of {len(codes)} runs failed, and do not count" if failed else ""
    return ForeignBenchmark(result.command, {TIME: ForeignSamples("s", Better.LOWER, good)}, note=note)
