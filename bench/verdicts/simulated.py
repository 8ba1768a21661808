"""Nights, runs and series drawn from a seed, which `bench.verdicts.detection` passes to `orchestrator.analysis`."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orchestrator.analysis.comparison import Comparison, Look, Verdict, compare
from orchestrator.regression.search.algorithm import Question, Search
from orchestrator.regression.search.blocks import RoundAnswer
from orchestrator.regression.search.steps import CHANGED, MOST_BLOCKS, look_numbers

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

TOLERANCE = 0.02
RUN_DEVIATION, SESSION_DEVIATION = 0.02, 0.01
STEPS, BLOCKS = 20, 10
"""Steps of a timed block, and timed blocks of a run."""
NIGHTS = 60
RUNS_A_NIGHT = 5
SEARCH_LOOKS = look_numbers(MOST_BLOCKS)


@dataclass(frozen=True)
class Decided:
    """The end of the looks at one cell."""

    verdict: Verdict
    blocks: int


def decided(draw: np.random.Generator, plan: Sequence[Look], slowdown: float) -> Decided:
    """Measure one cell in blocks until it is decided or the looks are over."""
    runs = drawn(draw, plan[-1].blocks, slowdown)
    verdict, blocks = Verdict.INCONCLUSIVE, 0
    for look in plan:
        verdict, blocks = looked_at(runs, look).verdict, look.blocks
        if verdict is not Verdict.INCONCLUSIVE:
            break
    return Decided(verdict, blocks)


def drawn(draw: np.random.Generator, blocks: int, slowdown: float) -> Floats:
    """Return the rates of a baseline and of its candidate in each of some blocks."""
    runs: Floats = np.exp(RUN_DEVIATION * draw.standard_normal((2, blocks)))
    runs[1] /= slowdown
    return runs


def looked_at(runs: Floats, look: Look) -> Comparison:
    """Compare the first blocks of a look at its confidence."""
    baseline, candidate = runs[:, : look.blocks]
    return compare(
        baseline,
        candidate,
        tolerance=TOLERANCE,
        higher_is_better=True,
        confidence=look.confidence,
        equivalence=look.equivalence,
        paired=True,
    )


SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Floats]] = {
    "normal": lambda draw, size: draw.standard_normal(size),
    "skewed": lambda draw, size: draw.exponential(size=size) - 1,
    "heavy-tailed": lambda draw, size: draw.standard_t(3, size) / math.sqrt(3),
}
"""Distributions with mean 0 and variance 1: a normal, an exponential, Student's t with 3 degrees of freedom."""


def throughputs(draw: np.random.Generator, steps: str, runs: str, repeats: int) -> Floats:
    """Return the samples per second of each repeat, from step times that scatter by a fifth.

    Each is the median over the repeat's blocks.
    """
    times = np.maximum(1 + 0.2 * SHAPES[steps](draw, (repeats, BLOCKS, STEPS)), 0.2)
    whole = np.maximum(1 + RUN_DEVIATION * SHAPES[runs](draw, (repeats,)), 0.2)
    rates: Floats = np.median(1 / (times.mean(axis=2) * whole[:, None]), axis=1)
    return rates


def covered(draw: np.random.Generator, steps: str, runs: str, repeats: int, *, paired: bool) -> bool:
    """Return true if the 95 % interval of one comparison holds the true ratio."""
    truth = 1 / 1.03
    comparison: Comparison = compare(
        throughputs(draw, steps, runs, repeats).tolist(),
        (truth * throughputs(draw, steps, runs, repeats)).tolist(),
        tolerance=TOLERANCE,
        higher_is_better=True,
        confidence=0.95,
        paired=paired,
    )
    return comparison.low is not None and comparison.high is not None and comparison.low <= truth <= comparison.high


@dataclass(frozen=True)
class StepTimes:
    """The scatter of the logarithms of single steps, as standard deviations."""

    between: float
    """Deviation of the factor that all steps of a repeat have in common."""
    within: float
    likeness: float = 0.0
    """Correlation of neighbouring steps."""
    slow: float = 0.0
    """Share of the steps that take longer, by a factor whose logarithm is exponential with a mean of 0.3."""

    def drawn(self, draw: np.random.Generator, count: int, repeats: int, steps: int) -> Floats:
        """Return step times of some cells, each with some repeats."""
        size = (count, repeats, steps)
        logs = draw.standard_normal(size)
        for step in range(1, steps):
            logs[..., step] *= math.sqrt(1 - self.likeness**2)
            logs[..., step] += self.likeness * logs[..., step - 1]
        logs = self.within * logs + self.between * draw.standard_normal((count, repeats, 1))
        if self.slow:
            logs += (draw.random(size) < self.slow) * draw.exponential(0.3, size)
        times: Floats = 0.01 * np.exp(logs)
        return times

    def percentile(self, share: float) -> float:
        """Return the true percentile of a step of a future repeat, from three million independent steps."""
        alike = StepTimes(math.hypot(self.between, self.within), 0.0, 0.0, self.slow)
        return float(np.quantile(alike.drawn(np.random.default_rng(579), 3_000_000, 1, 1), share))


