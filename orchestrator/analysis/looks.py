"""The confidence at each look at a family of cells, so that all looks at all cells together err by at most α.

Two errors are possible in a night, and each may happen in at most α of the nights. A false alarm is one wrong `slower`
or `faster` anywhere. More cells give it more chances, so each cell gets a share (Bonferroni's, the only correction that
leaves every cell an interval that agrees with its verdict). A false all-clear is `same` for every cell although some
cell has changed by more than the tolerance. It takes a wrong `same` at that very cell, so more cells give it no more
chances, and each is tested at the whole α (an intersection-union test).
Sources: Dunn, "Multiple comparisons among means", J. American Statistical Association 56 (1961); Berger,
"Multiparameter hypothesis testing and acceptance sampling", Technometrics 24 (1982).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

LOOKS = (6, 12, 24)
"""Numbers of blocks after which a run is looked at; cells that are decided are not measured further."""
ALPHA = 0.05
"""Share of the nights that may have a false alarm, and share that may end in a false all-clear."""
_SPENDING_POWER = 2


@dataclass(frozen=True, slots=True)
class Look:
    """One look, with the arguments of `compare` for every cell and metric that is not yet decided."""

    blocks: int
    """Blocks measured so far."""
    confidence: float
    """Confidence of each interval.

    All intervals of all looks contain the truth at once in 1 - α of the nights.
    """
    equivalence: float
    """Level of each of the two one-sided tests for `same`."""


def looks(family: int, *, blocks: Sequence[int] = LOOKS, alpha: float = ALPHA) -> tuple[Look, ...]:
    """Return the looks at a family of `family` comparisons (cells × gating metrics), among which α is spent.

    `blocks` are the rising numbers of blocks at the looks; one number is a run without looks on the way. Up to a look
    at t of all blocks, t² of α is spent, and each look is tested at the part that it adds: early looks show what is
    large, and most is left for the last. The looks' levels add up to α. This holds under any dependence, and for t
    tests at few blocks, where boundaries from Brownian motion are approximate. Raises `ValueError` if the family is
    empty, the blocks do not rise from 2, or α is not between 0 and 0.5. Sources: Lan and DeMets, "Discrete sequential
    boundaries for clinical trials", Biometrika 70 (1983); the power family, Kim and DeMets, Biometrika 74 (1987);
    Jennison and Turnbull, "Interim analyses: the repeated confidence interval approach", J. Royal Statistical Society B
    51 (1989).
    """
    if family < 1:
        raise ValueError(f"a family has at least one comparison, not {family}")
    if not blocks or blocks[0] < 2 or any(b <= a for a, b in pairwise(blocks)):
        raise ValueError(f"looks are at rising numbers of blocks, from 2 on, not at {list(blocks)}")
    if not 0 < alpha < 0.5:
        raise ValueError(f"α lies between 0 and 0.5, not at {alpha}")
    spent = [math.pow(number / blocks[-1], _SPENDING_POWER) for number in (0, *blocks)]
    shares = [after - before for before, after in pairwise(spent)]
    return tuple(
        Look(number, 1 - alpha * share / family, alpha * share) for number, share in zip(blocks, shares, strict=True)
    )
