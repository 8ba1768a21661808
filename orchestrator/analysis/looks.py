"""How sure to be at each look at a family of cells, so that all looks at all cells together are as wrong as one α says.

Two things can go wrong in a night, and each may happen in at most α of the nights. A false alarm is one wrong
`slower` or `faster` anywhere: the more cells, the more chances, so each gets a share (Bonferroni's: the only correction
that leaves every cell an interval that says what its verdict says). A false all-clear is `same` for every cell though
some cell has changed by more than the tolerance: that takes a wrong `same` at the very cell, so more cells give it no
more chances, and each is tested at the whole α (an intersection-union test).
Sources: Dunn, "Multiple comparisons among means", J. American Statistical Association 56 (1961); Berger,
"Multiparameter hypothesis testing and acceptance sampling", Technometrics 24 (1982).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

LOOKS = (6, 12, 24)
"""Blocks after which a run is looked at; what is decided is not measured further."""
ALPHA = 0.05
"""Share of the nights that may hold a false alarm, and that may end in a false all-clear."""
_SPENDING_POWER = 2


@dataclass(frozen=True, slots=True)
class Look:
    """One look: what to hand to `compare` for every cell and metric that is not yet decided."""

    blocks: int
    """Measured so far."""
    confidence: float
    """Of each interval. All intervals of all looks hold the truth at once in 1 - α of the nights."""
    equivalence: float
    """Of each of the two one-sided tests for `same`."""


def looks(family: int, *, blocks: Sequence[int] = LOOKS, alpha: float = ALPHA) -> tuple[Look, ...]:
    """Spend α over the looks at a family of `family` comparisons (cells × gating metrics).

    `blocks` are the numbers of blocks at the looks, rising; one number is a run without looks on the way. Up to a look
    at t of all blocks, t² of α is spent, and each look is tested at what it adds: early looks find what is large, and
    most is left for the last. The looks' levels add up to α, which holds for whatever depends on what, and for t tests
    at few blocks, where boundaries from Brownian motion are approximate.
    Raises `ValueError` where the family is empty, the blocks do not rise from 2, or α is not between 0 and 0.5.
    Sources: Lan and DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70 (1983); the power
    family, Kim and DeMets, Biometrika 74 (1987); Jennison and Turnbull, "Interim analyses: the repeated confidence
    interval approach", J. Royal Statistical Society B 51 (1989).
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
