"""The search algorithm: which releases to measure next, and what their blocks show. It measures nothing.

All releases are measured together in the first blocks. After that a block holds only releases that border a step which
is still in question, and each step is judged by its two releases alone. What is measured next decides nothing, so it
may follow what looks largest so far. The same answers lead to the same rounds, so a search is resumed from the answers
in its record.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from orchestrator.analysis.comparison import ALPHA, Verdict
from orchestrator.regression.rules import LEAST_BLOCKS
from orchestrator.regression.search.blocks import MeasuredBlocks, Round, RoundAnswer, Untestable
from orchestrator.regression.search.conclusion import Conclusion, conclude, first_named
from orchestrator.regression.search.steps import JudgedStep, StepJudge, search_looks

LARGE = 2.5
"""The size of a step that a search for one change is to find, in tolerances: 5 % at a tolerance of 2 %.

Smaller ones take as many launches as a search for every change, since each step must be shown to be none.
"""
_TRIES = 2
"""Blocks that may be tried for a step, as a multiple of those of its last look, since some repeats may fail."""


@dataclass(frozen=True, slots=True)
class Question:
    """The question of a search."""

    releases: tuple[str, ...]
    """In order, the known good one first and the known bad one last."""
    tolerance: float
    looks: tuple[int, ...]
    """Numbers of blocks of a step at which it is judged."""
    higher_is_better: bool = True
    every: bool = False
    """True to decide every step; otherwise the search ends with the first step that is named."""
    alpha: float = ALPHA
    """Probability that any step is named that is within the tolerance, whatever the steps are."""
    large: float = LARGE
    """The size of a large step, in tolerances."""
    family: int | None = None
    """The number of comparisons that share α; None if they are those of this search alone."""

    def __post_init__(self) -> None:
        """Raise `ValueError` if there are fewer than two releases, or one twice."""
        if len(self.releases) < 2 or len(set(self.releases)) < len(self.releases):
            raise ValueError(f"a search takes two releases or more, each once, not {list(self.releases)}")


@dataclass
class Search:
    """A search under way.

    One change and every change are the same search, with another end. A search for every change goes on until each step
    is decided. A search for one goes on only with steps that may still be large, which are not yet shown to be smaller
    than so many tolerances, and ends with the first that is named. Of the steps that go on, the largest is measured
    alone up to its next look, as long as it is larger than the tolerance so far; otherwise all go on together.

    A step never takes more blocks than it would take by itself, and a block never holds more than the two releases of
    each step it is measured for: that is what brute force between neighbours launches.
    """

    question: Question
    measured: MeasuredBlocks = field(default_factory=MeasuredBlocks)

    def __post_init__(self) -> None:
        """Set the looks at all steps."""
        asked = self.question
        plan = search_looks(len(asked.releases), asked.looks, asked.alpha, asked.family)
        self._judge = StepJudge(self.measured, plan, asked.tolerance, asked.higher_is_better)

    @property
    def testable(self) -> tuple[str, ...]:
        """Return the releases that are not known to be untestable."""
        return tuple(release for release in self.question.releases if release not in self.measured.reasons)

    @property
    def ends(self) -> JudgedStep | None:
        """Return the last release compared with the first, or None if one of them is untestable."""
        first, last = self.question.releases[0], self.question.releases[-1]
        return self._judge.step(first, last) if {first, last} <= set(self.testable) else None

    @property
    def steps(self) -> tuple[JudgedStep, ...]:
        """Return the steps between testable neighbours, in order."""
        return tuple(self._judge.step(before, after) for before, after in pairwise(self.testable))

    def wanted(self) -> Round | None:
        """Return the next blocks to measure, or None if the search has ended."""
        ends = self.ends
        if ends is None:
            return None
        unmeasured = {release for release in self.testable if not self.measured.tried(release)}
        if unmeasured:
            return Round(self._with_neighbours(unmeasured), self.question.looks[0])
        chosen = self._chosen(ends)
        if not chosen:
            return None
        bordering = {release for step in chosen for release in (step.before, step.after)}
        releases = tuple(release for release in self.testable if release in bordering)
        # The failure of a single repeat says nothing of a release.
        return Round(releases, max(LEAST_BLOCKS, min(step.missing_blocks for step in chosen)))

    def _chosen(self, ends: JudgedStep) -> Sequence[JudgedStep]:
        """Return the steps to measure next."""
        steps, every = self.steps, self.question.every
        if not every and first_named(steps, ends):
            return ()
        most = _TRIES * self.question.looks[-1]
        pool = [
            step
            for step in steps
            if step.is_open
            and (every or self._may_be_large(step))
            and self.measured.tried(step.before, step.after) < most
        ]
        leading = max(pool, key=lambda step: self._size(step, ends), default=None)
        if leading is not None and self._size(leading, ends) > math.log1p(self.question.tolerance):
            return [leading]
        return pool

    def _size(self, step: JudgedStep, ends: JudgedStep) -> float:
        """Return the logarithm of a step as measured so far, against the way of the ends below 0 for one change."""
        return abs(step.value) if self.question.every else step.value * math.copysign(1, ends.value)

    def _may_be_large(self, step: JudgedStep) -> bool:
        return step.excluded is None or step.excluded > self.question.large * math.log1p(self.question.tolerance)

    def _with_neighbours(self, releases: set[str]) -> tuple[str, ...]:
        """Return testable releases with those next to them, in order, and with an end the other one."""
        ends = {self.question.releases[0], self.question.releases[-1]}
        near = {each for pair in pairwise(self.testable) if releases & set(pair) for each in pair}
        near |= ends if releases & ends else set()
        return tuple(release for release in self.testable if release in near)

    def conclusion(self) -> Conclusion:
        """Return what the blocks so far show."""
        reasons, every = self.measured.reasons, self.question.every
        untestable = tuple(Untestable(each, reasons[each]) for each in self.question.releases if each in reasons)
        ends = self.ends
        if ends is None:
            return Conclusion(None, (), (), (), (), untestable)
        undecided = [step for step in self.steps if step.verdict is Verdict.INCONCLUSIVE]
        unsettled = [step for step in undecided if every or self._may_be_large(step)]
        conclusion = conclude(self.question.releases, ends, self.steps, unsettled, every=every)
        return replace(conclusion, untestable=untestable)


def carried_out(search: Search, ask: Callable[[Round], RoundAnswer]) -> Conclusion:
    """Carry out the rounds of a search until it ends, each answered by `ask`, and return what they show."""
    while (wanted := search.wanted()) is not None:
        search.measured.add(ask(wanted))
    return search.conclusion()
