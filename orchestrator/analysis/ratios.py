"""What repeats say about two cells: a ratio, its interval, a verdict, and the ranks that follow in a group."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.analysis.estimates import CONFIDENCE, Estimate, exponential, log_mean, quantile

TOLERANCE = 0.02
"""Ratios between 1/1.02 and 1.02 make no difference to anyone."""
_MOST_REPEATS = 1000


class Verdict(StrEnum):
    """What may be said of a candidate beside its baseline."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    """The whole interval lies inside the tolerance."""
    INCONCLUSIVE = "inconclusive"
    """The interval holds 1, or there is none."""
    NOT_COMPARABLE = "not comparable"
    """The two do not do the same work; the ratio is shown, and says nothing."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Rate of a candidate over rate of its baseline: above 1 the candidate is faster."""

    value: float
    low: float | None
    """Lower end of the interval; None where a side was measured once."""
    high: float | None
    verdict: Verdict
    more_repeats: int | None = None
    """Only where inconclusive: about how many further repeats of each side would settle it, if value and scatter
    stay as they are; None where that cannot be said or is out of reach."""
    confidence: float = CONFIDENCE
    tolerance: float = TOLERANCE

    @property
    def inverse(self) -> "Ratio":
        """The same comparison seen from the baseline."""
        swapped = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
        return Ratio(
            1 / self.value,
            None if self.high is None else 1 / self.high,
            None if self.low is None else 1 / self.low,
            swapped.get(self.verdict, self.verdict),
            self.more_repeats,
            self.confidence,
            self.tolerance,
        )


def ratio(
    candidate_repeats: Sequence[float],
    baseline_repeats: Sequence[float],
    confidence: float = CONFIDENCE,
    tolerance: float = TOLERANCE,
) -> Ratio:
    """Compare the rates of two cells by their repeats.

    Ratio of geometric means with Welch's t interval on the logarithms, so the sides may scatter differently
    (Welch, Biometrika 34, 1947; degrees of freedom after Satterthwaite, Biometrics Bulletin 2, 1946).
    `same` needs the whole interval inside 1/(1 + tolerance) … 1 + tolerance (an equivalence test, stricter than
    Schuirmann's two one-sided tests, J. Pharmacokinet. Biopharm. 15, 1987, by its wider interval).
    Raises `ValueError` where a side has no repeat, or one that is not positive and finite.
    """
    mean_a, error_a = log_mean(candidate_repeats)
    mean_b, error_b = log_mean(baseline_repeats)
    difference = mean_a - mean_b
    counts = (len(candidate_repeats), len(baseline_repeats))
    if min(counts) < 2:
        return Ratio(exponential(difference), None, None, Verdict.INCONCLUSIVE, None, confidence, tolerance)
    degrees = _satterthwaite(error_a, error_b, counts)
    half = quantile(degrees, confidence) * math.sqrt(error_a + error_b)
    verdict = _verdict(difference, half, tolerance)
    more = None
    if verdict is Verdict.INCONCLUSIVE:
        variance = error_a * counts[0] + error_b * counts[1]
        more = _more_repeats(difference, variance, max(counts), confidence, tolerance)
    low, high = exponential(difference - half), exponential(difference + half)
    return Ratio(exponential(difference), low, high, verdict, more, confidence, tolerance)


def _satterthwaite(error_a: float, error_b: float, counts: tuple[int, int]) -> float:
    a, b = counts
    if error_a + error_b == 0:
        return a + b - 2
    return (error_a + error_b) ** 2 / (error_a**2 / (a - 1) + error_b**2 / (b - 1))


def _verdict(difference: float, half: float, tolerance: float) -> Verdict:
    bound = math.log1p(tolerance)
    if -bound <= difference - half and difference + half <= bound:
        return Verdict.SAME
    if difference - half > 0:
        return Verdict.FASTER
    if difference + half < 0:
        return Verdict.SLOWER
    return Verdict.INCONCLUSIVE


def _more_repeats(difference: float, variance: float, repeats: int, confidence: float, tolerance: float) -> int | None:
    """Fewest further repeats per side after which the interval, as narrow as it would be then, gives a verdict."""

    def settled(n: int) -> bool:
        half = quantile(2 * n - 2, confidence) * math.sqrt(variance / n)
        return _verdict(difference, half, tolerance) is not Verdict.INCONCLUSIVE

    low, high = repeats, _MOST_REPEATS
    if low >= high or not settled(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if settled(middle) else (middle, high)
    return high - repeats


@dataclass(frozen=True, slots=True)
class Rank:
    """A place in a group, as a span where the repeats do not tell cells apart."""

    first: int
    """1 + the number of cells that are surely faster."""
    last: int
    """The group's size less the number of cells that are surely slower."""

    @property
    def label(self) -> str:
        """`1`, or `2–3` for a tie."""
        return f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"


def ranks(ratios: Sequence[Sequence[Ratio | None]]) -> tuple[Rank, ...]:
    """Rank the cells of a group by `ratios[i][j]`, the rate of cell i over that of cell j (None on the diagonal)."""
    size = len(ratios)
    return tuple(
        Rank(
            1 + sum(other is not None and other.verdict is Verdict.SLOWER for other in row),
            size - sum(other is not None and other.verdict is Verdict.FASTER for other in row),
        )
        for row in ratios
    )


def ranks_by_intervals(estimates: Sequence[Estimate]) -> tuple[Rank, ...]:
    """Rank the cells of a large group by their own intervals, in n log n: surely faster is what lies wholly above.

    Two intervals that do not overlap are nearly always a decided pair too, and not the other way round: the spans are
    no narrower than those of `ranks`. A cell without an interval is told from none.
    """
    lows = sorted(each.low for each in estimates if each.low is not None)
    highs = sorted(each.high for each in estimates if each.high is not None)
    size = len(estimates)
    return tuple(
        Rank(1, size)
        if each.low is None or each.high is None
        else Rank(1 + len(lows) - bisect_right(lows, each.high), size - bisect_left(highs, each.low))
        for each in estimates
    )


def ratio_matrix(repeats: Sequence[Sequence[float]]) -> tuple[tuple[Ratio | None, ...], ...]:
    """Compare every cell with every other: row over column, None on the diagonal."""
    size = len(repeats)
    matrix: list[list[Ratio | None]] = [[None] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1, size):
            found = ratio(repeats[i], repeats[j])
            matrix[i][j], matrix[j][i] = found, found.inverse
    return tuple(tuple(row) for row in matrix)
