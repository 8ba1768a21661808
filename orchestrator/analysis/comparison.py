"""The comparison of a candidate with its baseline, which gives a ratio with its certainty and a verdict.

The looks at a family of cells share the confidence, so that all looks at all cells together err by at most α.
Two errors are possible in a night, and each may happen in at most α of the nights. A false alarm is one wrong `slower`
or `faster` anywhere. More cells give it more chances, so each cell gets a share (Bonferroni's, the only correction that
leaves every cell an interval that agrees with its verdict). A false all-clear is `same` for every cell although some
cell has changed by more than the tolerance. It takes a wrong `same` at that very cell, so more cells give it no more
chances, and each is tested at the whole α (an intersection-union test).
Sources: Dunn, "Multiple comparisons among means", J. American Statistical Association 56 (1961); Berger,
"Multiparameter hypothesis testing and acceptance sampling", Technometrics 24 (1982).
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from orchestrator.analysis.estimates import exponential, quantile
from orchestrator.analysis.scatter.contrasts import Contrast, Scatter, contrast, fewest_further


class Verdict(StrEnum):
    """A verdict on the candidate; `slower` always means worse, whatever the metric."""

    SLOWER = "slower"
    FASTER = "faster"
    SAME = "same"
    """The whole interval lies inside the tolerance."""
    INCONCLUSIVE = "inconclusive"
    """The interval is too wide to decide, or there is none."""
    NOT_COMPARABLE = "not comparable"
    """The sides differ in work or environment, or compute nothing; the reason says which."""
    BROKE = "broke"
    """The candidate no longer runs, or fails more often than chance explains; the reason is its outcome."""
    FIXED = "fixed"
    """The baseline does not run, or fails more often than chance explains."""
    NEW = "new"
    """Only the candidate can do this."""
    GONE = "gone"
    """Only the baseline can do this."""
    NOT_MEASURED = "not measured"
    """Neither side has a result, or there was no image, device or time; this shows neither a regression nor health."""

    @property
    def is_good(self) -> bool:
        """Return true if the candidate is shown to be as good or better, which an undecided one is not."""
        return self in {Verdict.SAME, Verdict.FASTER, Verdict.FIXED, Verdict.NEW}


OF_FIGURES: Final = (Verdict.FASTER, Verdict.SLOWER, Verdict.SAME, Verdict.INCONCLUSIVE, Verdict.NOT_COMPARABLE)
"""The verdicts on two series of figures; the others are on sides without figures."""


POWER = 0.8
"""Probability that the minimum detectable effect shows, and that `more_repeats` are enough."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The evidence about one metric, from the repeats of a candidate and of its baseline."""

    ratio: float
    """Geometric mean of the candidate over that of the baseline; the metric decides which direction is better."""
    low: float | None
    """Lower end of the interval around the ratio; None if a side has fewer than two repeats."""
    high: float | None
    p_value: float | None
    """Two-sided p-value of no difference at all, which is below 1 - confidence if the interval leaves 1 out."""
    minimum_detectable_effect: float | None
    """The true slowdown that repeats with this scatter show as `slower` with 80 % probability.

    0.05 is a candidate that takes 1.05 times as long, or runs at 1/1.05 of the rate. None if there is no interval.
    """
    more_repeats: int | None
    """Fewest further repeats of each side after which another verdict follows with 80 % probability.

    Only for `inconclusive`; None if it cannot be computed or takes a thousand repeats.
    """
    verdict: Verdict
    """`slower` always means worse, `faster` better."""
    repeats: int
    """Pairs, or repeats of the side that has fewer."""
    confidence: float
    """Confidence of the interval, and so of `slower` and `faster`."""
    equivalence: float
    """Largest probability of `same` if the truth lies outside the tolerance."""
    tolerance: float

    @property
    def differs(self) -> bool:
        """Return true if the interval leaves 1 out, so that a difference shows whatever the verdict on its size."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


@dataclass(frozen=True, slots=True)
class _Rule:
    """The decision table, on logarithms."""

    confidence: float
    equivalence: float
    bound: float

    def verdict(self, worse: float, half: float, equal_half: float) -> Verdict:
        """Return the verdict on an estimate.

        `worse` is how much worse the candidate is. The others are the half widths of the two intervals.
        """
        if worse - half > self.bound:
            return Verdict.SLOWER
        if worse + half < -self.bound:
            return Verdict.FASTER
        if abs(worse) + equal_half <= self.bound:
            return Verdict.SAME
        return Verdict.INCONCLUSIVE

    def settled(self, apart: Contrast, further: int) -> float:
        """Return the probability of a verdict other than `inconclusive` after further repeats.

        The repeats so far predict the future estimate by Student's t around their own estimate, with their variance and
        degrees of freedom and without a prior.
        """
        from scipy.special import stdtr  # noqa: PLC0415 - half a second, as in estimates.quantile

        error, degrees = apart.error(further), apart.degrees(further)
        spread = math.sqrt(max(apart.error() ** 2 - error**2, sys.float_info.min))
        half = quantile(degrees, self.confidence) * error
        equal_half = quantile(degrees, 1 - 2 * self.equivalence) * error
        far, near, center = self.bound + half, max(self.bound - equal_half, 0.0), abs(apart.value)
        ends = [stdtr(apart.degrees(), (end - center) / spread) for end in (-far, -near, near, far)]
        return float(ends[0] + (ends[2] - ends[1]) + (1 - ends[3]))


def compare(  # noqa: PLR0913 - two samples, and the rule by name: one call says it all
    baseline: Sequence[float],
    candidate: Sequence[float],
    *,
    tolerance: float,
    higher_is_better: bool,
    confidence: float = 0.99,
    paired: bool = False,
    equivalence: float | None = None,
    scatter: Scatter | None = None,
) -> Comparison:
    """Compare one metric of a candidate with that of its baseline, by the values of their repeats.

    The ratio is that of the geometric means, with Student's t interval on the logarithms. With `paired`, the interval
    is that of the ratios pair by pair: the values at one place come from one block, in any unit. Otherwise it is
    Welch's interval of two independent sides. `scatter` is a common scatter of more pairs than these.

    The verdict is `slower` or `faster` if the interval lies wholly beyond `tolerance` (0.02 stands for outside 1/1.02 …
    1.02). It is `same` if two one-sided tests, each at `equivalence` (1 - confidence by default), place the ratio
    inside. This means that the interval of confidence 1 - 2 × equivalence lies inside. Otherwise it is `inconclusive`,
    as it is with fewer than two repeats of a side. The verdicts exclude each other, since the second interval lies
    within the first.

    Ratios need values above 0. A metric that may be 0 or below (an accuracy, some losses) is compared by differences.
    Pass `math.exp(value)` and the tolerance `math.expm1(amount)`: the logarithm of the ratio is then the difference.

    Raises `ValueError` if a side is empty, a value is not positive and finite, paired sides differ in length, the
    tolerance is negative, or the confidence is not between 0.5 and 1 (equivalence: 0 and (1 + confidence's error)/2).
    Sources: Schuirmann, "A comparison of the two one-sided tests procedure and the power approach", J. Pharmacokinet.
    Biopharm. 15 (1987); Johnson and Welch, "Applications of the non-central t-distribution", Biometrika 31 (1940), for
    the minimum detectable effect.
    """
    equivalence = 1 - confidence if equivalence is None else equivalence
    _check(tolerance, confidence, equivalence)
    apart = contrast(list(candidate), list(baseline), paired=paired, scatter=scatter)
    rule = _Rule(confidence, equivalence, math.log1p(tolerance))
    ratio, n = exponential(apart.value), apart.repeats
    if n < 2:
        none = (None, None, None, None, None)
        return Comparison(ratio, *none, Verdict.INCONCLUSIVE, n, confidence, equivalence, tolerance)
    half, equal_half = apart.half_width(confidence), apart.half_width(1 - 2 * equivalence)
    verdict = rule.verdict(-apart.value if higher_is_better else apart.value, half, equal_half)
    more = None
    if verdict is Verdict.INCONCLUSIVE:
        more = fewest_further(max(apart.counts), lambda further: rule.settled(apart, further) >= POWER)
    return Comparison(
        ratio=ratio,
        low=exponential(apart.value - half),
        high=exponential(apart.value + half),
        p_value=_p_value(apart),
        minimum_detectable_effect=detectable_effect(apart, confidence, tolerance),
        more_repeats=more,
        verdict=verdict,
        repeats=n,
        confidence=confidence,
        equivalence=equivalence,
        tolerance=tolerance,
    )


def chained(links: Sequence[Comparison], *, tolerance: float, higher_is_better: bool) -> Comparison:
    """Compare the end of a chain with its beginning, by the comparisons of its links, of which none shares a repeat.

    The ratio is the product of theirs. The half width of its interval, on logarithms, is the root of the sum of the
    squares of theirs, at the smallest of their confidences. With Student's t, such an interval holds the truth at least
    as often as the confidence says. It also decides `same`, which is stricter than two one-sided tests at the levels
    of the links. There is no interval if a link has none, and no p-value. Raises `ValueError` if there is no link.
    Source: Banerjee, "Approximate confidence interval for linear functions of means of k populations when the
    population variances are not equal", Sankhyā 22 (1960).
    """
    if not links:
        raise ValueError("a chain has at least one link")
    value = math.fsum(math.log(link.ratio) for link in links)
    halves = [half_width(link) for link in links]
    known = [half for half in halves if half is not None]
    confidence, repeats = min(link.confidence for link in links), min(link.repeats for link in links)
    equivalence = (1 - confidence) / 2
    none = (None, None, None)
    if len(known) < len(links):
        ratio, verdict = exponential(value), Verdict.INCONCLUSIVE
        return Comparison(ratio, None, None, *none, verdict, repeats, confidence, equivalence, tolerance)
    half = math.hypot(*known)
    verdict = _Rule(confidence, equivalence, math.log1p(tolerance)).verdict(
        -value if higher_is_better else value, half, half
    )
    low, high = exponential(value - half), exponential(value + half)
    return Comparison(exponential(value), low, high, *none, verdict, repeats, confidence, equivalence, tolerance)


def half_width(comparison: Comparison) -> float | None:
    """Return half the width of the interval of a comparison on logarithms, or None if it has none."""
    if comparison.low is None or comparison.high is None:
        return None
    return (math.log(comparison.high) - math.log(comparison.low)) / 2


def _check(tolerance: float, confidence: float, equivalence: float) -> None:
    if not 0 <= tolerance <= sys.float_info.max:
        raise ValueError(f"a tolerance is 0 or a share such as 0.02, not {tolerance}")
    if not 0.5 < confidence < 1:
        raise ValueError(f"a confidence lies between 0.5 and 1, not at {confidence}")
    if not (1 - confidence) / 2 <= equivalence < 0.5:
        raise ValueError(
            f"equivalence lies between half of 1 - confidence, {(1 - confidence) / 2:g}, and 0.5, not at {equivalence}"
        )


def _p_value(apart: Contrast) -> float:
    from scipy.special import stdtr  # noqa: PLC0415 - half a second, as in estimates.quantile

    error = apart.error()
    if error == 0:
        return 1.0 if apart.value == 0 else 0.0
    return float(2 * stdtr(apart.degrees(), -abs(apart.value) / error))


def detectable_effect(apart: Contrast, confidence: float, tolerance: float) -> float:
    """Return the true change for the worse that shows beyond a tolerance with the stated power, as a share.

    There the non-central t distribution has 80 % above the critical value, by the normal approximation of Johnson and
    Welch. The power is then 0.80 from ten repeats on, and 0.81 with three.
    """
    degrees = apart.degrees()
    critical = quantile(degrees, confidence)
    normal = quantile(math.inf, 2 * POWER - 1)
    noncentral = critical * (1 - 1 / (4 * degrees)) + normal * math.sqrt(1 + critical**2 / (2 * degrees))
    return exponential(math.log1p(tolerance) + noncentral * apart.error()) - 1


LOOKS = (6, 12, 24)
"""Numbers of blocks after which a run is looked at; cells that are decided are not measured further."""
ALPHA = 0.05
"""Share of the nights that may have a false alarm, and share that may end in a false all-clear."""
_SPENDING_POWER = 2


@dataclass(frozen=True, slots=True)
class Look:
    """One look, with the arguments of `compare` for every cell and metric that is not yet decided."""

    blocks: int
    """Blocks measured so far."""
    confidence: float
    """Confidence of each interval.

    All intervals of all looks contain the truth at once in 1 - α of the nights.
    """
    equivalence: float
    """Level of each of the two one-sided tests for `same`."""


def looks(
    family: int, *, blocks: Sequence[int] = LOOKS, alpha: float = ALPHA, power: float = _SPENDING_POWER
) -> tuple[Look, ...]:
    """Return the looks at a family of `family` comparisons (cells × gating metrics), among which α is spent.

    `blocks` are the rising numbers of blocks at the looks; one number is a run without looks on the way. Up to a look
    at t of all blocks, t² of α is spent (or another `power` of t), and each look is tested at the part that it adds:
    early looks show what is large, and most is left for the last. The looks' levels add up to α. This holds under any
    dependence, and for t tests at few blocks, where boundaries from Brownian motion are approximate. Raises
    `ValueError` if the family is empty, the blocks do not rise from 2, or α is not between 0 and 0.5. Sources: Lan and
    DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70 (1983); the power family, Kim and
    DeMets, Biometrika 74 (1987); Jennison and Turnbull, "Interim analyses: the repeated confidence interval approach",
    J. Royal Statistical Society B 51 (1989).
    """
    if family < 1:
        raise ValueError(f"a family has at least one comparison, not {family}")
    if not blocks or blocks[0] < 2 or any(b <= a for a, b in pairwise(blocks)):
        raise ValueError(f"looks are at rising numbers of blocks, from 2 on, not at {list(blocks)}")
    if not 0 < alpha < 0.5:
        raise ValueError(f"α lies between 0 and 0.5, not at {alpha}")
    spent = [math.pow(number / blocks[-1], power) for number in (0, *blocks)]
    shares = [after - before for before, after in pairwise(spent)]
    return tuple(
        Look(number, 1 - alpha * share / family, alpha * share) for number, share in zip(blocks, shares, strict=True)
    )
