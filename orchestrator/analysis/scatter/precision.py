"""The repeats that a plan takes for a wanted interval, by what stored runs of its cells say."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.analysis.scatter.allocation import (
    LEAST_BLOCKS,
    MOST_BLOCKS,
    Cost,
    HalfWidth,
    allocation,
    fewest_repeats,
    half_width,
)
from orchestrator.analysis.scatter.moderation import KnownVariance, moderated, prior
from orchestrator.analysis.scatter.tails import effective_degrees, excess_kurtosis
from orchestrator.analysis.scatter.variance import Components, RepeatScatter, components


class Basis(StrEnum):
    """The source of what is known of a cell's scatter."""

    STORED = "stored repeats"
    OTHERS = "other cells"
    """The cell was never measured here twice in a run; the range holds all that other cells of this host differ in."""
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class StoredCell:
    """The stored repeats of one cell."""

    here: Sequence[Sequence[RepeatScatter]]
    """By run, those of this host."""
    elsewhere: Sequence[Sequence[Sequence[RepeatScatter]]]
    """By host and run, those of other hosts."""
    cost: Cost | None
    """The time of a container on this host; None if none was measured here."""

    @property
    def scatter(self) -> Components | None:
        """Return the variances of the cell on this host, with that from host to host."""
        own = components([self.here])
        every = components([self.here, *self.elsewhere]) if self.elsewhere else None
        return own and Components(
            own.step, own.block, own.container, own.run, every.host if every else None, own.repeat, own.degrees,
            own.blocks, own.steps,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class CellToPlan:
    """A cell of a plan, with what is known of it."""

    id: str
    blocks: int
    """Timed blocks of a repeat, by the matrix."""
    counts_blocks: bool
    """False if its blocks are epochs or calls, whose number is part of the work."""
    container_s: float
    """An estimate of its container, for want of a measured one."""
    stored: StoredCell | None


@dataclass(frozen=True, slots=True)
class CellPrecision:
    """The cheapest way to the wanted interval of one cell."""

    id: str
    basis: Basis
    repeats: int | None
    """None if nothing is known of its scatter, or if a thousand would not do."""
    blocks: int
    """Timed blocks of each repeat."""
    seconds: float | None
    """Of all its repeats."""
    reached: HalfWidth | None
    stored_repeats: int
    """The repeats of this host that it is known from."""
    scatter: Components | None


def precision(
    cells: Sequence[CellToPlan], others: Mapping[str, StoredCell], wanted: float
) -> tuple[CellPrecision, ...]:
    """Return the repeats and blocks of each cell whose expected half-width is at most the wanted share.

    `others` are all cells that are stored of this host, by any name. Their scatter is the prior of each, and so are
    their tails: what slows a repeat now and then is the host.
    """
    excess = excess_kurtosis([math.log(repeat.rate) for repeat in run] for each in others.values() for run in each.here)
    known = [_known(each.scatter, excess) for each in others.values()]
    before = prior([each for each in known if each is not None])
    return tuple(_cell(cell, before, wanted, excess) for cell in cells)


def _known(scatter: Components | None, excess: float) -> KnownVariance | None:
    if scatter is None:
        return None
    return KnownVariance(scatter.repeat, effective_degrees(scatter.degrees, excess), excess)


def _cell(cell: CellToPlan, before: KnownVariance | None, wanted: float, excess: float) -> CellPrecision:
    stored = cell.stored
    scatter, cost = (stored.scatter, stored.cost) if stored else (None, None)
    known = moderated(_known(scatter, excess), before)
    counted = sum(map(len, stored.here)) if stored else 0
    if known is None:
        return CellPrecision(cell.id, Basis.NOTHING, None, cell.blocks, None, None, counted, scatter)
    basis = Basis.STORED if scatter else Basis.OTHERS
    if scatter and cost and cell.counts_blocks and scatter.block is not None:
        blocks = {cell.blocks, *range(LEAST_BLOCKS, MOST_BLOCKS + 1)}
        best = allocation(scatter, known, cost, wanted, sorted(blocks))
        if best is not None:
            return CellPrecision(
                cell.id, basis, best.repeats, best.blocks, best.seconds, best.reached, counted, scatter
            )
    repeats = fewest_repeats(known, wanted)
    container_s = cost.container_s(cell.blocks) if cost else cell.container_s
    return CellPrecision(
        id=cell.id,
        basis=basis,
        repeats=repeats,
        blocks=cell.blocks,
        seconds=None if repeats is None else repeats * container_s,
        reached=None if repeats is None else half_width(known, repeats),
        stored_repeats=counted,
        scatter=scatter,
    )
