"""The steps of a search, each from one release to the next, and what the blocks say of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, takewhile

from orchestrator.analysis.comparison import Comparison, Look, Verdict, compare, looks
from orchestrator.analysis.scatter.contrasts import contrast
from orchestrator.errors import InputError
from orchestrator.regression.rules import LEAST_BLOCKS
from orchestrator.regression.search.blocks import MeasuredBlocks

CHANGED = frozenset({Verdict.SLOWER, Verdict.FASTER})
_LOOKS = (4, 6, 8, 12, 20, 30, 40, 52)
"""Early looks name what is large; the later ones are where thirteen equal releases take the fewest launches."""
MOST_BLOCKS = _LOOKS[-1]
"""Blocks of a step after which it stays undecided, by default."""
_SPENDING_POWER = 1
"""A search spends α in proportion to its blocks: it is to name a step early, and to leave out what is none."""


@dataclass(frozen=True, slots=True)
class JudgedStep:
    """The step from one release to the next testable one."""

    before: str
    after: str
    blocks: int
    """Blocks that have both."""
    value: float
    """Mean logarithm over these blocks of the ratio of the later release to the earlier one."""
    comparison: Comparison | None
    """The later release compared with the earlier one at the last look; None before the first look."""
    excluded: float | None
    """The logarithm of the smallest step that is excluded: it is at least so large in at most α of the cases."""
    next_look: int | None
    """The number of blocks at the next look, or None after the last one."""

    @property
    def verdict(self) -> Verdict:
        """Return the verdict so far."""
        return self.comparison.verdict if self.comparison else Verdict.INCONCLUSIVE

    @property
    def is_open(self) -> bool:
        """Return true if further blocks may decide it."""
        return self.verdict is Verdict.INCONCLUSIVE and self.next_look is not None

    @property
    def missing_blocks(self) -> int:
        """Return the number of blocks up to the next look."""
        return max(0, (self.next_look or 0) - self.blocks)


@dataclass
class StepJudge:
    """The judge of all steps of a search, which looks at each at rising numbers of its blocks.

    A verdict rests on the contrast of two releases in the blocks that have both, so that steps of others cannot add to
    it. The blocks of a step are drawn independently of the results that chose them, which leaves the law of its
    contrast as it is (Doob, Stochastic Processes (1953), on optional skipping). So each of its looks errs at the level
    of that look, whatever was measured why, and the levels of all looks at all steps add up to α.
    """

    measured: MeasuredBlocks
    plan: tuple[Look, ...]
    tolerance: float
    higher_is_better: bool
    _looked: dict[tuple[str, str], tuple[int, JudgedStep]] = field(default_factory=dict)
    """By both releases, all blocks when the step was last judged, and the step."""

    def step(self, before: str, after: str) -> JudgedStep:
        """Judge a step by all looks that its blocks reach. A verdict of an earlier look stays."""
        unseen = 0, JudgedStep(before, after, 0, 0.0, None, None, self.plan[0].blocks)
        seen, step = self._looked.get((before, after), unseen)
        if seen == len(self.measured.blocks):
            return step
        pairs = self.measured.pairs(before, after)
        for number, look in enumerate(self.plan):
            if step.is_open and step.next_look == look.blocks <= len(pairs):
                following = self.plan[number + 1].blocks if number + 1 < len(self.plan) else None
                step = self._at(look, step, pairs[: look.blocks], following)
        if step.blocks != len(pairs):
            value = math.fsum(math.log(other / one) for one, other in pairs) / len(pairs)
            step = replace(step, blocks=len(pairs), value=value)
        self._looked[before, after] = len(self.measured.blocks), step
        return step

    def _at(
        self, look: Look, step: JudgedStep, pairs: Sequence[tuple[float, float]], following: int | None
    ) -> JudgedStep:
        baseline, candidate = [one for one, _ in pairs], [other for _, other in pairs]
        scatter = self.measured.scatter(step.before, step.after)
        comparison = compare(
            baseline,
            candidate,
            tolerance=self.tolerance,
            higher_is_better=self.higher_is_better,
            confidence=look.confidence,
            equivalence=look.equivalence,
            paired=True,
            scatter=scatter,
        )
        apart = contrast(candidate, baseline, paired=True, scatter=scatter)
        largest = abs(apart.value) + apart.half_width(1 - 2 * look.equivalence)
        excluded = largest if step.excluded is None else min(largest, step.excluded)
        return replace(step, comparison=comparison, excluded=excluded, next_look=following)


def look_numbers(most_blocks: int) -> tuple[int, ...]:
    """Return the numbers of blocks at which a step is looked at, up to the most allowed.

    Beyond the usual ones each is half as many again. Raises `InputError` if they are too few.
    """
    if most_blocks < LEAST_BLOCKS:
        raise InputError(
            f"--max-blocks {most_blocks}: takes at least {LEAST_BLOCKS} blocks; one says nothing of scatter"
        )
    numbers = chain(_LOOKS, (MOST_BLOCKS * 3**times // 2**times for times in count(1)))
    return (*takewhile(lambda blocks: blocks < most_blocks, numbers), most_blocks)


def comparisons(releases: int) -> int:
    """Return the number of comparisons of a search: its steps, and its ends if they are not the only step."""
    return releases if releases > 2 else 1


def search_looks(releases: int, blocks: Sequence[int], alpha: float, family: int | None = None) -> tuple[Look, ...]:
    """Return the looks at a step of a search, whose α is shared by all steps and the comparison of the ends.

    `family` is the number of comparisons that share it if there are others besides those of the search.
    """
    return looks(family or comparisons(releases), blocks=blocks, alpha=alpha, power=_SPENDING_POWER)
