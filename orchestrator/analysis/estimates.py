"""Estimates of one cell from its repeats, with a value, an interval and the scatter.

Figures that scripts printed are summarised over repeats, and never compared with measured ones.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from orchestrator.results.contract import LARGEST
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.user_files import PrintedMetric

CONFIDENCE = 0.95
PREDICTION = 0.99
"""Confidence of prediction intervals.

At this one, nine of ten re-measurements or more lie inside in 98 of 100 cases (at 0.95 it would be 88), whatever the
number of repeats.
"""
_LARGEST_LOG = math.log(sys.float_info.max)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A positive quantity estimated from independent repeats."""

    value: float
    """Geometric mean over the repeats."""
    low: float | None
    """Lower end of the interval; None for one repeat."""
    high: float | None
    n: int
    next_low: float | None = None
    """Lower end of the prediction for one further repeat on the same host.

    Differences between runs are not part of it. None for one repeat, which has no scatter.
    """
    next_high: float | None = None
    confidence: float = CONFIDENCE
    prediction: float = PREDICTION


def estimate(repeat_values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Estimate a rate or a duration from the values of its repeats.

    It is the geometric mean with Student's t interval on the logarithms, n - 1 degrees of freedom, because repeats
    scatter by factors and not by amounts. Source: Student, "The probable error of a mean", Biometrika 6 (1908), on log
    values. Raises `ValueError` if there is no value, or one that is not positive and finite.
    """
    mean, squared_error = log_mean(repeat_values)
    n = len(repeat_values)
    if n < 2:
        return Estimate(math.exp(mean), None, None, n, confidence=confidence)
    half = quantile(n - 1, confidence) * math.sqrt(squared_error)
    next_low, next_high = prediction(repeat_values)
    return Estimate(
        math.exp(mean), exponential(mean - half), exponential(mean + half), n, next_low, next_high, confidence
    )


def prediction(
    repeat_values: Sequence[float], further: int = 1, confidence: float = PREDICTION
) -> tuple[float, float] | tuple[None, None]:
    """Return the interval in which the geometric mean of `further` repeats on the same host will lie.

    It is Student's t prediction interval on the logarithms, with n - 1 degrees of freedom and the standard deviation of
    the repeats times √(1/n + 1/further). Source: Whitmore, "Prediction limits for a univariate normal observation", The
    American Statistician 40 (1986). Both ends are None for one repeat, which says nothing about scatter.
    Raises `ValueError` if there is no value, or one that is not positive and finite.
    """
    mean, squared_error = log_mean(repeat_values)
    n = len(repeat_values)
    if n < 2:
        return None, None
    half = quantile(n - 1, confidence) * math.sqrt(squared_error * (1 + n / further))
    return exponential(mean - half), exponential(mean + half)


def exponential(log: float) -> float:
    """Return the exponential of a logarithm, kept inside `LARGEST`.

    Two repeats that lie far apart bound next to nothing.
    """
    return bounded(math.exp(max(-_LARGEST_LOG, min(log, _LARGEST_LOG))))


def bounded(ratio: float) -> float:
    """Return a positive ratio, kept inside the range that a figure may have."""
    return max(1 / LARGEST, min(ratio, LARGEST))


def log_mean(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of the logarithms and its squared standard error, which is 0 for one value.

    Raises `ValueError` if there is no value, or one that is not positive and finite.
    """
    if not values:
        raise ValueError("no repeats to estimate from")
    # An integer may be finite and still too large for a float.
    if not all(0 < value <= sys.float_info.max for value in values):
        raise ValueError("a rate or a duration must be positive and finite")
    logs = [math.log(value) for value in values]
    mean = math.fsum(logs) / len(logs)
    if len(logs) < 2:
        return mean, 0.0
    return mean, math.fsum((log - mean) ** 2 for log in logs) / (len(logs) - 1) / len(logs)


def quantile(degrees: float, confidence: float) -> float:
    """Return the half width of a two-sided Student t interval, in standard errors."""
    # The import takes half a second, and only commands that estimate need it.
    from scipy.special import stdtrit  # noqa: PLC0415

    return float(stdtrit(degrees, 0.5 + confidence / 2))


def variation(values: Sequence[float]) -> float | None:
    """Return the coefficient of variation, or None with fewer than two values.

    It is the standard deviation (n - 1) over the mean.
    """
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)) / mean


@dataclass(frozen=True, slots=True)
class Printed:
    """One figure of one script, over its `ok` repeats."""

    name: str
    unit: str
    better: str
    """`higher` or `lower`, as in the matrix."""
    value: float
    """Median over the repeats, each of which is the median over its counted matches."""
    low: float
    high: float
    """The highest repeat, as `low` is the lowest; two or three repeats are too few for a meaningful interval."""
    repeats: tuple[float, ...]
    """The value of each `ok` repeat, in order."""
    matches: int
    """Matches in the output of all repeats together."""


def printed(metrics: Sequence[PrintedMetric], results: Sequence[ScriptResult]) -> tuple[Printed, ...]:
    """Return a summary of the figures that the repeats of one cell printed, or none without repeats.

    The order is that of the matrix.
    """
    return tuple(_summary(metric, results) for metric in metrics) if results else ()


def _summary(metric: PrintedMetric, results: Sequence[ScriptResult]) -> Printed:
    figures = [result.metrics[metric.name] for result in results]
    repeats = tuple(float(median(each.values)) for each in figures)
    return Printed(
        name=metric.name,
        unit=metric.unit,
        better=metric.better.value,
        value=float(median(repeats)),
        low=min(repeats),
        high=max(repeats),
        repeats=repeats,
        matches=sum(each.matches for each in figures),
    )
