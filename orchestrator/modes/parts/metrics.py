"""Metrics with their direction and tolerance, and those of every mode that times the steps of a session."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.modes.parts.figures import ExactFigures, RepeatFigures, StepTimes

_COLD = ("create", "import", "data", "build", "first_step")
"""The phases of a container until its first step is done."""


class Better(StrEnum):
    """The direction in which a metric gets better."""

    HIGHER = "higher"
    LOWER = "lower"
    EQUAL = "equal"
    """Neither way: whatever moves it is worse."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of a cell."""

    name: str
    title: str
    unit: str
    better: Better
    tolerance: float
    """Relative change, either way, that makes no difference to anyone."""
    take: Callable[[RepeatFigures], float | None] | None
    """Returns its value in one repeat, or None; no function if the metric is exact."""
    gates: bool = False
    """True if it decides by default."""
    share: float | None = None
    """Of a percentile of single steps: the share of steps that are as fast; None for any other metric."""
    exact: Callable[[ExactFigures], float | None] | None = None
    """Returns its value in one run, or None; no function if the metric scatters from repeat to repeat."""
    by_parity: bool = False
    """True for an exact metric that parity compares as `losses`: no change within the bar of parity is one."""
    bound: Callable[[RepeatFigures], float | None] | None = None
    """Returns the most that a percentile is shown to be in one repeat, or None; reports show both."""

    def __post_init__(self) -> None:
        """Refuse a metric without a source and one with two. Raises `ValueError`."""
        if (self.take is None) == (self.exact is None):
            raise ValueError(f"the metric {self.name!r} needs one source: either `take` or `exact`")

    @property
    def is_exact(self) -> bool:
        """Return true if the metric is known exactly, without scatter, and costs no share of alpha."""
        return self.exact is not None

    @property
    def higher_is_better(self) -> bool:
        """Return true if more of it is better."""
        return self.better is Better.HIGHER

    def is_worse(self, ratio: float) -> bool:
        """Return true if a change by this ratio is one for the worse."""
        return self.better is Better.EQUAL or (ratio < 1) == self.higher_is_better


def least_steps_of_a_repeat(share: float) -> int:
    """Return the fewest steps of which a percentile is more than the slowest one, which is 100 for the p99."""
    return round(1 / (1 - share))


def _percentile(
    name: str, title: str, tolerance: float, share: float, of_steps: Callable[[StepTimes], float]
) -> Metric:
    least = least_steps_of_a_repeat(share)

    def take(repeat: RepeatFigures) -> float | None:
        if repeat.latency is None or repeat.latency.n < least:
            return None
        return of_steps(repeat.latency)

    return Metric(name, title, "s", Better.LOWER, tolerance, take, share=share)


def _cold_start(repeat: RepeatFigures) -> float | None:
    spent = dict(repeat.phases_s)
    return sum(spent.get(phase, 0.0) for phase in _COLD) if "create" in spent else None


FIRST_EPOCH: Final = Metric(
    "first_epoch_time",
    "to the end of the first epoch",
    "s",
    Better.LOWER,
    0.05,
    lambda repeat: repeat.epochs.total_s - sum(repeat.epochs.epoch_s[1:]) if repeat.epochs else None,
)
"""The first step and the first epoch, with compilation and cold caches.

Reports show it, and no regression test judges it.
"""

ENERGY: Final = Metric(
    "energy_per_sample", "energy per sample", "J", Better.LOWER, 0.05, lambda repeat: repeat.joules_per_sample
)
"""The energy of the GPUs over the steady phase.

Reports show it where it is known, and no regression test judges it.
"""

TIMED: Final[tuple[Metric, ...]] = (
    Metric(
        "throughput", "throughput", "samples/s", Better.HIGHER, 0.02, lambda repeat: repeat.samples_per_s, gates=True
    ),
    Metric(
        "loss",
        "loss after ten steps",
        "",
        Better.EQUAL,
        1e-4,
        None,
        gates=True,
        exact=lambda run: run.last_loss,
        by_parity=True,
    ),
    _percentile("latency_p50", "step, median", 0.02, 0.5, lambda steps: steps.p50_s),
    _percentile("latency_p90", "step, 90th percentile", 0.05, 0.9, lambda steps: steps.p90_s),
    _percentile("latency_p99", "step, 99th percentile", 0.1, 0.99, lambda steps: steps.p99_s),
    Metric("cold_start", "cold start", "s", Better.LOWER, 0.05, _cold_start),
    Metric("first_step", "first step", "s", Better.LOWER, 0.1, lambda repeat: dict(repeat.phases_s).get("first_step")),
    Metric(
        "total_time",
        "total time",
        "s",
        Better.LOWER,
        0.02,
        lambda repeat: repeat.epochs.total_s if repeat.epochs else None,
    ),
    Metric("peak_memory", "peak memory", "B", Better.LOWER, 0.05, lambda repeat: float(repeat.peak_rss_bytes)),
    Metric(
        "peak_device_memory", "peak device memory", "B", Better.LOWER, 0.05, lambda repeat: repeat.peak_device_bytes
    ),
    Metric(
        "accuracy",
        "test accuracy",
        "",
        Better.HIGHER,
        0.01,
        lambda repeat: repeat.epochs.curve[-1].test_accuracy if repeat.epochs and repeat.epochs.curve else None,
    ),
    Metric("image_size", "image size", "B", Better.LOWER, 0.05, None, exact=lambda run: run.image_bytes),
)
"""In the order in which they are shown. A repeat without a figure has no value of its metric."""
