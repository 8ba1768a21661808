"""The frontier of latency and throughput: which points are on it, and which batch sizes still have to be measured.

A series is one framework on one system with one set of options, over batch sizes. Its frontier is found without most of
its sizes, because two things are known of a step. What it takes grows with the batch, nearly in a straight line between
sizes where the same kernels run. And its rate rises until the device is full, and then no further.

So a search begins with a few sizes far apart, and goes on until every size that is left out is known by one rule:

- saturated: the largest size measured yields no more than a smaller one, so that larger ones only take longer;
- dominated: a size that is measured, of any series, is as quick as the smaller neighbour of the gap, and yields as much
  as the better one of its neighbours, so that nothing in between is on the frontier;
- straight: of three neighbours that are measured, the middle one takes what the line between the outer two says, within
  its interval and the tolerance and by 5 % at most, so that the sizes between them are on that line too;
- failed: a smaller size has failed already, as one that is out of memory.

"No more" means within the tolerance. At the end, a size that is left out and is by its line the best within a limit of
latency is measured all the same, so that what is named as the best was measured. What is left out is no proof: a kernel
that is quicker at one size alone, between two that are on a line, is missed. The whole grid misses nothing; it is
written as a list of sizes.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from orchestrator.analysis.estimates import Estimate

TOLERANCE = 0.02
"""Differences of a rate or a step that make no difference to anyone."""
MOST_OFF_LINE = 0.05
"""The most that a step may be off a line, however wide its interval is."""
STRIDE = 4
"""Places in the list of sizes from one of the first points to the next."""
FIRST = 3
"""Points that a search begins with: three are the fewest that show a line."""


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """One batch size of a series, as it was measured."""

    size: int
    latency_s: Estimate
    """Median time of a step, or of a request under load."""
    rate: Estimate
    """Samples per second."""


Measured = Mapping[int, FrontierPoint | None]
"""Points by batch size, where None is a size that was tried and has no figure."""


def first_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes that a search begins with."""
    return tuple(sizes[: STRIDE * FIRST : STRIDE])


def next_sizes(sizes: Sequence[int], measured: Measured, others: Iterable[FrontierPoint] = ()) -> tuple[int, ...]:
    """Return the sizes of a series to measure next, or none if all that are left out are known.

    `sizes` are all of them in order, and `others` are points of other series of the same group.
    """
    search = _Search(sizes, measured, others)
    return tuple(sizes[place] for place in sorted({*search.above(), *search.inside()}))


def known_by(sizes: Sequence[int], measured: Measured, others: Iterable[FrontierPoint] = ()) -> dict[int, str]:
    """Return the reason that each size that was not measured did not have to be, by size.

    A size that a search would still measure has the reason that the run ended before.
    """
    search = _Search(sizes, measured, others)
    return {size: search.reason(place) for place, size in enumerate(sizes) if size not in measured}


def on_frontier(points: Sequence[FrontierPoint]) -> tuple[bool, ...]:
    """Return for each point whether no other is as quick and yields as much, and is better in one, by the estimates."""
    return tuple(not any(_beats(other, point) for other in points if other is not point) for point in points)


def best_under(points: Sequence[FrontierPoint], limit_s: float) -> FrontierPoint | None:
    """Return the point with the highest rate whose latency is within a limit, or None if none is."""
    return max(
        (point for point in points if point.latency_s.value <= limit_s),
        key=lambda point: point.rate.value,
        default=None,
    )


def expected(sizes: Sequence[int], measured: Measured) -> Iterator[tuple[int, float, float]]:
    """Yield size, latency and rate of each size between two measured ones that was not measured, by their line."""
    known = sorted((point for point in measured.values() if point is not None), key=lambda point: point.size)
    for lower, upper in pairwise(known):
        for size in sizes:
            if lower.size < size < upper.size and size not in measured:
                yield size, *step_between(lower, upper, size)


def step_between(lower: FrontierPoint, upper: FrontierPoint, size: int) -> tuple[float, float]:
    """Return the latency and the rate of a size on the line between two points."""
    along = (size - lower.size) / (upper.size - lower.size)
    latency_s = _between(lower.latency_s.value, upper.latency_s.value, along)
    return latency_s, size / _between(lower.size / lower.rate.value, upper.size / upper.rate.value, along)


def _between(low: float, high: float, along: float) -> float:
    return low + (high - low) * along


def _beats(one: FrontierPoint, other: FrontierPoint) -> bool:
    latency, rate = one.latency_s.value - other.latency_s.value, one.rate.value - other.rate.value
    return latency <= 0 <= rate and (latency < 0 or rate > 0)


