"""The conclusion of a chain, from those of its spans."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.analysis.comparison import Comparison, chained, half_width
from orchestrator.analysis.estimates import exponential
from orchestrator.regression.search.blocks import Untestable
from orchestrator.regression.search.chain import PythonSpan
from orchestrator.regression.search.chain_record import FoundChain, SpanEnds
from orchestrator.regression.search.conclusion import Conclusion, Span
from orchestrator.regression.search.record_parts import UntestableRelease
from orchestrator.regression.search.steps import CHANGED


@dataclass(frozen=True, slots=True)
class SearchedSpan:
    """A span of a chain and the conclusion of its search."""

    span: PythonSpan
    conclusion: Conclusion

    @property
    def ends(self) -> SpanEnds:
        """Return its ends as the record has them."""
        span, untestable = self.span, self.conclusion.untestable
        broken_by = tuple(
            UntestableRelease(release=each.release, reason=each.reason)
            for each in untestable
            if each.release in {span.first, span.last}
        )
        return SpanEnds(
            python=span.python,
            first=span.first,
            last=span.last,
            comparison=self.conclusion.ends,
            broken_by=broken_by,
        )


def chain_conclusion(
    releases: Sequence[str],
    searched: Sequence[SearchedSpan],
    *,
    tolerance: float,
    higher_is_better: bool,
    every: bool,
) -> Conclusion:
    """Return what the spans show together.

    The last release compared with the first is the product of the ends of the spans, if all are known. Without `every`
    one change is kept apart: the largest that goes the way of the whole chain, or the largest of all if none does.
    """
    conclusions = [each.conclusion for each in searched]
    links = [each.ends for each in conclusions if each.ends is not None]
    ends = None
    if len(links) == len(searched):
        ends = chained(links, tolerance=tolerance, higher_is_better=higher_is_better)
    named = [span for each in conclusions for span in _in_order(releases, (*each.changes, *each.further))]
    kept = named if every else _largest(named, ends)
    gradual = tuple(span for each in conclusions for span in each.gradual)
    unsettled = tuple(span for each in conclusions for span in each.unsettled)
    if ends is not None and ends.verdict in CHANGED and not (named or gradual or unsettled):
        gradual = (Span(releases[0], releases[-1], ends, tuple(releases[1:-1])),)
    return Conclusion(
        ends=ends,
        changes=tuple(kept),
        further=tuple(span for span in named if span not in kept),
        gradual=gradual,
        unsettled=unsettled,
        untestable=tuple(_untestable(conclusions)),
    )


def found_chain(searched: Sequence[SearchedSpan], ends: Comparison | None) -> FoundChain:
    """Return the spans, with the error of the ends of the chain beside that of the widest span."""
    own = half_width(ends) if ends else None
    halves = [half_width(each.conclusion.ends) for each in searched if each.conclusion.ends]
    known = [half for half in halves if half is not None]
    return FoundChain(
        spans=tuple(each.ends for each in searched),
        half_width=None if own is None else exponential(own) - 1,
        widest_half_width=None if own is None else exponential(max(known)) - 1,
    )


def _in_order(releases: Sequence[str], spans: Sequence[Span]) -> list[Span]:
    return sorted(spans, key=lambda span: releases.index(span.after))


def _largest(named: Sequence[Span], ends: Comparison | None) -> list[Span]:
    """Return the largest change of those that go the way of the ends, or of all if none does."""
    way = math.log(ends.ratio) if ends else 0.0
    along = [span for span in named if _size(span) * way >= 0] or named
    return sorted(along, key=lambda span: -abs(_size(span)))[:1]


def _size(span: Span) -> float:
    """Return the logarithm of a change, which has a comparison since it is named by one."""
    return math.log(span.comparison.ratio) if span.comparison else 0.0


def _untestable(conclusions: Sequence[Conclusion]) -> Iterator[Untestable]:
    """Yield what is untestable, a release that two spans share once if both say the same of it."""
    yield from dict.fromkeys(untestable for each in conclusions for untestable in each.untestable)
