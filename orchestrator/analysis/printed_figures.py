"""The figures of one repeat of a script."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from orchestrator.modes.parts.figures import GeneratedTimes, RequestShares, StepTimes, TimedEpochs
from orchestrator.results.scripts.contract import ScriptResult


@dataclass(frozen=True, slots=True)
class PrintedFigures:
    """The figures that a script printed in one repeat. It has none that we measure of our own steps."""

    printed: Mapping[str, float]
    """By name, each the median of the values that count."""
    peak_rss_bytes: int
    samples_per_s: float = 0.0
    phases_s: Sequence[tuple[str, float]] = ()
    latency: StepTimes | None = None
    epochs: TimedEpochs | None = None
    requests: RequestShares | None = None
    tokens: GeneratedTimes | None = None
    peak_device_bytes: int | None = None
    largest_batch: int | None = None
    joules_per_sample: float | None = None


def printed_figures(result: ScriptResult) -> PrintedFigures:
    """Return the figures of a script's result."""
    values = {name: float(median(each.values)) for name, each in result.metrics.items() if each.values}
    return PrintedFigures(values, result.memory.peak_rss_bytes)
