"""The search algorithm, which yields comparisons and is sent their results. It measures nothing.

A search is a generator: it yields probes, is sent their answers, and returns its conclusion. The same answers lead to
the same probes, so a search is resumed by answering from the record until it asks for something new.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from orchestrator.analysis.comparison import ALPHA, LOOKS, Comparison, Look, Verdict, looks

PROBED = (*LOOKS, 2 * LOOKS[-1])
"""Blocks after which a probe is looked at: one that stays undecided ends the search there, so it may take more."""
CHANGED = frozenset({Verdict.SLOWER, Verdict.FASTER})


@dataclass(frozen=True, slots=True)
class Probe:
    """A comparison to make, of a candidate and its baseline over all blocks of a look at its confidence."""

    baseline: str
    candidate: str
    look: Look


@dataclass(frozen=True, slots=True)
class Untestable:
    """An answer: one of the two cannot be measured."""

    release: str
    reason: str


Answer = Comparison | Untestable


@dataclass(frozen=True, slots=True)
class Span:
    """Two releases, not always neighbours, and how the later one compares with the earlier."""

    before: str
    after: str
    comparison: Comparison | None
    """None if one of them is untestable."""
    between: tuple[str, ...] = ()
    """Releases between the two, in order; those of a change could not be tested and may hold it as well."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The result of a search; every list is in the order of the releases."""

    ends: Comparison | None
    """The last release compared with the first; None if one of them is untestable."""
    changes: tuple[Span, ...]
    """Spans whose change first shows in `after`, or in a release between."""
    further: tuple[Span, ...]
    """Spans that changed too, and were not searched because only one change was wanted."""
    gradual: tuple[Span, ...]
    """Spans that changed, without a change within them."""
    unsettled: tuple[Span, ...]
    """Spans that all the blocks allowed did not decide."""
    untestable: tuple[Untestable, ...]

    @property
    def several(self) -> bool:
        """Return true if there is more than one change between the ends."""
        return len(self.changes) + len(self.further) + len(self.gradual) > 1


Search = Generator[Probe, Answer, Conclusion]


def search(
    releases: Sequence[str], *, every: bool = False, blocks: Sequence[int] = PROBED, alpha: float = ALPHA
) -> Search:
    """Search ordered releases, the known good one first and the known bad one last, for the one that changed it.

    Halves what changed: where a half changed it is searched in turn, the first such half of the direction of the whole.
    With `every` both halves are, and those whose ends are the same too: what changes and changes back shows nowhere but
    between neighbours. A probe is asked at rising numbers of blocks while it is inconclusive; a span that stays so is
    not halved. An untestable release is stepped over. α is shared among all comparisons that there can be at most: that
    of the ends, and two for each release that halves a span.
    Raises `ValueError` where there are fewer than two releases, or one twice.
    """
    if len(releases) < 2 or len(set(releases)) < len(releases):
        raise ValueError(f"a search takes two releases or more, each once, not {list(releases)}")
    between = len(releases) - 2
    halvings = between if every else between.bit_length()
    return _Search(releases, looks(1 + 2 * halvings, blocks=blocks, alpha=alpha), every=every).run()


def carried_out(steps: Search, ask: Callable[[Probe], Answer]) -> Conclusion:
    """Answer a search's probes until it concludes."""
    try:
        probe = next(steps)
        while True:
            probe = steps.send(ask(probe))
    except StopIteration as ended:
        conclusion: Conclusion = ended.value
        return conclusion


_Steps = Generator[Probe, Answer, None]
_Half = tuple[int, int, Comparison]


class _Search:
    """A search under way."""

    def __init__(self, releases: Sequence[str], plan: Sequence[Look], *, every: bool) -> None:
        self.releases, self.plan, self.every = releases, plan, every
        self.reasons: dict[str, str] = {}
        self.changes: list[Span] = []
        self.further: list[Span] = []
        self.gradual: list[Span] = []
        self.unsettled: list[Span] = []

    def run(self) -> Search:
        """Compare the ends, then search between them."""
        last = len(self.releases) - 1
        ends = yield from self._compare(0, last)
        if ends is not None:
            yield from self._span(0, last, ends)
        untestable = tuple(Untestable(each, self.reasons[each]) for each in self.releases if each in self.reasons)
        return Conclusion(
            ends=ends,
            changes=self._in_order(self.changes),
            further=self._in_order(self.further),
            gradual=self._in_order(self.gradual),
            unsettled=self._in_order(self.unsettled),
            untestable=untestable,
        )

    def _in_order(self, spans: Sequence[Span]) -> tuple[Span, ...]:
        return tuple(sorted(spans, key=lambda span: self.releases.index(span.before)))

    def _compare(self, start: int, end: int) -> Generator[Probe, Answer, Comparison | None]:
        """Ask at rising numbers of blocks until it is decided, or None if one of the two is untestable."""
        comparison: Comparison | None = None
        for look in self.plan:
            answer = yield Probe(self.releases[start], self.releases[end], look)
            if isinstance(answer, Untestable):
                self.reasons[answer.release] = answer.reason
                return None
            comparison = answer
            if comparison.verdict is not Verdict.INCONCLUSIVE:
                break
        return comparison

    def _span(self, start: int, end: int, whole: Comparison) -> _Steps:
        """Search between two releases that were compared. A change that nothing within explains is reported whole."""
        changed = whole.verdict in CHANGED
        before, halves = self._reported(), []
        if changed or (self.every and whole.verdict is Verdict.SAME):
            halves = yield from self._halves(start, end)
            yield from self._within(halves, whole.verdict)
        if self._reported() > before:
            return
        if changed:
            (self.gradual if halves else self.changes).append(self._as_span(start, end, whole))
        elif whole.verdict is Verdict.INCONCLUSIVE:
            self.unsettled.append(self._as_span(start, end, whole))

    def _reported(self) -> int:
        return sum(map(len, (self.changes, self.further, self.gradual, self.unsettled)))

    def _halves(self, start: int, end: int) -> Generator[Probe, Answer, list[_Half]]:
        """Compare a release between two with both. Return nothing if none of those between is testable."""
        middle = self._middle(start, end)
        while middle is not None:
            left = yield from self._compare(start, middle)
            right = None if left is None else (yield from self._compare(middle, end))
            if left is not None and right is not None:
                return [(start, middle, left), (middle, end, right)]
            if self.releases[middle] not in self.reasons:
                self.unsettled.append(self._as_span(start, end, None))
                return []
            middle = self._middle(start, end)
        return []

    def _within(self, halves: Sequence[_Half], whole: Verdict) -> _Steps:
        changed = [half for half in halves if half[2].verdict in CHANGED]
        # The earlier of two changes is searched; a change against the direction of the whole does not count.
        chosen = next((half for half in changed if half[2].verdict is whole), next(iter(changed), None))
        for half in halves:
            if self.every or half is chosen or half[2].verdict is Verdict.INCONCLUSIVE:
                yield from self._span(*half)
            elif half in changed:
                self.further.append(self._as_span(*half))

    def _middle(self, start: int, end: int) -> int | None:
        """Return the middle one of the testable releases between two, or None."""
        between = [place for place in range(start + 1, end) if self.releases[place] not in self.reasons]
        return between[(len(between) - 1) // 2] if between else None

    def _as_span(self, start: int, end: int, comparison: Comparison | None) -> Span:
        between = tuple(self.releases[start + 1 : end])
        return Span(self.releases[start], self.releases[end], comparison, between)
