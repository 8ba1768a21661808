"""The frontier of latency and throughput over batch sizes, in place of one batch size."""

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

FRONTIER: Final = "frontier"
"""The batch size of a matrix that asks for it."""
SIZES: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""The batch sizes of a whole grid, each at most 1.5 times the one before it from 2 on."""


@dataclass(frozen=True, slots=True)
class Frontier:
    """The frontier that a cell is a part of, beside cells that differ by batch size, CPUs and options alone."""

    latency_limits_s: tuple[float, ...] = ()
    """Limits under which the best cell is named."""


OwnFrontier = Annotated[Frontier | None, Field(exclude_if=lambda frontier: frontier is None)]
"""The frontier of a cell; JSON holds it only there."""


def sizes_up_to(most: int | None) -> tuple[int, ...]:
    """Return the batch sizes that so many samples fill; None bounds nothing."""
    return tuple(size for size in SIZES if most is None or size <= most)
