"""Records of searches of schema 1, which halved what changed. They are read and shown, and do not go on."""

from typing import Literal

from pydantic import Field

from orchestrator.analysis.comparison import Comparison
from orchestrator.regression.model import Positive, Share
from orchestrator.regression.search.conclusion import Conclusion
from orchestrator.regression.search.record_parts import FoundBase, SearchBase
from orchestrator.results.contract import Count, Strict

EARLIER_LOOKS = (6, 12, 24, 48)
"""Blocks after which a pair of releases was looked at by default."""


class Probed(Strict):
    """The evidence of two environments over so many blocks."""

    baseline: str
    """The text of the side, as `Side.text` writes it; so is the candidate."""
    candidate: str
    blocks: Count
    run: str = ""
    """Relative to the search's folder; empty if there was nothing to run."""
    values: tuple[tuple[Positive, Positive], ...] = ()
    """Values of each block that counts; none if one of the two is untestable."""
    untestable: str = ""
    """The side that cannot be tested."""
    reason: str = ""


class EarlierStep(Strict):
    """A search's verdict on two of its releases or environments, at its last look."""

    before: str
    after: str
    blocks: Count = 0
    run: str = ""
    """Relative to the search's folder; empty if there was nothing to run."""
    comparison: Comparison | None = None
    """None if one of the two is untestable."""
    untestable: str = ""
    """The side that cannot be tested."""
    reason: str = ""


class EarlierOrigin(Strict):
    """The part of a change's two environments that it came with."""

    before: str
    after: str
    moved: tuple[str, ...]
    """Every package that moved, the one that was searched last."""
    by: tuple[str, ...] = ()
    """The moves that changed it, several if those between could not be tested, none if it is not known."""
    note: str = ""
    """The reason that it is not known more closely."""
    conclusion: Conclusion | None = None
    """The conclusion of the search over the moves; None if there was nothing to search."""
    alpha: Share | None = None
    """The share of α of that search; None if there was nothing to search."""
    steps: tuple[EarlierStep, ...] = ()
    """Its comparisons, in order; `before` and `after` are moves, each with all moves before it."""


class EarlierFound(FoundBase):
    """The result of a search."""

    origins: tuple[EarlierOrigin, ...] = ()
    """One for each change that was searched to its end, in the same order."""
    steps: tuple[EarlierStep, ...] = ()
    """The comparisons of releases, in order."""


class EarlierBisection(SearchBase):
    """The whole file."""

    schema_: Literal[1] = Field(1, alias="schema")
    probes: tuple[Probed, ...] = ()
    found: EarlierFound | None = None
    """None if the search has not ended."""
