"""The distance between the logarithms of two sides, with its standard error now and after more repeats."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from orchestrator.analysis.estimates import log_mean, quantile

_MOST_REPEATS = 1000
_ALIKE = 0.9
"""Share of the pairs that keep the common scatter if all pairs scatter alike.

At this one, a side that scatters five times as much as all others raises the errors of its pairs to no more than α.
"""


@dataclass(frozen=True, slots=True)
class Scatter:
    """The scatter of the ratios of paired repeats, estimated from more than the two sides that are compared."""

    variance: float
    """Variance of the logarithm of one ratio."""
    degrees: int
    """Its degrees of freedom."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Mean logarithm of a candidate less that of its baseline."""

    value: float
    variances: tuple[float, ...]
    """Variances of one repeat on the logarithms, of each side or of the ratios of paired repeats."""
    counts: tuple[int, ...]
    """Repeats that are compared: those behind each of the variances, unless the scatter is a common one."""
    common_degrees: int | None = None
    """Degrees of freedom of a common scatter; None if the variances are of the repeats alone."""

    @property
    def repeats(self) -> int:
        """Return the number of pairs, or of repeats of the side that has fewer."""
        return min(self.counts)

    def error(self, further: int = 0) -> float:
        """Return the standard error, now or after `further` repeats that scatter like those so far."""
        return math.sqrt(sum(v / (n + further) for v, n in zip(self.variances, self.counts, strict=True)))

    def degrees(self, further: int = 0) -> float:
        """Return the degrees of freedom of the standard error.

        They are those of a common scatter. Otherwise they are n - 1 for pairs, and follow Satterthwaite's formula for
        two sides. Each side needs two repeats or more.
        Source: Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2
        (1946).
        """
        if self.common_degrees is not None:
            return float(self.common_degrees)
        counts = [n + further for n in self.counts]
        shares = [v / n for v, n in zip(self.variances, counts, strict=True)]
        largest = max(shares)
        if largest == 0:
            return float(sum(n - 1 for n in counts))
        # Shares are relative to the largest, as the square of a tiny variance is no longer a float.
        relative = [share / largest for share in shares]
        return sum(relative) ** 2 / sum(share**2 / (n - 1) for share, n in zip(relative, counts, strict=True))

    def half_width(self, confidence: float, further: int = 0) -> float:
        """Return half of a two-sided t interval around the value, which is Welch's for two sides.

        Source: Welch, "The generalization of 'Student's' problem when several different population variances are
        involved", Biometrika 34 (1947).
        """
        return quantile(self.degrees(further), confidence) * self.error(further)


def contrast(
    candidate: Sequence[float], baseline: Sequence[float], *, paired: bool = False, scatter: Scatter | None = None
) -> Contrast:
    """Return the contrast of the repeats of a candidate and those of its baseline.

    With `paired`, the repeats at one place belong together, and the scatter is that of their ratios. A common scatter
    of more pairs takes its place if that has more degrees of freedom and the pairs do not scatter more than it, by an F
    test at 10 %. Source: Fisher, Statistical Methods for Research Workers (1925), for the F test.
    Raises `ValueError` if a side has no repeat, if a value is not positive and finite, and if the sides of pairs differ
    in length.
    """
    (mean_a, variance_a), (mean_b, variance_b) = _mean_and_variance(candidate), _mean_and_variance(baseline)
    if not paired:
        return Contrast(mean_a - mean_b, (variance_a, variance_b), (len(candidate), len(baseline)))
    n = len(candidate)
    if n != len(baseline):
        raise ValueError(f"paired repeats must be equally many: {len(baseline)} of the baseline, {n} of the candidate")
    logs = [math.log(a) - math.log(b) for a, b in zip(candidate, baseline, strict=True)]
    mean = math.fsum(logs) / n
    variance = math.fsum((log - mean) ** 2 for log in logs) / max(n - 1, 1)
    if scatter is not None and scatter.degrees > n - 1 and not _scatters_more(variance, n - 1, scatter):
        return Contrast(mean, (scatter.variance,), (n,), scatter.degrees)
    return Contrast(mean, (variance,), (n,))


def _scatters_more(variance: float, degrees: int, scatter: Scatter) -> bool:
    """Return true if a variance is larger than the common one by more than chance explains."""
    return degrees > 0 and variance > scatter.variance * _variance_ratio(degrees, scatter.degrees)


@cache
def _variance_ratio(degrees: int, others: int) -> float:
    """Return the quantile of the ratio of two estimates of one variance."""
    from scipy.special import fdtri  # noqa: PLC0415 - half a second, as in estimates.quantile

    return float(fdtri(degrees, others, _ALIKE))


def _mean_and_variance(values: Sequence[float]) -> tuple[float, float]:
    mean, squared_error = log_mean(values)
    return mean, squared_error * len(values)


def fewest_further(repeats: int, settled: Callable[[int], bool]) -> int | None:
    """Return the fewest further repeats that settle a comparison, or None if a thousand in all would not.

    `settled` answers for a number of further repeats, and stays True for larger numbers.
    """
    low, high = 0, _MOST_REPEATS - repeats
    if low >= high or not settled(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if settled(middle) else (middle, high)
    return high
