"""The scatter of many cells as a prior for one: what is known of a cell that was measured a few times, or never."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from orchestrator.analysis.estimates import bounded

LEAST_CELLS = 3
"""Cells whose variances say something of how variances differ."""
MOST_DEGREES = 1000.0
"""Variances that differ by no more than chance are taken to be one and the same, known with so many degrees."""
_LEAST_VARIANCE = 1e-12
"""Below a millionth, squared, repeats that do not scatter at all have no logarithm."""


@dataclass(frozen=True, slots=True)
class KnownVariance:
    """A variance with its degrees of freedom."""

    variance: float
    degrees: float
    excess: float = 0.0
    """Excess kurtosis of the values, which all cells of a host share; 0 for normal ones."""


def prior(cells: Sequence[KnownVariance]) -> KnownVariance | None:
    """Return the variance of a cell of which nothing is known but that it is one of these, or None with too few.

    The true variances are taken to have a scaled inverse chi-squared distribution, whose scale and degrees of freedom
    follow from mean and variance of the logarithms of the estimates. Source: Smyth, "Linear models and empirical Bayes
    methods for assessing differential expression", Statistical Applications in Genetics and Molecular Biology 3 (2004),
    section 6.2.
    """
    from scipy.special import digamma, polygamma  # noqa: PLC0415 - half a second, as in estimates.quantile

    if len(cells) < LEAST_CELLS:
        return None
    logs = [
        math.log(max(each.variance, _LEAST_VARIANCE)) - float(digamma(each.degrees / 2)) + math.log(each.degrees / 2)
        for each in cells
    ]
    mean = fmean(logs)
    spread = sum((log - mean) ** 2 for log in logs) / (len(logs) - 1)
    beyond_chance = spread - fmean(float(polygamma(1, each.degrees / 2)) for each in cells)
    degrees = 2 * _inverse_trigamma(beyond_chance) if beyond_chance > 0 else MOST_DEGREES
    degrees = min(degrees, MOST_DEGREES)
    variance = bounded(math.exp(mean + float(digamma(degrees / 2)) - math.log(degrees / 2)))
    return KnownVariance(variance, degrees, cells[0].excess)


def _inverse_trigamma(value: float) -> float:
    """Return the x whose trigamma function is a positive value, by bisection of its logarithm."""
    from scipy.special import polygamma  # noqa: PLC0415 - as above

    low, high = 1e-6, 1e6
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if polygamma(1, middle) > value else (low, middle)
    return math.sqrt(low * high)


def moderated(own: KnownVariance | None, before: KnownVariance | None) -> KnownVariance | None:
    """Return what is known of a cell by its own variance and the prior, weighted by their degrees of freedom."""
    if own is None or before is None:
        return own or before
    degrees = own.degrees + before.degrees
    variance = (own.variance * own.degrees + before.variance * before.degrees) / degrees
    return KnownVariance(variance, degrees, before.excess)
