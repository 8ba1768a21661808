"""Rankings drawn from a seed and measured until decided, against fixed numbers of repeats that decide as often."""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bench.rows import Row, mean, share
from bench.verdicts.simulated import RUN_DEVIATION
from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.gpus.in_turn import Timed
from orchestrator.analysis.rankings import MOST_BLOCKS, RankingLooks, family_of, looks_up_to
from orchestrator.analysis.ratios import Ratio

CELLS, MANY = 8, 20
UNTIL_DECIDED = RankingLooks(looks_up_to(MOST_BLOCKS), MOST_BLOCKS)
WRONG = (Verdict.FASTER, Verdict.SLOWER)

Rates = Sequence[Sequence[Timed]]
"""The repeats of each cell of a group, as many as there may be."""
Gaps = Callable[[np.random.Generator], Sequence[float]]
"""Draws the steps from each cell to the next faster one, as shares."""


@dataclass(frozen=True)
class Ranked:
    """The end of a ranking."""

    launches: int
    is_decided: bool
    """True if every comparison is."""
    is_wrong: bool
    """True if any order is the wrong way round, or is claimed of equal cells."""


def drawn(draw: np.random.Generator, gaps: Sequence[float]) -> tuple[list[float], Rates]:
    """Return the true logarithm of each cell, slowest first, and its repeats in every block that there may be."""
    levels = [0.0, *np.cumsum(np.log1p(gaps)).tolist()]
    logs = np.asarray(levels)[:, None] + RUN_DEVIATION * draw.standard_normal((len(levels), MOST_BLOCKS))
    return levels, [[Timed(block, "", float(rate)) for block, rate in enumerate(cell)] for cell in np.exp(logs)]


def ranked(levels: Sequence[float], rates: Rates, looks: RankingLooks) -> Ranked:
    """Return the end of a ranking.

    A cell has as many repeats as the longest of its comparisons took: with all repeats drawn before, that is what a run
    measures, as both cells of an open comparison go on.
    """
    family, launches, ratios = family_of(len(levels)), [0] * len(levels), dict[tuple[int, int], Ratio]()
    for one, other in combinations(range(len(levels)), 2):
        over = ratios[one, other] = looks.ratio(rates[one], rates[other], family)
        for cell in (one, other):
            launches[cell] = max(launches[cell], over.blocks or 0)
    wrong = any(_is_wrong(over.verdict, levels[one] - levels[other]) for (one, other), over in ratios.items())
    return Ranked(sum(launches), all(over.verdict is not Verdict.INCONCLUSIVE for over in ratios.values()), wrong)


def _is_wrong(verdict: Verdict, truth: float) -> bool:
    return verdict in WRONG and (truth == 0 or (verdict is Verdict.FASTER) != (truth > 0))


def as_often(decided: float, rankings: Sequence[tuple[list[float], Rates]]) -> int:
    """Return the fewest repeats of every cell, looked at once, that decide that share of rankings or more."""

    def is_enough(repeats: int) -> bool:
        once = RankingLooks((repeats,), repeats)
        return sum(_is_decided(rates, once) for _, rates in rankings) >= decided * len(rankings)

    low, high = 1, MOST_BLOCKS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _is_decided(rates: Rates, looks: RankingLooks) -> bool:
    """Return true if every comparison is decided, without a look at those after the first that is not."""
    family = family_of(len(rates))
    pairs = combinations(rates, 2)
    return all(looks.ratio(*pair, family).verdict is not Verdict.INCONCLUSIVE for pair in pairs)


STEPS = CELLS - 1
GAPS: dict[str, tuple[Gaps, float | None]] = {
    "all gaps 3 %": (lambda _: [0.03] * STEPS, 0.7),
    "gaps drawn evenly from 1 to 20 %": (lambda draw: draw.uniform(0.01, 0.2, STEPS).tolist(), 0.4),
    "gaps that grow by one factor from 1 to 20 %": (lambda _: np.geomspace(0.01, 0.2, STEPS).tolist(), None),
}
"""The gaps of eight cells, with the wanted share of launches."""


def rows(count: int = 1000, of_many: int = 400) -> Iterator[Row]:
    """Eight cells of one group, ranked until decided, and by a number of repeats that is the same for all.

    The looks are after 6, 8, 12, 16, 24, 32, 48 and 64 blocks. The fixed number is the smallest whose single look, at
    all of α shared by as many comparisons, decides every comparison in as many rankings.
    """
    for number, (what, (gaps, wanted)) in enumerate(GAPS.items()):
        draw = np.random.default_rng(600 + number)
        drawings = [drawn(draw, gaps(draw)) for _ in range(count)]
        ends = [ranked(*each, UNTIL_DECIDED) for each in drawings]
        decided = sum(end.is_decided for end in ends)
        bar = {"low": 0.95} if number == 0 else {}
        yield share(f"eight cells, {what}: every comparison decided", decided, count, "rankings", **bar)
        yield share("… any order wrong", sum(end.is_wrong for end in ends), count, "rankings", high=0.05)
        launches = [float(end.launches) for end in ends]
        yield mean("… launches", launches, "rankings", "launches")
        fixed = CELLS * as_often(decided / count, drawings)
        yield _against(f"… against {fixed} launches, a fixed number that decides as often", launches, fixed, wanted)
        fewer = CELLS * as_often(0.95, drawings)
        yield _against(f"… against {fewer} launches, a fixed number that decides 95 %", launches, fewer, None)
    draw = np.random.default_rng(610)
    ends = [ranked(*drawn(draw, [0.0] * (MANY - 1)), UNTIL_DECIDED) for _ in range(of_many)]
    wrong = sum(end.is_wrong for end in ends)
    yield share("twenty equal cells: any false `slower` or `faster`", wrong, of_many, "rankings", high=0.05)
    yield mean("… launches", [float(end.launches) for end in ends], "rankings", "launches")


def _against(what: str, launches: Sequence[float], fixed: int, wanted: float | None) -> Row:
    ratio = statistics.fmean(launches) / fixed
    error = statistics.stdev(launches) / math.sqrt(len(launches)) / fixed
    within = None if wanted is None else ratio <= wanted
    return Row(what, "" if wanted is None else f"≤ {wanted:g}", ratio, error, f"{len(launches)} rankings", within)
