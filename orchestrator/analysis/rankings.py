"""A ranking that is measured until its places are decided, with its looks and their levels.

All cells of a group that are compared share the blocks, and a cell leaves them once every comparison of it is decided.
The looks at all comparisons of a group share α, so that in 1 - α of the runs no comparison of the group is called
`faster` or `slower` wrongly, at whatever look it was decided. `same` is tested as `comparison` does it: each by itself,
at α over all looks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, count, takewhile
from typing import Final

from orchestrator.analysis.comparison import ALPHA, Look, Verdict, looks
from orchestrator.analysis.estimates import Estimate, estimate, exponential, log_mean
from orchestrator.analysis.gpus.in_turn import Timed, contrast_in_turn
from orchestrator.analysis.ratios import TOLERANCE, Ratio, RatioRule, ratio_of
from orchestrator.analysis.scatter.contrasts import Contrast

MOST_BLOCKS: Final = 64
"""Blocks at the last look, unless a user says otherwise."""
FIRST_LOOK: Final = 6


def looks_up_to(most_blocks: int) -> tuple[int, ...]:
    """Return the rising numbers of blocks at the looks: 6, 8, 12, 16, 24 and so on, and the last one."""
    usual = (blocks << step for step in count() for blocks in (FIRST_LOOK, FIRST_LOOK * 4 // 3))
    return (*takewhile(lambda blocks: blocks < most_blocks, usual), most_blocks)


@dataclass(frozen=True, slots=True)
class RankingLooks:
    """The looks that were taken at the comparisons of a group."""

    taken: tuple[int, ...]
    """Rising numbers of blocks, from 2 on. A budget may end a run between two of the usual looks."""
    most_blocks: int
    """Blocks at which all of α is spent."""
    alpha: float = ALPHA
    tolerance: float = TOLERANCE

    def levels(self, family: int) -> tuple[Look, ...]:
        """Return the looks that were taken, at a family of comparisons that share α.

        What is not spent at them is left for the looks to come.
        """
        if not self.taken:
            return ()
        to_come = (self.most_blocks,) if self.taken[-1] < self.most_blocks else ()
        return looks(family, blocks=(*self.taken, *to_come), alpha=self.alpha)[: len(self.taken)]

    def ratio(self, candidate: Sequence[Timed], baseline: Sequence[Timed], family: int) -> Ratio:
        """Compare two cells at the first look that decides, or at the last one.

        The interval is the repeated confidence interval of that look: those of all looks and of all comparisons of the
        family hold the truth at once in 1 - α of the runs. Without a look there is none. Raises `ValueError` if a side
        has no repeat. Source: Jennison and Turnbull, "Interim analyses: the repeated confidence interval approach",
        J. Royal Statistical Society B 51 (1989).
        """
        last: tuple[Contrast, RatioRule, int] | None = None
        for look in self.levels(family):
            sides = before(candidate, look.blocks), before(baseline, look.blocks)
            if all(sides):
                rule = RatioRule(look.confidence, self.tolerance, look.equivalence)
                last = contrast_in_turn(*sides), rule, look.blocks
                if last[0].repeats > 1 and rule.verdict(last[0]) is not Verdict.INCONCLUSIVE:
                    break
        if last is None:
            return _without_a_look(candidate, baseline, self.tolerance)
        apart, rule, blocks = last
        return replace(ratio_of(apart, rule), blocks=blocks)

    def estimate(self, repeats: Sequence[Timed], planned: int) -> Estimate:
        """Estimate the rate of a cell of so many planned repeats, by those up to its last look.

        The interval is at the level of that look, so that those of all looks hold the truth at once with 1 - α. Nothing
        is predicted of further repeats. Without a look there is no interval. Raises `ValueError` without a repeat.
        """
        reached = [look for look in self.levels(1) if look.blocks <= planned]
        counted = before(repeats, reached[-1].blocks) if reached else ()
        if not counted:
            return Estimate(exponential(log_mean([each.rate for each in repeats])[0]), None, None, len(repeats))
        known = estimate([each.rate for each in counted], reached[-1].confidence)
        return replace(known, next_low=None, next_high=None)


def before(repeats: Sequence[Timed], blocks: int) -> list[Timed]:
    """Return the repeats of the first blocks."""
    return [each for each in repeats if each.repeat < blocks]


def _without_a_look(candidate: Sequence[Timed], baseline: Sequence[Timed], tolerance: float) -> Ratio:
    over = ratio_of(contrast_in_turn(candidate, baseline), RatioRule(tolerance=tolerance))
    return replace(over, low=None, high=None, verdict=Verdict.INCONCLUSIVE, more_repeats=None)


def family_of(cells: int) -> int:
    """Return the number of comparisons between so many cells of a group, and 1 for a single cell."""
    return max(1, cells * (cells - 1) // 2)


Pair = tuple[str, str]
"""The names of two cells."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a group after its last look."""

    ratios: Mapping[Pair, Ratio]
    """The first of each pair over the second, of all pairs that are compared."""
    measured: frozenset[str]
    """The cells with two repeats or more, without which nothing can be decided of a cell."""

    @property
    def open(self) -> frozenset[str]:
        """Return the cells that go on: those with a comparison that is not decided and can be."""
        pairs = (pair for pair, over in self.ratios.items() if over.verdict is Verdict.INCONCLUSIVE)
        return frozenset(name for pair in pairs if self.measured.issuperset(pair) for name in pair)


def standing(
    cells: Mapping[str, Sequence[Timed]], taken: RankingLooks, are_apart: Callable[[str, str], bool]
) -> Standing:
    """Compare all cells of a group, by the repeats of each, up to the last look.

    `are_apart` returns true for two cells that do other work, which are not compared. They count in the family, so that
    the levels are known before anything is measured.
    """
    family, blocks = family_of(len(cells)), taken.taken[-1] if taken.taken else 0
    counted = {name: before(repeats, blocks) for name, repeats in cells.items()}
    ratios = {
        (one, other): taken.ratio(counted[one], counted[other], family)
        for one, other in combinations(cells, 2)
        if counted[one] and counted[other] and not are_apart(one, other)
    }
    return Standing(ratios, frozenset(name for name, repeats in counted.items() if len(repeats) > 1))
