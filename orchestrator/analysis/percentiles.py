"""Percentiles of the times of single steps, with bounds that treat a repeat as the unit."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from pydantic import Field

from orchestrator.analysis.estimates import CONFIDENCE, exponential, quantile
from orchestrator.modes.parts.metrics import least_steps_of_a_repeat

USUAL_STEPS = 50
"""A pass has at least as many, unless it was asked for fewer."""
Bounds = tuple[float, float]
"""Lower and upper end of an interval, in seconds."""


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Wall time of one step, in seconds, from a pass that is synchronised at every step."""

    p50_s: float
    p90_s: float
    p99_s: float
    n: int
    """Steps pooled over the repeats."""
    p50_bounds_s: Bounds | None = None
    """95 % interval of `p50_s`; None if there are too few steps or only one repeat, see `bounds`."""
    p90_bounds_s: Bounds | None = None
    p99_bounds_s: Bounds | None = None
    mean_s: Annotated[float, Field(exclude=True)] = 0.0
    """Of the pooled steps. Documents have the percentiles."""
    are_requests: Annotated[bool, Field(exclude=True)] = False
    """True if each is the latency of a request, whose percentiles are shown with a bound or not at all."""

    def gives(self, share: float) -> bool:
        """Return true if a percentile is to be shown.

        Of steps that takes enough of them that it is more than the slowest of a few, and of requests its interval.
        """
        if self.are_requests:
            return (self.p99_bounds_s if share > 0.9 else self.p90_bounds_s) is not None
        return self.n >= min(least_steps_of_a_repeat(share), USUAL_STEPS)


def percentiles(repeats: Sequence[Sequence[float]], *, are_requests: bool = False) -> Percentiles | None:
    """Return the percentiles of the step times of all repeats together, or None without steps.

    Each repeat is the times of its steps in seconds, or the latencies of its requests. See `quantiles` and `bounds`.
    """
    timed = [sorted(repeat) for repeat in repeats if len(repeat)]
    if not timed:
        return None
    pooled = sorted(step_s for repeat in timed for step_s in repeat)
    (p50, p50_bounds), (p90, p90_bounds), (p99, p99_bounds) = (
        (_quantile(pooled, share), _bounds(timed, pooled, share)) for share in (0.5, 0.9, 0.99)
    )
    mean_s = math.fsum(pooled) / len(pooled)
    return Percentiles(p50, p90, p99, len(pooled), p50_bounds, p90_bounds, p99_bounds, mean_s, are_requests)


def bounds(repeats: Sequence[Sequence[float]], share: float) -> Bounds | None:
    """Return the 95 % interval of a quantile of step times, or None if it does not exist.

    The steps of one repeat resemble each other; repeats are independent. So the interval is the wider, at either end,
    of two:

    - by order statistics of all steps, as if each were independent. It exists from `least_steps` steps on.
      Source: David and Nagaraja, Order Statistics (3rd edition, 2003), section 7.1.
    - by sectioning, with a repeat as a section: the pooled quantile ± Student's t × s / √R, where s² is the mean of
      the squared distances of the R repeats' own quantiles from the pooled one (divided by R - 1), on logarithms.
      Source: Asmussen and Glynn, Stochastic Simulation (2007), section III.5a.

    It needs two repeats, and step times above 0. `bench detection` measures how often it holds the true quantile.
    """
    timed = [sorted(repeat) for repeat in repeats if len(repeat)]
    return _bounds(timed, sorted(step_s for repeat in timed for step_s in repeat), share) if timed else None


def least_steps(share: float, confidence: float = CONFIDENCE) -> int:
    """Return the fewest independent steps that bound a quantile at both ends.

    They are 368 for the p99 at 95 %.
    """
    tail = (1 - confidence) / 2
    return max(math.ceil(math.log(tail) / math.log(beyond)) for beyond in (share, 1 - share))


def quantiles(values: Sequence[float], shares: Sequence[float]) -> tuple[float, ...]:
    """Return quantiles of at least one value, by linear interpolation between order statistics.

    The definition is type 7 of Hyndman and Fan.
    """
    ordered = sorted(values)
    return tuple(_quantile(ordered, share) for share in shares)


def _quantile(ordered: Sequence[float], share: float) -> float:
    below, part = divmod(share * (len(ordered) - 1), 1)
    low = ordered[int(below)]
    high = ordered[min(int(below) + 1, len(ordered) - 1)]
    return low + (high - low) * part


def _bounds(timed: Sequence[Sequence[float]], pooled: Sequence[float], share: float) -> Bounds | None:
    """Return `bounds` of repeats and of all their steps together, each in order."""
    ranks = _ranks(len(pooled), share)
    if ranks is None or len(timed) < 2 or pooled[0] <= 0:
        return None
    center = math.log(_quantile(pooled, share))
    squared = math.fsum((math.log(_quantile(repeat, share)) - center) ** 2 for repeat in timed)
    half = quantile(len(timed) - 1, CONFIDENCE) * math.sqrt(squared / (len(timed) - 1) / len(timed))
    low, high = pooled[ranks[0]], pooled[ranks[1]]
    return min(low, exponential(center - half)), max(high, exponential(center + half))


@lru_cache(maxsize=1024)  # the cells of a run share few numbers of steps
def _ranks(steps: int, share: float) -> tuple[int, int] | None:
    """Return the places of the order statistics that bound a quantile, from 0, or None for too few steps."""
    if steps < least_steps(share):
        return None
    # The import takes half a second, and only commands that estimate need it.
    from scipy.special import bdtr  # noqa: PLC0415

    tail = (1 - CONFIDENCE) / 2
    places = range(steps)
    low = bisect_left(places, True, key=lambda place: bool(bdtr(place, steps, share) > tail)) - 1
    high = bisect_left(places, True, key=lambda place: bool(bdtr(place, steps, share) >= 1 - tail))
    return low, high
