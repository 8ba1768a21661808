"""The parts of `bisect.json` that its schemas share."""

from typing import Annotated

from pydantic import Field

from orchestrator.analysis.comparison import ALPHA, Verdict
from orchestrator.regression.model import Share
from orchestrator.regression.rules import Gate
from orchestrator.regression.search.chain import PythonSpan
from orchestrator.regression.search.conclusion import Conclusion, Span
from orchestrator.results.contract import Strict

AUTO = "auto"
"""The runtime of a search without a chosen one."""


class AskedChain(Strict):
    """The releases of a search whose ends no Python runs both, in spans that share a release with their neighbours."""

    reason: str
    """The Pythons of good and of bad, in words."""
    spans: tuple[PythonSpan, ...]
    """Two or more, in the order of the releases. Each is searched on its own Python."""


class Asked(Strict):
    """The question of a search, and the sources of its environments, models and data."""

    good: str
    bad: str
    python: str
    """The one Python that all releases run on; empty for the user's own images, and in a chain."""
    chain: Annotated[AskedChain | None, Field(exclude_if=lambda chain: chain is None)] = None
    """The spans of the releases, each on one Python, if no Python runs good and bad."""
    cell: str
    """The glob as the user wrote it."""
    pair: str
    """The pair of good and bad, such as `cpu/lenet-train-b200`."""
    within: Annotated[str, Field(exclude_if=lambda within: not within)] = ""
    """The framework that stays, such as `torch 2.13.0`, if releases of a package are searched in its environment."""
    metric: Gate
    every: bool
    looks: tuple[int, ...]
    alpha: Share = ALPHA
    """Probability of a wrong change in each of the two phases, releases and dependencies."""
    prereleases: bool = False
    yanked: bool = False
    matrix: str
    matrix_sha256: str
    models: str | None
    data: str | None
    base_image: str | None
    no_parity: bool
    limit: int
    runtime: str


class UntestableRelease(Strict):
    """An environment that cannot be measured, or does other work than the others."""

    release: str
    """The text of the side, as `Side.text` writes it."""
    reason: str


class LeftOut(Strict):
    """A release between the two that is not searched."""

    release: str
    reason: str


class SearchBase(Strict):
    """A search: its question and its releases."""

    schema_: int = Field(alias="schema")
    name: str
    created_at: str
    host: str
    asked: Asked
    searched: str
    """The distribution whose releases they are."""
    releases: tuple[str, ...]
    """Good first, bad last."""
    left_out: tuple[LeftOut, ...] = ()
    warnings: Annotated[tuple[str, ...], Field(exclude_if=lambda warnings: not warnings)] = ()
    """Warnings about the files of the dataset."""


class FoundBase(Strict):
    """The result of a search over releases."""

    releases: Conclusion

    @property
    def changes(self) -> tuple[Span, ...]:
        """Return every change, searched to its end or not."""
        return (*self.releases.changes, *self.releases.further, *self.releases.gradual)

    @property
    def is_worse(self) -> bool:
        """Return true if anything got worse between the ends."""
        ends = [self.releases.ends] if self.releases.ends else []
        seen = [*ends, *(span.comparison for span in self.changes if span.comparison)]
        return any(comparison.verdict is Verdict.SLOWER for comparison in seen)
