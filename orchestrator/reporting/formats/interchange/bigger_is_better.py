"""Entries for `tool: customBiggerIsBetter` of github-action-benchmark: metrics that are better high.

Source: https://github.com/benchmark-action/github-action-benchmark, src/extract.ts
"""

from collections.abc import Iterator, Sequence

from orchestrator.documents import json_text
from orchestrator.modes.parts.metrics import Better
from orchestrator.reporting.measures import MeasuredMetric, MeasuredRun, named


def texts(runs: Sequence[MeasuredRun]) -> Iterator[str]:
    """Render a list with an entry for every metric that is better high."""
    yield entries(runs, Better.HIGHER)


def entries(runs: Sequence[MeasuredRun], better: Better) -> str:
    """Return a list with an entry for every metric of this direction, as text."""
    listed = [_entry(name, run, measure) for name, run, measure in named(runs) if measure.better is better]
    return json_text(listed, indent=1) + "\n"


def _entry(name: str, run: MeasuredRun, measure: MeasuredMetric) -> dict[str, str | float]:
    entry: dict[str, str | float] = {
        "name": f"{name} {measure.metric}", "unit": measure.unit or "1", "value": measure.value,
    }  # fmt: skip
    if measure.low is not None and measure.high is not None:
        # The action reads one number after the sign: the wider half of the interval.
        entry["range"] = f"± {max(measure.high - measure.value, measure.value - measure.low):.6g}"
    repeats = [f"repeats: {len(measure.values)}"] if measure.values else []
    return entry | {"extra": "\n".join((f"run: {run.run}", f"host: {run.host}", *repeats))}