class _Search:
    """The state of a series at one moment."""

    def __init__(self, sizes: Sequence[int], measured: Measured, others: Iterable[FrontierPoint]) -> None:
        places = {size: place for place, size in enumerate(sizes)}
        self._sizes = sizes
        self._points = {places[size]: point for size, point in sorted(measured.items()) if point is not None}
        self._failed = min((places[size] for size, point in measured.items() if point is None), default=None)
        self._points = {place: each for place, each in self._points.items() if not self._is_beyond(place)}
        self._every = (*self._points.values(), *others)

    def _is_beyond(self, place: int) -> bool:
        return self._failed is not None and place > self._failed

    def above(self) -> Iterator[int]:
        """Yield the place above the largest size that is measured, unless larger sizes only take longer."""
        if not self._points:
            # Not even the first sizes gave a figure.
            return
        last, end = max(self._points), len(self._sizes) - 1
        if self._failed is None and last < end and not self._is_saturated():
            yield min(last + STRIDE, end)

    def inside(self) -> Iterator[int]:
        """Yield a place inside every gap that is not known.

        A gap waits for the one below it, as what is measured there may show the two on a line.
        """
        divided = -1
        for low, high in self._gaps():
            if not self._reason_of_gap(low, high) and low != divided:
                yield (low + high) // 2
                divided = high

    def reason(self, place: int) -> str:
        """Return the reason that a place need not be measured."""
        if self._is_beyond(place) or not self._points:
            return self._why_failed()
        if place > max(self._points) and self._failed is None:
            return self._why_saturated() if self._is_saturated() else _ENDED
        low, high = next((low, high) for low, high in self._gaps() if low < place < high)
        return self._reason_of_gap(low, high) or _ENDED

    def _gaps(self) -> Iterator[tuple[int, int]]:
        ends = [*self._points, *([self._failed] if self._failed is not None else [])]
        yield from ((low, high) for low, high in pairwise(ends) if high - low > 1)

    def _reason_of_gap(self, low: int, high: int) -> str:
        lower, upper = self._points[low], self._points.get(high)
        if upper is None:
            return self._why_saturated() if self._is_saturated() else ""
        best = max(lower.rate.value, upper.rate.value)
        for point in self._every:
            if point.latency_s.value <= lower.latency_s.value and point.rate.value * (1 + TOLERANCE) >= best:
                return f"dominated: a batch of {point.size} is as quick and yields as much"
        if line := self._line(low):
            return "straight: on the line through batches of {}, {} and {}".format(*(each.size for each in line))
        return ""

    def _line(self, low: int) -> tuple[FrontierPoint, FrontierPoint, FrontierPoint] | None:
        """Return three neighbours on a line with both ends of the gap above a place among them, or None."""
        places = list(self._points)
        at = places.index(low)
        for start in (at - 1, at):
            if start >= 0 and start + 2 < len(places):
                one, middle, other = (self._points[place] for place in places[start : start + 3])
                if _is_straight(one, middle, other):
                    return one, middle, other
        return None

    def _is_saturated(self) -> bool:
        *lower, last = (point.rate.value for point in self._points.values())
        return bool(lower) and last <= max(lower) * (1 + TOLERANCE)

    def _why_saturated(self) -> str:
        *lower, last = self._points.values()
        best = max(lower, key=lambda point: point.rate.value)
        return f"saturated: a batch of {last.size} yields no more than one of {best.size}"

    def _why_failed(self) -> str:
        return f"failed: a batch of {self._sizes[self._failed or 0]} has no figure"


_ENDED = "the run ended before it was measured"


def _is_straight(one: FrontierPoint, middle: FrontierPoint, other: FrontierPoint) -> bool:
    """Return true if the middle of three points takes what the line between the outer two says."""
    along = (middle.size - one.size) / (other.size - one.size)
    ends = _step_ends(one), _step_ends(middle), _step_ends(other)
    latency_s, rate = step_between(one, other, middle.size)
    off = max(abs(math.log(latency_s / middle.latency_s.value)), abs(math.log(rate / middle.rate.value)))
    return off <= MOST_OFF_LINE and all(
        _meet((_between(first[0], last[0], along), _between(first[1], last[1], along)), between)
        for first, between, last in zip(*ends, strict=True)
    )


def _step_ends(point: FrontierPoint) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the intervals of the latency, and of the time of a step by the rate."""
    (least, most), (slow, quick) = _ends(point.latency_s), _ends(point.rate)
    return (least, most), (point.size / quick, point.size / slow)


def _ends(value: Estimate) -> tuple[float, float]:
    return (value.value if value.low is None else value.low), (value.value if value.high is None else value.high)


def _meet(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[1] * (1 + TOLERANCE) and other[0] <= one[1] * (1 + TOLERANCE)
