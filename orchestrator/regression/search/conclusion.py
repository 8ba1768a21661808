"""The conclusion of a search, from its judged steps."""

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.analysis.comparison import Comparison
from orchestrator.regression.search.blocks import Untestable
from orchestrator.regression.search.steps import CHANGED, JudgedStep


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


def first_named(steps: Sequence[JudgedStep], ends: JudgedStep) -> JudgedStep | None:
    """Return the first step that is named and goes the way of the ends, or None."""
    return next((step for step in steps if step.verdict in CHANGED and step.value * ends.value >= 0), None)


def conclude(
    releases: Sequence[str],
    ends: JudgedStep,
    steps: Sequence[JudgedStep],
    unsettled: Sequence[JudgedStep],
    *,
    every: bool,
) -> Conclusion:
    """Return what the steps show. Without `every` one change is kept apart, if possible one that goes the whole way."""

    def span(step: JudgedStep) -> Span:
        between = releases[releases.index(step.before) + 1 : releases.index(step.after)]
        return Span(step.before, step.after, step.comparison, tuple(between))

    named = [step for step in steps if step.verdict in CHANGED]
    kept = named if every else [first_named(steps, ends) or named[0]] if named else []
    is_gradual = ends.verdict in CHANGED and not named and not unsettled
    return Conclusion(
        ends=ends.comparison,
        changes=tuple(map(span, kept)),
        further=tuple(span(step) for step in named if step not in kept),
        gradual=(span(ends),) if is_gradual else (),
        unsettled=tuple(map(span, unsettled)) if every or not named else (),
        untestable=(),
    )
