"""The cheapest repeats and blocks that reach a wanted interval, and the range that the interval will lie in.

Source: Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013. They choose the repetitions of each
level by the variance and the cost of the level above it. Here the numbers are whole and few, so all that matter are
tried.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from orchestrator.analysis.estimates import CONFIDENCE, exponential, quantile
from orchestrator.analysis.scatter.moderation import KnownVariance
from orchestrator.analysis.scatter.tails import effective_degrees
from orchestrator.analysis.scatter.variance import Components, median_variance

LEAST_REPEATS: Final = 2
MOST_REPEATS: Final = 1000
LEAST_BLOCKS: Final = 5
"""A median of fewer blocks is moved by one that was disturbed."""
MOST_BLOCKS: Final = 100
RANGE: Final = 0.90
"""Share of the runs whose half-width lies in the stated range."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The time of a container."""

    start_s: float
    """All but its warm-up and its timed blocks: the wait before it, its start, its import, the latency pass."""
    warmup_s: float
    block_s: float
    """One timed block."""

    def container_s(self, blocks: float) -> float:
        """Return the seconds of a container of so many blocks."""
        return self.start_s + self.warmup_s + blocks * self.block_s


@dataclass(frozen=True, slots=True)
class HalfWidth:
    """Half of the interval of a cell, as a share of its throughput."""

    expected: float
    low: float
    """The range holds it in 90 of 100 runs, as far as the scatter of stored repeats goes."""
    high: float


def half_width(known: KnownVariance, repeats: int, confidence: float = CONFIDENCE) -> HalfWidth:
    """Return the half-width that the t interval of so many repeats will have.

    The scatter of the repeats to come is that of the known variance, with its uncertainty: the ratio of two estimates
    of a variance has an F distribution, with fewer degrees of freedom where the tails are heavy. The expected value is
    free of the bias that the root of a variance has.
    """
    from scipy.special import fdtri  # noqa: PLC0415 - half a second, as in estimates.quantile

    error = quantile(repeats - 1, confidence) * math.sqrt(known.variance / repeats)
    degrees = effective_degrees(repeats - 1, known.excess)
    expected = error * _root_bias(degrees) * _expected_root(known.degrees)
    low, high = (
        error * math.sqrt(float(fdtri(degrees, known.degrees, share))) for share in ((1 - RANGE) / 2, (1 + RANGE) / 2)
    )
    return HalfWidth(*(exponential(each) - 1 for each in (expected, low, high)))


def _root_bias(degrees: float) -> float:
    """Return the mean of the root of an estimated variance over the root of the true one."""
    return math.sqrt(2 / degrees) * math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))


def _expected_root(degrees: float) -> float:
    """Return the mean of the true deviation over the known one, if its square is inverse chi-squared.

    Two degrees are the fewest that it is taken for: with one, the mean is infinite.
    """
    known = max(degrees, 2.0)
    return math.sqrt(known / 2) * math.exp(math.lgamma((known - 1) / 2) - math.lgamma(known / 2))


def fewest_repeats(known: KnownVariance, wanted: float, confidence: float = CONFIDENCE) -> int | None:
    """Return the fewest repeats whose expected half-width is at most the wanted share, or None beyond a thousand."""
    low, high = LEAST_REPEATS - 1, MOST_REPEATS
    if half_width(known, high, confidence).expected > wanted:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if half_width(known, middle, confidence).expected <= wanted else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class RepeatAllocation:
    """Repeats and blocks of a cell that reach a half-width."""

    repeats: int
    blocks: int
    seconds: float
    reached: HalfWidth


def allocation(
    scatter: Components, known: KnownVariance, cost: Cost, wanted: float, blocks: Iterable[int]
) -> RepeatAllocation | None:
    """Return the cheapest of the given numbers of blocks with the repeats that it takes, or None if none reaches it.

    `known` is the variance of a repeat of as many blocks as were measured. That of another number is larger or smaller
    by what the blocks make of it.
    """
    each = (_of_blocks(scatter, known, cost, wanted, number) for number in blocks)
    return min((one for one in each if one is not None), key=lambda one: (one.seconds, one.repeats), default=None)


def _of_blocks(
    scatter: Components, known: KnownVariance, cost: Cost, wanted: float, blocks: int
) -> RepeatAllocation | None:
    measured = scatter.of_repeat(scatter.blocks)
    factor = scatter.of_repeat(blocks) / measured if measured else 1.0
    of_blocks = replace(known, variance=known.variance * factor)
    repeats = fewest_repeats(of_blocks, wanted)
    if repeats is None:
        return None
    return RepeatAllocation(repeats, blocks, repeats * cost.container_s(blocks), half_width(of_blocks, repeats))


def best_blocks(scatter: Components, cost: Cost) -> float:
    """Return the blocks of a container that narrow an interval most for its time, by the formula of Kalibera and Jones.

    It is the root of the cost of a container over that of a block, times the variance of a block over that of a
    container; infinite if containers do not differ.
    """
    if scatter.container == 0:
        return math.inf
    # The median of many blocks scatters as that many times π/2 fewer would.
    of_block = scatter.of_blocks * median_variance(MOST_BLOCKS) * MOST_BLOCKS
    return math.sqrt((cost.start_s + cost.warmup_s) / cost.block_s * of_block / scatter.container)
