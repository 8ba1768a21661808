"""The ratio of two cells with its interval and verdict, and the ranks in a group that follow."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from pydantic import Field

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.estimates import CONFIDENCE, Estimate, exponential
from orchestrator.analysis.scatter.contrasts import Contrast, contrast, fewest_further

_Repeats = TypeVar("_Repeats")

TOLERANCE = 0.02
"""Ratios between 1/1.02 and 1.02 make no practical difference."""


def _is_none(value: object) -> bool:
    return value is None


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
    equivalence: Annotated[float | None, Field(exclude_if=_is_none)] = None
    """Largest probability of a wrong `same`; None if `same` takes the interval that is shown inside the tolerance."""
    blocks: Annotated[int | None, Field(exclude_if=_is_none)] = None
    """The blocks of the look that it is of; None if it is of all repeats."""

    @property
    def inverse(self) -> "Ratio":
        """Return the same comparison from the view of the baseline."""
        swapped = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
        return replace(
            self,
            value=1 / self.value,
            low=None if self.high is None else 1 / self.high,
            high=None if self.low is None else 1 / self.low,
            verdict=swapped.get(self.verdict, self.verdict),
        )


@dataclass(frozen=True, slots=True)
class RatioRule:
    """The levels and the tolerance by which a ratio gets its verdict."""

    confidence: float = CONFIDENCE
    """Confidence of the interval that is shown, and of `faster` and `slower`."""
    tolerance: float = TOLERANCE
    equivalence: float | None = None
    """Level of each of two one-sided tests for `same`; None asks the interval that is shown to lie in the tolerance."""

    def verdict(self, apart: Contrast, further: int = 0) -> Verdict:
        """Return the verdict on a contrast, now or if its value and scatter stay after further repeats."""
        half, bound = apart.half_width(self.confidence, further), math.log1p(self.tolerance)
        equal_half = half
        if self.equivalence is not None:
            equal_half = apart.half_width(1 - 2 * self.equivalence, further)
        if abs(apart.value) + equal_half <= bound:
            return Verdict.SAME
        if apart.value - half > 0:
            return Verdict.FASTER
        if apart.value + half < 0:
            return Verdict.SLOWER
        return Verdict.INCONCLUSIVE


AT_ONCE = RatioRule()
"""The rule of a pair that is looked at once, with the number of repeats set before."""


def ratio(
    candidate_repeats: Sequence[float],
    baseline_repeats: Sequence[float],
    rule: RatioRule = AT_ONCE,
    *,
    paired: bool = False,
) -> Ratio:
    """Compare the rates of two cells by their repeats.

    The ratio is that of the geometric means, with Welch's t interval on the logarithms, so that the sides may scatter
    differently. With `paired`, the repeats at one place belong together, and the interval is that of their ratios.
    `same` needs the whole interval inside 1/(1 + tolerance) … 1 + tolerance. This is an equivalence test, whose wider
    interval makes it stricter than Schuirmann's two one-sided tests (J. Pharmacokinet. Biopharm. 15, 1987), which a
    rule with an `equivalence` asks for. `same` goes before the others.
    Raises `ValueError` if a side has no repeat, if one is not positive and finite, and if the sides of pairs differ in
    length.
    """
    return ratio_of(contrast(candidate_repeats, baseline_repeats, paired=paired), rule)


def ratio_of(apart: Contrast, rule: RatioRule) -> Ratio:
    """Return the ratio of two cells by their contrast."""
    value, levels = exponential(apart.value), (rule.confidence, rule.tolerance, rule.equivalence)
    if apart.repeats < 2:
        return Ratio(value, None, None, Verdict.INCONCLUSIVE, None, *levels)
    half, verdict = apart.half_width(rule.confidence), rule.verdict(apart)
    more = _more_repeats(apart, rule) if verdict is Verdict.INCONCLUSIVE else None
    return Ratio(value, exponential(apart.value - half), exponential(apart.value + half), verdict, more, *levels)


def _more_repeats(apart: Contrast, rule: RatioRule) -> int | None:
    """Return the fewest further repeats of each side after which the narrower interval gives a verdict."""
    return fewest_further(max(apart.counts), lambda further: rule.verdict(apart, further) is not Verdict.INCONCLUSIVE)


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