STEP_TIMES = {
    "steps scatter by 10 %, repeats by 2 %": StepTimes(0.02, 0.1),
    "the same, neighbouring steps alike (correlation 0.9)": StepTimes(0.02, 0.1, likeness=0.9),
    "the same, and 3 % of the steps slow": StepTimes(0.02, 0.1, likeness=0.5, slow=0.03),
    "steps scatter by 2 %, repeats by 5 %": StepTimes(0.05, 0.02),
}


def resampled(draw: np.random.Generator, cells: Floats, share: float, draws: int = 300) -> list[tuple[float, float]]:
    """Return the 95 % percentile bootstrap of a quantile of the steps of each cell, by resampling whole repeats."""
    count, repeats, _ = cells.shape
    estimates = np.empty((draws, count))
    for number in range(draws):
        picks = draw.integers(0, repeats, (count, repeats))
        estimates[number] = np.quantile(cells[np.arange(count)[:, None], picks].reshape(count, -1), share, axis=1)
    low, high = np.quantile(estimates, (0.025, 0.975), axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


@dataclass(frozen=True)
class History:
    """Series of nights, each with one step, or none."""

    values: Floats
    """One series a row."""
    steps: Indices | None
    """Night of the step in each series."""


def histories(draw: np.random.Generator, count: int, step: float, *, spikes: bool, edge: int = 5) -> History:
    """Return series of 60 nights.

    Each has the deviation of its sessions, the median of five runs a night, a step up or down, and spikes of slow
    nights.
    """
    size = (count, NIGHTS)
    logs = SESSION_DEVIATION * draw.standard_normal(size)
    logs += np.median(RUN_DEVIATION * draw.standard_normal((*size, RUNS_A_NIGHT)), axis=2)
    places = draw.integers(edge, NIGHTS - edge, count, endpoint=True)
    direction = draw.choice([-1.0, 1.0], count)
    logs += np.where(np.arange(NIGHTS) >= places[:, None], (direction * math.log1p(step))[:, None], 0.0)
    if spikes:
        logs -= (draw.random(size) < 0.02) * np.log1p(draw.uniform(0.15, 0.40, size))
    return History(100 * np.exp(logs), places if step else None)


def long_history(draw: np.random.Generator, nights: int) -> list[float]:
    """Return a series with a step of 5 % every hundred nights on average, and spikes."""
    level = 0.05 * (np.cumsum(draw.random(nights) < 0.01) % 2)
    spikes = (draw.random(nights) < 0.02) * np.log1p(draw.uniform(0.15, 0.40, nights))
    return [float(each) for each in 100 * np.exp(level - spikes + 0.0147 * draw.standard_normal(nights))]


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of a method on the steps of some series."""

    recall: float
    """Share of the steps with a change within three nights of them."""
    false_alarms: float
    """Other changes a series."""


def judged(history: History, reported: Sequence[Sequence[int]]) -> Accuracy:
    """Return the accuracy of the reported changes of some series."""
    hits = false_alarms = 0
    for number, indices in enumerate(reported):
        near = 0
        if history.steps is not None:
            near = sum(abs(index - int(history.steps[number])) <= 3 for index in indices)
        hits += near > 0
        false_alarms += len(indices) - (near > 0)
    return Accuracy(hits / len(reported), false_alarms / len(reported))


@dataclass(frozen=True)
class Searched:
    """The end of a search."""

    named: tuple[int, ...]
    """Places of the releases that it names as changed."""
    launches: int
    """Containers: one for each release of each block."""
    until_named: int
    """Containers until the last of them was named; all of them if none was."""
    all_same: bool
    """True if every step is shown to be within the tolerance."""
    excluded: float
    """The largest of the limits that it states for the steps, as a share."""


def searched(
    draw: np.random.Generator, steps: Sequence[float], *, every: bool, deviations: Sequence[float] = ()
) -> Searched:
    """Search releases of which each is slower than the one before by a factor.

    `deviations` of the releases take the place of the common one.
    """
    level = np.cumprod([1.0, *steps])
    scatter = np.array(deviations or [RUN_DEVIATION] * len(level))
    question = Question(tuple(str(each) for each in range(len(level))), TOLERANCE, SEARCH_LOOKS, every=every)
    search, launches, until_named = Search(question), 0, 0
    named: tuple[int, ...] = ()
    while (wanted := search.wanted()) is not None:
        places = [int(release) for release in wanted.releases]
        common = SESSION_DEVIATION * draw.standard_normal((wanted.blocks, 1))
        runs = np.exp(common + scatter[places] * draw.standard_normal((wanted.blocks, len(places)))) / level[places]
        search.measured.add(
            RoundAnswer(tuple(dict(zip(wanted.releases, block, strict=True)) for block in runs.tolist()))
        )
        launches += wanted.launches
        before, named = named, tuple(int(step.after) for step in search.steps if step.verdict in CHANGED)
        until_named = launches if named != before else until_named
    return Searched(
        named=named,
        launches=launches,
        until_named=until_named or launches,
        all_same=all(step.verdict is Verdict.SAME for step in search.steps),
        excluded=math.expm1(max(step.excluded or math.inf for step in search.steps)),
    )
