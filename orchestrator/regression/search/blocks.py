"""The blocks of a search: those to measure next, and those that are measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orchestrator.analysis.scatter.block_scatter import block_scatter
from orchestrator.analysis.scatter.contrasts import Scatter


@dataclass(frozen=True, slots=True)
class Round:
    """Blocks to measure in one go, each of which holds all of some releases once, in an order drawn for it."""

    releases: tuple[str, ...]
    """In the order of the search."""
    blocks: int

    @property
    def launches(self) -> int:
        """Return the number of containers."""
        return len(self.releases) * self.blocks


@dataclass(frozen=True, slots=True)
class Untestable:
    """A release that cannot be measured, or does other work than the others."""

    release: str
    reason: str


@dataclass(frozen=True, slots=True)
class RoundAnswer:
    """The result of a round."""

    blocks: tuple[Mapping[str, float | None], ...]
    """The value of every testable release in each block; None where its repeat failed."""
    untestable: tuple[Untestable, ...] = ()


@dataclass
class MeasuredBlocks:
    """All blocks of a search so far, in order."""

    blocks: list[Mapping[str, float | None]] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    """By release, the reason that it is untestable."""
    _first: int = 0
    """Blocks of the first round."""

    def add(self, answer: RoundAnswer) -> None:
        """Take in a round."""
        self._first = self._first or len(answer.blocks)
        self.blocks += answer.blocks
        self.reasons |= {each.release: each.reason for each in answer.untestable}

    def tried(self, *releases: str) -> int:
        """Return the number of blocks that were to hold all of some releases."""
        return sum(all(release in block for release in releases) for block in self.blocks)

    def pairs(self, before: str, after: str) -> list[tuple[float, float]]:
        """Return both values of two releases in each block that has both."""
        both = ((block.get(before), block.get(after)) for block in self.blocks)
        return [(one, other) for one, other in both if one is not None and other is not None]

    def scatter(self, *releases: str) -> Scatter | None:
        """Return the scatter that releases have in common, or None if one of them is not whole in the first round.

        It is that of the first round alone, whose number of blocks does not depend on any result.
        """
        first = self.blocks[: self._first]
        whole = [
            release
            for release in dict.fromkeys(name for block in first for name in block)
            if all(block.get(release) is not None for block in first)
        ]
        if not set(releases) <= set(whole):
            return None
        return block_scatter([_values(block, whole) for block in first])


def _values(block: Mapping[str, float | None], releases: Sequence[str]) -> list[float]:
    return [value for release in releases if (value := block.get(release)) is not None]
