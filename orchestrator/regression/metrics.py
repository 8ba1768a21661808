"""The metrics, each with its direction, its tolerance, and its source."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.analysis import RepeatMeasurement
from orchestrator.errors import InputError
from orchestrator.matrix.hints import did_you_mean

_COLD = ("create", "import", "data", "build", "first_step")
"""The phases of a container until its first step is done."""


class Better(StrEnum):
    """Which way a metric gets better."""

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
    take: Callable[[RepeatMeasurement], float | None] | None
    """Its value in one repeat, None where that has none; no function for what is known of a side once and exactly."""
    gates: bool = False
    """True if it decides by default."""
    share: float | None = None
    """Of a percentile of single steps: the share of steps that are as fast; None for any other metric."""

    @property
    def is_exact(self) -> bool:
        """Return true if the metric is known exactly, without scatter, and costs no share of alpha."""
        return self.take is None

    def is_worse(self, ratio: float) -> bool:
        """Return true if a change by this ratio is one for the worse."""
        return self.better is Better.EQUAL or (ratio < 1) == (self.better is Better.HIGHER)


def least_steps_of_a_repeat(share: float) -> int:
    """Return the fewest steps of which a percentile is more than the slowest one: 100 for the p99."""
    return round(1 / (1 - share))


def _percentile(name: str, title: str, tolerance: float, share: float) -> Metric:
    least = least_steps_of_a_repeat(share)

    def take(repeat: RepeatMeasurement) -> float | None:
        if repeat.latency is None or repeat.latency.n < least:
            return None
        return float(getattr(repeat.latency, f"{name}_s"))

    return Metric(f"latency_{name}", title, "s", Better.LOWER, tolerance, take, share=share)


def _cold_start(repeat: RepeatMeasurement) -> float | None:
    spent = dict(repeat.phases_s)
    return sum(spent.get(phase, 0.0) for phase in _COLD) if "create" in spent else None


METRICS: Final[tuple[Metric, ...]] = (
    Metric(
        "throughput", "throughput", "samples/s", Better.HIGHER, 0.02, lambda repeat: repeat.samples_per_s, gates=True
    ),
    Metric("loss", "loss after ten steps", "", Better.EQUAL, 1e-4, None, gates=True),
    _percentile("p50", "step, median", 0.02, 0.5),
    _percentile("p90", "step, 90th percentile", 0.05, 0.9),
    _percentile("p99", "step, 99th percentile", 0.1, 0.99),
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
    Metric("image_size", "image size", "B", Better.LOWER, 0.05, None),
)
BY_NAME: Final[Mapping[str, Metric]] = {metric.name: metric for metric in METRICS}


@dataclass(frozen=True, slots=True)
class Gate:
    """A metric that decides, with the tolerance it is held to."""

    metric: str
    tolerance: float
    model: str = ""
    """The one model that the tolerance is for; empty: every other one. The metric decides for all in either case."""


DEFAULT_GATES: Final = tuple(Gate(metric.name, metric.tolerance) for metric in METRICS if metric.gates)
_SPEC = re.compile(r"(?P<name>[^=@]+)(?:@(?P<model>[^=]+))?(?:=(?P<tolerance>.+))?")


def parse_gates(texts: Sequence[str], option: str, models: Sequence[str]) -> tuple[Gate, ...]:
    """Read metrics such as `throughput`, `throughput=3%` and `throughput@mlp=0.05`.

    What is given for all models takes the place of the default ones. A tolerance for one model says nothing of what
    else decides: where nothing else is given, the default ones stay beside it. Raises `InputError` with every mistake.
    """
    parsed: dict[tuple[str, str], Gate] = {}
    mistakes = []
    for text in texts:
        try:
            gate = _gate(text, models)
            if (gate.metric, gate.model) in parsed:
                raise ValueError("is given twice; keep one")
        except ValueError as error:
            mistakes.append(f"{option} {text!r}: {error}")
        else:
            parsed[gate.metric, gate.model] = gate
    if mistakes:
        raise InputError(*mistakes)
    given = tuple(parsed.values())
    return given if any(not gate.model for gate in given) else (*DEFAULT_GATES, *given)


def tolerance(gates: Sequence[Gate], metric: Metric, model: str) -> tuple[bool, float]:
    """Return if a metric decides, and its tolerance for a model.

    What is named for one model decides for all: the others are held to the tolerance that it has by itself.
    """
    own = {gate.model: gate.tolerance for gate in gates if gate.metric == metric.name}
    return bool(own), own.get(model, own.get("", metric.tolerance))


def _gate(text: str, models: Sequence[str]) -> Gate:
    match = _SPEC.fullmatch(text.strip())
    name = match["name"].strip() if match else text
    metric = BY_NAME.get(name)
    if match is None or metric is None:
        raise ValueError(f"unknown metric{did_you_mean(name, tuple(BY_NAME))}")
    model = (match["model"] or "").strip()
    if model and model not in models:
        raise ValueError(f"the matrix has no model {model!r}{did_you_mean(model, tuple(models))}")
    return Gate(name, _share(match["tolerance"]) if match["tolerance"] else metric.tolerance, model)


def _share(text: str) -> float:
    """`3%` and `0.03` as 0.03."""
    number = text.strip()
    try:
        share = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise ValueError(f"{number!r} is no tolerance; write a share of the baseline, such as 2% or 0.02")
    return share
