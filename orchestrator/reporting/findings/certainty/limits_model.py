"""The limits of the intervals of a group, as values of a report."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GroupLimits:
    """The scatter that limits the intervals of a group, as medians over its cells."""

    cells: int
    """Those with repeats enough to split their scatter."""
    step: float | None
    """Of a single step, as a standard deviation of logarithms: 0.01 is about one percent. None if none was timed."""
    block: float | None
    """From block to block of a container, beyond the steps; None with single blocks."""
    container: float
    """From container to container, beyond the blocks."""
    shares: tuple[tuple[str, float], ...]
    """The part of each level in the variance of a repeat: `steps`, `blocks` and `containers`."""
    blocks: float
    """Timed blocks of a repeat."""
    best_blocks: float | None
    """The blocks that narrow an interval most for their time; None if there is no end to it, or no time is known."""
    container_s: float
    """The time of a container without its timed blocks."""
    block_s: float
