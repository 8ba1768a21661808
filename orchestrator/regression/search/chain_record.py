"""The part of `bisect.json` that says what was found of each span of a chain."""

from typing import Annotated

from pydantic import Field

from orchestrator.analysis.comparison import Comparison
from orchestrator.regression.search.chain import PythonSpan
from orchestrator.regression.search.record_parts import UntestableRelease
from orchestrator.results.contract import LARGEST, Strict

_HalfWidth = Annotated[float, Field(ge=0, le=LARGEST, allow_inf_nan=False)]


class SpanEnds(Strict):
    """The ends of a span, and how the last one compares with the first one on their Python."""

    python: str
    first: str
    last: str
    comparison: Comparison | None = None
    """None if an end is untestable, or too few blocks have both."""
    broken_by: tuple[UntestableRelease, ...] = ()
    """The ends that are untestable on this Python; the chain breaks there."""

    @property
    def span(self) -> PythonSpan:
        """Return the span."""
        return PythonSpan(self.python, self.first, self.last)


class FoundChain(Strict):
    """The spans of a chain, and the error that chaining adds.

    A half width is a share: 0.012 is × 1.012 and ÷ 1.012.
    """

    spans: tuple[SpanEnds, ...]
    """In the order of the releases."""
    half_width: _HalfWidth | None = None
    """Half the interval of the ends of the chain; None if there is none."""
    widest_half_width: _HalfWidth | None = None
    """Half the widest interval of the ends of a span, which a search on one Python would have had at the least."""

    @property
    def broken(self) -> tuple[SpanEnds, ...]:
        """Return the spans whose ends are not compared."""
        return tuple(span for span in self.spans if span.comparison is None)
