"""The ratio of two cells with its interval and verdict, and the ranks in a group that follow."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.contrasts import Contrast, contrast, fewest_further
from orchestrator.analysis.estimates import CONFIDENCE, Estimate, exponential

_Repeats = TypeVar("_Repeats")

TOLERANCE = 0.02
"""Ratios between 1/1.02 and 1.02 make no practical difference."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """The rate of a candidate over that of its baseline, which is above 1 for a faster candidate."""

    value: float
    low: float | None
    """Lower end of the interval; None if a side was measured once."""
    high: float | None
    verdict: Verdict
    more_repeats: int | None = None
    """About how many further repeats of each side would settle an `inconclusive` ratio.

    It assumes the present value and scatter. None if it cannot be computed or is out of reach.
    """
    confidence: float = CONFIDENCE
    tolerance: float = TOLERANCE

    @property
    def inverse(self) -> "Ratio":
        """Return the same comparison from the view of the baseline."""
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
    *,
    paired: bool = False,
) -> Ratio:
    """Compare the rates of two cells by their repeats.

    The ratio is that of the geometric means, with Welch's t interval on the logarithms, so that the sides may scatter
    differently. With `paired`, the repeats at one place belong together, and the interval is that of their ratios.
    `same` needs the whole interval inside 1/(1 + tolerance) … 1 + tolerance. This is an equivalence test, whose wider
    interval makes it stricter than Schuirmann's two one-sided tests (J. Pharmacokinet. Biopharm. 15, 1987).
    Raises `ValueError` if a side has no repeat, if one is not positive and finite, and if the sides of pairs differ in
    length.
    """
    apart = contrast(candidate_repeats, baseline_repeats, paired=paired)
    value = exponential(apart.value)
    if apart.repeats < 2:
        return Ratio(value, None, None, Verdict.INCONCLUSIVE, None, confidence, tolerance)
    half = apart.half_width(confidence)
    verdict = _verdict(apart.value, half, tolerance)
    more = None
    if verdict is Verdict.INCONCLUSIVE:
        more = _more_repeats(apart, confidence, tolerance)
    low, high = exponential(apart.value - half), exponential(apart.value + half)
    return Ratio(value, low, high, verdict, more, confidence, tolerance)


def _verdict(difference: float, half: float, tolerance: float) -> Verdict:
    bound = math.log1p(tolerance)
    if -bound <= difference - half and difference + half <= bound:
        return Verdict.SAME
    if difference - half > 0:
        return Verdict.FASTER
    if difference + half < 0:
        return Verdict.SLOWER
    return Verdict.INCONCLUSIVE


def _more_repeats(apart: Contrast, confidence: float, tolerance: float) -> int | None:
    """Return the fewest further repeats of each side after which the narrower interval gives a verdict."""
    return fewest_further(
        max(apart.counts),
        lambda further: (
            _verdict(apart.value, apart.half_width(confidence, further), tolerance) is not Verdict.INCONCLUSIVE
        ),
    )


@dataclass(frozen=True, slots=True)
class Rank:
    """A place in a group, which is a span if the repeats do not separate cells."""

    first: int
    """1 + the number of cells that are surely faster."""
    last: int
    """The group's size less the number of cells that are surely slower."""

    @property
    def label(self) -> str:
        """Return the rank as text, such as `1`, or `2–3` for a tie."""
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
    """Rank the cells of a large group by their own intervals, in n log n.

    A cell is surely faster if its interval lies wholly above. Two intervals that do not overlap nearly always belong to
    a decided pair too, but not the other way round, so the spans are no narrower than those of `ranks`. A cell without
    an interval is separated from none.
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


def ratio_matrix(
    cells: Sequence[_Repeats], over: Callable[[_Repeats, _Repeats], Ratio]
) -> tuple[tuple[Ratio | None, ...], ...]:
    """Compare every cell with every other, as a matrix of row over column with None on the diagonal."""
    size = len(cells)
    matrix: list[list[Ratio | None]] = [[None] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1, size):
            compared = over(cells[i], cells[j])
            matrix[i][j], matrix[j][i] = compared, compared.inverse
    return tuple(tuple(row) for row in matrix)
