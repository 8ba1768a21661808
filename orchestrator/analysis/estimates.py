"""What repeats say about one cell: a value, an interval around it, and how far the repeats scatter."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.results.contract import LARGEST

CONFIDENCE = 0.95
PREDICTION = 0.99
"""Of prediction intervals: at this one, nine of ten re-measurements or more lie inside in 98 of 100 cases (at 0.95 it
would be 88), whatever the number of repeats."""
_LARGEST_LOG = math.log(sys.float_info.max)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A positive quantity estimated from independent repeats."""

    value: float
    """Geometric mean over the repeats."""
    low: float | None
    """Lower end of the interval; None where one repeat gives none."""
    high: float | None
    n: int
    next_low: float | None = None
    """Lower end of where one further repeat on the same host will lie, as far as these can tell: what differs between
    runs is in none of them. None where one repeat gives no scatter."""
    next_high: float | None = None
    confidence: float = CONFIDENCE
    prediction: float = PREDICTION


def estimate(repeat_values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Estimate a rate or a duration from the values of its repeats.

    Geometric mean with Student's t interval on the logarithms, n - 1 degrees of freedom: repeats scatter by
    factors, not by amounts. Source: Student, "The probable error of a mean", Biometrika 6 (1908), on log values.
    Raises `ValueError` where there is no value, or one that is not positive and finite.
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
    """Where the geometric mean of `further` repeats to come on the same host will lie, given those so far.

    Student's t prediction interval on the logarithms: n - 1 degrees of freedom, standard deviation of the repeats
    times √(1/n + 1/further). Source: Whitmore, "Prediction limits for a univariate normal observation", The American
    Statistician 40 (1986). Two Nones where one repeat says nothing about scatter.
    Raises `ValueError` where there is no value, or one that is not positive and finite.
    """
    mean, squared_error = log_mean(repeat_values)
    n = len(repeat_values)
    if n < 2:
        return None, None
    half = quantile(n - 1, confidence) * math.sqrt(squared_error * (1 + n / further))
    return exponential(mean - half), exponential(mean + half)


def exponential(log: float) -> float:
    """Inverse of the logarithm, held inside `LARGEST`: two repeats that lie far apart bound next to nothing."""
    return bounded(math.exp(max(-_LARGEST_LOG, min(log, _LARGEST_LOG))))


def bounded(ratio: float) -> float:
    """A positive ratio, held inside what a figure may be."""
    return max(1 / LARGEST, min(ratio, LARGEST))


def log_mean(values: Sequence[float]) -> tuple[float, float]:
    """Mean of the logarithms and the squared standard error of that mean (0 where one value gives none).

    Raises `ValueError` where there is no value, or one that is not positive and finite.
    """
    if not values:
        raise ValueError("no repeats to estimate from")
    # An integer may be finite, and no float.
    if not all(0 < value <= sys.float_info.max for value in values):
        raise ValueError("a rate or a duration must be positive and finite")
    logs = [math.log(value) for value in values]
    mean = math.fsum(logs) / len(logs)
    if len(logs) < 2:
        return mean, 0.0
    return mean, math.fsum((log - mean) ** 2 for log in logs) / (len(logs) - 1) / len(logs)


def quantile(degrees: float, confidence: float) -> float:
    """Half width, in standard errors, of a two-sided Student t interval."""
    # Half a second, which no command should pay that estimates nothing.
    from scipy.special import stdtrit  # noqa: PLC0415

    return float(stdtrit(degrees, 0.5 + confidence / 2))


def variation(values: Sequence[float]) -> float | None:
    """Coefficient of variation, standard deviation (n - 1) over mean; None with fewer than two values."""
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)) / mean
