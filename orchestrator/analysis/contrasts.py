"""How far the logarithms of two sides lie apart, how sure that is, and how sure more repeats would make it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orchestrator.analysis.estimates import log_mean, quantile

_MOST_REPEATS = 1000


@dataclass(frozen=True, slots=True)
class Contrast:
    """Mean logarithm of a candidate less that of its baseline."""

    value: float
    variances: tuple[float, ...]
    """Of one repeat, on the logarithms: of each side, or of the ratios where the repeats are paired."""
    counts: tuple[int, ...]
    """Repeats behind each of the variances."""

    @property
    def repeats(self) -> int:
        """Of the side that has fewer; pairs, where they are paired."""
        return min(self.counts)

    def error(self, further: int = 0) -> float:
        """Standard error, as it is or as it would be after `further` repeats that scatter as those so far."""
        return math.sqrt(sum(v / (n + further) for v, n in zip(self.variances, self.counts, strict=True)))

    def degrees(self, further: int = 0) -> float:
        """Degrees of freedom of the standard error: n - 1 of pairs, of two sides by Satterthwaite's formula.

        Source: Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2
        (1946). Needs two repeats or more of each side.
        """
        counts = [n + further for n in self.counts]
        shares = [v / n for v, n in zip(self.variances, counts, strict=True)]
        largest = max(shares)
        if largest == 0:
            return float(sum(n - 1 for n in counts))
        # Relative to the largest: the square of a tiny variance is no longer a float.
        relative = [share / largest for share in shares]
        return sum(relative) ** 2 / sum(share**2 / (n - 1) for share, n in zip(relative, counts, strict=True))

    def half_width(self, confidence: float, further: int = 0) -> float:
        """Half of a two-sided t interval around the value; Welch's, where there are two sides.

        Source: Welch, "The generalization of 'Student's' problem when several different population variances are
        involved", Biometrika 34 (1947).
        """
        return quantile(self.degrees(further), confidence) * self.error(further)


def contrast(candidate: Sequence[float], baseline: Sequence[float], *, paired: bool = False) -> Contrast:
    """Hold the repeats of a candidate against those of its baseline.

    With `paired`, the repeats at one place belong together and their ratios are what scatters.
    Raises `ValueError` where a side has no repeat, or one that is not positive and finite, and where the sides of
    pairs differ in length.
    """
    (mean_a, variance_a), (mean_b, variance_b) = _mean_and_variance(candidate), _mean_and_variance(baseline)
    if not paired:
        return Contrast(mean_a - mean_b, (variance_a, variance_b), (len(candidate), len(baseline)))
    n = len(candidate)
    if n != len(baseline):
        raise ValueError(f"paired repeats must be equally many: {len(baseline)} of the baseline, {n} of the candidate")
    logs = [math.log(a) - math.log(b) for a, b in zip(candidate, baseline, strict=True)]
    mean = math.fsum(logs) / n
    return Contrast(mean, (math.fsum((log - mean) ** 2 for log in logs) / max(n - 1, 1),), (n,))


def _mean_and_variance(values: Sequence[float]) -> tuple[float, float]:
    mean, squared_error = log_mean(values)
    return mean, squared_error * len(values)


def fewest_further(repeats: int, settled: Callable[[int], bool]) -> int | None:
    """Fewest repeats beyond those at hand that settle it; None where a thousand in all would not.

    `settled` says so for a number of further repeats, and goes on saying so for larger ones.
    """
    low, high = 0, _MOST_REPEATS - repeats
    if low >= high or not settled(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if settled(middle) else (middle, high)
    return high
