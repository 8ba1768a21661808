"""What repeats say about one cell: a value, an interval around it, and how far the repeats scatter."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A positive quantity estimated from independent repeats."""

    value: float
    """Geometric mean over the repeats."""
    low: float | None
    """Lower end of the interval; None where one repeat gives none."""
    high: float | None
    n: int
    confidence: float = CONFIDENCE

    @property
    def has_interval(self) -> bool:
        """Whether there were repeats enough, two, to say how sure the value is."""
        return self.low is not None


def estimate(repeat_values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Estimate a rate or a duration from the values of its repeats.

    Geometric mean with Student's t interval on the logarithms, n - 1 degrees of freedom: repeats scatter by
    factors, not by amounts. Source: Student, "The probable error of a mean", Biometrika 6 (1908), on log values.
    Raises `ValueError` where there is no value, or one that is not positive and finite.
    """
    mean, squared_error = log_mean(repeat_values)
    n = len(repeat_values)
    if n < 2:
        return Estimate(math.exp(mean), None, None, n, confidence)
    half = quantile(n - 1, confidence) * math.sqrt(squared_error)
    return Estimate(math.exp(mean), math.exp(mean - half), math.exp(mean + half), n, confidence)


def log_mean(values: Sequence[float]) -> tuple[float, float]:
    """Mean of the logarithms and the squared standard error of that mean (0 where one value gives none).

    Raises `ValueError` where there is no value, or one that is not positive and finite.
    """
    if not values:
        raise ValueError("no repeats to estimate from")
    if not all(math.isfinite(value) and value > 0 for value in values):
        raise ValueError("a rate or a duration must be positive and finite")
    logs = [math.log(value) for value in values]
    mean = math.fsum(logs) / len(logs)
    if len(logs) < 2:
        return mean, 0.0
    return mean, math.fsum((log - mean) ** 2 for log in logs) / (len(logs) - 1) / len(logs)


def quantile(degrees: float, confidence: float) -> float:
    """Half width, in standard errors, of a two-sided Student t interval."""
    return float(stdtrit(degrees, 0.5 + confidence / 2))


def variation(values: Sequence[float]) -> float | None:
    """Coefficient of variation, standard deviation (n - 1) over mean; None with fewer than two values."""
    if len(values) < 2:
        return None
    return float(np.std(values, ddof=1) / np.mean(values))
