"""The looks of a run until decided, as values of a report."""

from dataclasses import dataclass

from orchestrator.results.decisions import Decisions


@dataclass(frozen=True, slots=True)
class OpenPair:
    """A comparison that the looks left open."""

    one: str
    """Cell ids."""
    other: str
    more_repeats: int | None
    """About how many further repeats of each would decide it; None if that cannot be said."""
    cost_s: float | None
    """Seconds of these repeats of both cells, by the time of their launches so far."""


@dataclass(frozen=True, slots=True)
class GroupLooks:
    """The looks at the comparisons of a group."""

    family: int
    """The comparisons that share α."""
    decided: int
    """The comparisons that are decided."""
    open: tuple[OpenPair, ...]
    cost_s: float | None
    """Seconds of all further repeats that decide what is open; None if nothing is, or if it cannot be said of all."""


@dataclass(frozen=True, slots=True)
class UntilDecided:
    """The question of a run until decided, and how far it came."""

    looks: tuple[int, ...]
    """The blocks of the looks that were taken."""
    most_blocks: int
    alpha: float
    spent_s: float
    budget_s: float | None
    ended: str | None
    """`decided`, `most_blocks` or `budget`; None if it goes on, or was stopped."""


def until_decided(decisions: Decisions) -> UntilDecided:
    """Return what the record of a run says."""
    return UntilDecided(
        looks=decisions.taken,
        most_blocks=decisions.most_blocks,
        alpha=decisions.alpha,
        spent_s=decisions.spent_s,
        budget_s=decisions.budget_s,
        ended=decisions.ended,
    )
