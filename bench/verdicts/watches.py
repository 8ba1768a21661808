"""Releases next to an anchor, and the rig against itself, drawn from seeds and judged by the functions of a night."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bench.rows import Row, bounded, mean, share
from bench.verdicts.simulated import RUN_DEVIATION, TOLERANCE, Floats
from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.judge.findings import confirmed, needs_confirmation
from orchestrator.regression.judge.metric_rule import MetricRule
from orchestrator.regression.model import Judged
from orchestrator.regression.nightly.drift import is_new
from orchestrator.regression.nightly.records import Drift, OpenDrift
from orchestrator.regression.nightly.state import State
from orchestrator.regression.nightly.watch.quiet import CellNoise, SelfNight, noise_changes
from orchestrator.regression.rules import BY_NAME, DOUBTED_BLOCKS, Gate, Rules

CELLS, NIGHTS = 20, 60
ANCHOR_TOLERANCE = 0.05
RULES = Rules(gates=(Gate("throughput", TOLERANCE),))
COMPARED = 2 * CELLS
"""Pairs that share alpha: every cell next to its baseline, and next to the anchor."""
THROUGHPUT = BY_NAME["throughput"]
ALARMS = (Verdict.SLOWER, Verdict.FASTER)
_MOST_BLOCKS = RULES.looks[-1] * (1 + DOUBTED_BLOCKS)


@dataclass(frozen=True)
class Sides:
    """The rates of one cell in each block, of every side."""

    baseline: Floats
    candidate: Floats
    anchor: Floats

    @classmethod
    def drawn(cls, draw: np.random.Generator, baseline: float, candidate: float, links: int = 1) -> "Sides":
        """Return the rates of sides that are slower than the anchor by factors.

        With several `links`, the anchor is carried over to the candidate by as many ratios less one.
        """
        logs = RUN_DEVIATION * draw.standard_normal((2 * links + 1, _MOST_BLOCKS))
        anchor = logs[2:].sum(axis=0)
        return cls(np.exp(logs[0]) / baseline, np.exp(logs[1]) / candidate, np.exp(anchor))


@dataclass
class Judgement:
    """The end of one comparison."""

    baseline: Floats
    candidate: Floats
    tolerance: float
    compared: int = COMPARED
    judged: Judged | None = None
    blocks: int = 0

    @property
    def is_open(self) -> bool:
        """Return true if more blocks may decide it."""
        return self.judged is None or self.judged.verdict is Verdict.INCONCLUSIVE

    def look(self, number: int) -> None:
        """Judge the blocks up to a look."""
        if self.is_open:
            self.blocks = RULES.looks[number]
            self.judged = self._judge(0, self.blocks, number)

    def _judge(self, first: int, last: int, look: int | None = None) -> Judged:
        rule = MetricRule(THROUGHPUT, True, self.tolerance)
        values = list(zip(self.baseline[first:last].tolist(), self.candidate[first:last].tolist(), strict=True))
        level = RULES.alone(1) if look is None else RULES.levels(look, self.compared).deciding
        return rule.judge(values, level)

    def confirm(self, *, doubted: bool = False) -> None:
        """Judge fresh blocks if it is an alarm."""
        if self.judged is not None and needs_confirmation(self.judged):
            fresh = self.blocks * (DOUBTED_BLOCKS if doubted else 1)
            self.judged = confirmed(self.judged, self._judge(self.blocks, self.blocks + fresh), doubted=doubted)

    @property
    def verdict(self) -> Verdict:
        """Return the verdict so far."""
        return self.judged.verdict if self.judged else Verdict.NOT_MEASURED


def measured(sides: Sides) -> tuple[Judgement, Judgement]:
    """Judge a candidate next to its baseline and to the anchor, which go on together until both are decided."""
    pair = Judgement(sides.baseline, sides.candidate, TOLERANCE)
    anchored = Judgement(sides.anchor, sides.candidate, ANCHOR_TOLERANCE)
    for number in range(len(RULES.looks)):
        if pair.is_open or anchored.is_open:
            pair.look(number)
            anchored.look(number)
    return pair, anchored


@dataclass
class Course:
    """One cell over releases, whose baseline follows each release that is not worse."""

    alarms: list[int] = field(default_factory=list)
    """Releases, from 1, at which the drift alarmed."""
    regressions: int = 0
    blocks: list[int] = field(default_factory=list)
    """Blocks of each release until both comparisons are decided."""


def course(draw: np.random.Generator, levels: Sequence[float], links: int = 1) -> Course:
    """Measure releases that are slower than the anchor by factors, one after the other."""
    found, baseline, reported = Course(), 1.0, State(watched="simulated")
    for number, level in enumerate(levels, 1):
        pair, anchored = measured(Sides.drawn(draw, baseline, level, links))
        found.blocks.append(max(pair.blocks, anchored.blocks))
        for each in (pair, anchored):
            each.confirm()
        found.regressions += pair.verdict is Verdict.SLOWER
        if pair.verdict is not Verdict.SLOWER:
            baseline = level
            reported = _after(reported, anchored, number, found)
    return found


def _after(state: State, anchored: Judgement, number: int, found: Course) -> State:
    """Return the state after a release, whose drift alarms if it is new."""
    judged = anchored.judged
    if judged is None:
        return state
    if judged.is_regression and judged.ratio and judged.low and judged.high:
        drift = Drift(
            release=str(number), anchor="0", cell="cell", metric="throughput", tolerance=ANCHOR_TOLERANCE,
            ratio=judged.ratio, low=judged.low, high=judged.high,
        )  # fmt: skip
        if is_new(drift, state):
            found.alarms.append(number)
            opened = OpenDrift(release=drift.release, anchor="0", cell="cell", metric="throughput", ratio=drift.ratio)
            return state.model_copy(update={"drifts": (*state.drifts, opened)})
    if judged.verdict.is_good:
        healed = tuple(each.model_copy(update={"recovered": str(number)}) for each in state.drifts)
        return state.model_copy(update={"drifts": healed})
    return state


def drifts(count: int = 1000) -> Iterator[Row]:
    """Releases next to an anchor whose tolerance is 5 %, in a family of twenty cells.

    Each cell is judged next to its baseline, which follows every release that is not worse, and next to the anchor.
    """
    losses = [1.01**number for number in range(1, 11)]
    before = sum(level <= 1 + ANCHOR_TOLERANCE for level in losses)
    for seed, links in ((591, 1), (592, 2)):
        draw = np.random.default_rng(seed)
        ends = [course(draw, losses, links) for _ in range(count)]
        what = "ten losses of 1 %" + (", chained over one release" if links > 1 else "")
        by_tenth = sum(bool(end.alarms) for end in ends)
        early = sum(any(number <= before for number in end.alarms) for end in ends)
        bars = {"low": 0.9} if links == 1 else {}
        yield share(f"{what}: the anchor alarms by the tenth", by_tenth, count, "cells", **bars)
        yield share("… before the sum passes 5 %", early, count, "cells", high=0.05)
        yield mean("… at the release", [float(end.alarms[0]) for end in ends if end.alarms], "cells", "releases")
        yield mean("… alarms in all", [float(len(end.alarms)) for end in ends], "cells", "alarms")
        yield share("… the baseline alone alarms", sum(bool(end.regressions) for end in ends), count, "cells")
        yield mean("… blocks of a release", [float(each) for end in ends for each in end.blocks], "releases", "blocks")
    for seed, level, what in (
        (593, 1.0, "60 nights of equal releases"),
        (594, 1 + ANCHOR_TOLERANCE, "60 nights of releases 5 % slower than the anchor, its very tolerance"),
    ):
        draw = np.random.default_rng(seed)
        series = [course(draw, [level] * NIGHTS) for _ in range(count // 2)]
        alarms = [float(len(each.alarms)) for each in series]
        yield mean(f"{what}: false alarms of the anchor", alarms, "cells", "", 0.05)
        yield mean("… blocks of a night", [float(each) for end in series for each in end.blocks], "nights", "blocks")


def watch(count: int = 1000) -> Iterator[Row]:
    """Nights of twenty equal cells with an anchor, series whose alarms were wrong, and rigs that get noisier.

    A series in doubt is measured again on twice the fresh blocks, which must be `slower` by themselves.
    """
    yield from _false_alarms(count)
    yield from _doubt(count)
    yield from _noisier(count)


def _false_alarms(count: int) -> Iterator[Row]:
    draw, false = np.random.default_rng(596), 0
    for _ in range(count):
        every = [each for _ in range(CELLS) for each in measured(Sides.drawn(draw, 1.0, 1.0))]
        false += any(each.verdict in ALARMS for each in every)
    what = "nights of twenty equal cells next to baseline and anchor with any false `slower` or `faster`"
    yield share(what, false, count, "nights", high=0.05)
    yield bounded("… upper end of the 95 % interval", false, count, "nights", 0.05)


def _doubt(count: int) -> Iterator[Row]:
    for seed, slowdown, what in ((597, 1.05, "a slowdown of 5 %"), (598, 1.04, "a slowdown of 4 %")):
        for doubted in (False, True):
            draw = np.random.default_rng(seed)
            ends = [_alarmed(draw, slowdown, doubted=doubted) for _ in range(count)]
            which = "of a series in doubt" if doubted else "of any other series"
            alarms = sum(judgement.judged is not None and judgement.judged.is_regression for judgement, _ in ends)
            yield share(f"{what} {which} alarms", alarms, count, "cells")
            yield mean("… blocks, fresh ones among them", [float(blocks) for _, blocks in ends], "cells", "blocks")


def _alarmed(draw: np.random.Generator, slowdown: float, *, doubted: bool) -> tuple[Judgement, int]:
    """Judge one of twenty cells without an anchor, and confirm it. Return it with all its blocks."""
    sides = Sides.drawn(draw, 1.0, slowdown)
    pair = Judgement(sides.baseline, sides.candidate, TOLERANCE, CELLS)
    for number in range(len(RULES.looks)):
        pair.look(number)
    alarming = pair.judged is not None and needs_confirmation(pair.judged)
    pair.confirm(doubted=doubted)
    fresh = pair.blocks * (DOUBTED_BLOCKS if doubted else 1) if alarming else 0
    return pair, pair.blocks + fresh


def _noisier(count: int) -> Iterator[Row]:
    """Rigs of twenty cells whose scatter rises in the middle of sixty nights of the baseline against itself."""
    draw, middle = np.random.default_rng(599), NIGHTS // 2
    steady = sum(_is_noisier(_nights(draw, 1.0)) for _ in range(count))
    yield share("sixty nights of a steady rig: it is called noisier", steady, count, "rigs", high=0.05)
    for seed, rise in ((600, 1.5), (601, 2.0)):
        draw = np.random.default_rng(seed)
        rigs = [_nights(draw, rise) for _ in range(count)]
        for after in (3, 5):
            told = sum(_is_noisier(nights[: middle + after]) for nights in rigs)
            bars = {"low": 0.9} if after == 5 else {}
            what = f"a rig whose scatter rises by {100 * (rise - 1):.0f} %: reported by the night {after} from then on"
            yield share(what, told, count, "rigs", **bars)


def _is_noisier(nights: Sequence[SelfNight]) -> bool:
    return any(after > before for _, before, after in noise_changes(nights))


def _nights(draw: np.random.Generator, rise: float) -> list[SelfNight]:
    """Return nights whose scatter is that of twelve blocks a cell, and differs by a tenth from night to night."""
    true = 2**0.5 * RUN_DEVIATION * np.exp(0.1 * draw.standard_normal(NIGHTS))
    true[NIGHTS // 2 :] *= rise
    squares = draw.chisquare(11, (NIGHTS, CELLS)) / 11
    deviations = true * np.exp(0.5 * np.log(squares).mean(axis=1))
    return [
        SelfNight("n", "d", "h", "1", CELLS, (), 0, 0, (CellNoise("c", "throughput", float(deviation), 0.05, 12),))
        for deviation in deviations
    ]
