"""The quiet of a rig, from the nights on which the baseline was measured against itself."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.analysis.change_points import change_points
from orchestrator.analysis.comparison import Verdict, detectable_effect, looks
from orchestrator.analysis.estimates import exponential
from orchestrator.analysis.proportions import clopper_pearson
from orchestrator.analysis.scatter.contrasts import Contrast
from orchestrator.regression.model import Judged, Regression
from orchestrator.regression.nightly.records import Noise
from orchestrator.regression.nightly.state import Night
from orchestrator.regression.rules import LEAST_BLOCKS, known_metric

LEAST_RISE = 0.2
"""The smallest rise of the scatter that is reported, as a share."""


@dataclass(frozen=True, slots=True)
class CellNoise:
    """The scatter of one metric of one cell."""

    cell: str
    metric: str
    deviation: float
    """Standard deviation of the logarithm of a block's ratio."""
    floor: float
    """The loss that a trial of all blocks finds in four of five cases, at this scatter, as a share."""
    blocks: int


@dataclass(frozen=True, slots=True)
class SelfNight:
    """A night on which the baseline was measured against itself, wholly."""

    night: str
    date: str
    host: str
    release: str
    comparisons: int
    """Metrics that decide and scatter, over all pairs."""
    alarms: tuple[str, ...]
    """Cell and metric of every false alarm."""
    withdrawn: int
    """Alarms that fresh blocks did not confirm."""
    faster: int
    cells: tuple[CellNoise, ...]

    @property
    def deviation(self) -> float:
        """Return the geometric mean of the scatter over cells and metrics, or 0 if nothing scatters."""
        return _mean([each.deviation for each in self.cells])

    @property
    def floor(self) -> float:
        """Return the geometric mean of the floor over cells and metrics."""
        return _mean([each.floor for each in self.cells])

    @property
    def alike(self) -> tuple[object, ...]:
        """Return the key that nights share whose scatter can be compared."""
        return self.host, tuple(sorted((each.cell, each.metric) for each in self.cells))


def _mean(values: Sequence[float]) -> float:
    return statistics.geometric_mean(values) if values and min(values) > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of draws that were false alarms."""

    hits: int
    draws: int

    @property
    def interval(self) -> tuple[float, float]:
        """Return the exact 95 % interval of the share."""
        return clopper_pearson(self.hits, self.draws)


@dataclass(frozen=True, slots=True)
class Quiet:
    """The false alarms, the floor and the scatter of a rig over its nights."""

    nights: tuple[SelfNight, ...]
    """Oldest first."""
    noise: Noise | None
    """None if the scatter is no higher than it was, or there are too few nights to say."""

    @property
    def by_night(self) -> Rate:
        """Return the share of nights with any false alarm."""
        return Rate(sum(bool(each.alarms) for each in self.nights), len(self.nights))

    @property
    def by_comparison(self) -> Rate:
        """Return the share of comparisons with a false alarm."""
        return Rate(sum(len(each.alarms) for each in self.nights), sum(each.comparisons for each in self.nights))

    @property
    def course(self) -> tuple[SelfNight, ...]:
        """Return the nights whose scatter can be compared with that of the newest one."""
        return tuple(each for each in self.nights if each.alike == self.nights[-1].alike and each.deviation > 0)


def quiet(nights: Sequence[Night]) -> Quiet:
    """Return what the recorded nights, oldest first, say of the rig."""
    tests = tuple(each for night in nights if (each := self_night(night)) is not None)
    return Quiet(tests, _noise(Quiet(tests, None).course, nights))


def self_night(night: Night) -> SelfNight | None:
    """Return the figures of a night's self-test, or None if there was none or it has no verdicts."""
    test = night.self_test
    if test is None or not test.complete or test.regression is None:
        return None
    decided = [
        (pair, metric)
        for pair in test.regression.pairs
        for metric in pair.metrics
        if metric.gates and not known_metric(metric.metric, metric.unit, metric.better).is_exact and metric.blocks
    ]
    broke = [f"{pair.id} broke" for pair in test.regression.pairs if pair.verdict is Verdict.BROKE]
    alarms = [f"{pair.id} {metric.metric}" for pair, metric in decided if metric.is_regression]
    return SelfNight(
        night=night.night,
        date=night.began_at[:10],
        host=night.host,
        release=test.release,
        comparisons=len(decided) + len(broke),
        alarms=(*alarms, *broke),
        withdrawn=sum(metric.confirmation is not None and not metric.confirmation.confirmed for _, metric in decided),
        faster=sum(metric.verdict is Verdict.FASTER for _, metric in decided),
        cells=tuple(
            _cell_noise(pair.id, metric, test.regression)
            for pair, metric in decided
            if len(metric.values) >= LEAST_BLOCKS
        ),
    )


def _cell_noise(cell: str, judged: Judged, regression: Regression) -> CellNoise:
    deviation = statistics.stdev(math.log(candidate / baseline) for baseline, candidate in judged.values)
    last = looks(regression.family, blocks=regression.looks, alpha=regression.alpha)[-1]
    whole = Contrast(0.0, (deviation**2,), (last.blocks,))
    floor = detectable_effect(whole, last.confidence, judged.tolerance)
    return CellNoise(cell, judged.metric, deviation, floor, len(judged.values))


def noise_changes(course: Sequence[SelfNight]) -> tuple[tuple[int, float, float], ...]:
    """Return index, level before and level after of every lasting change of the scatter."""
    changes = change_points([each.deviation for each in course], min_effect=LEAST_RISE)
    return tuple((change.index, change.before, change.after) for change in changes)


def _noise(course: Sequence[SelfNight], nights: Sequence[Night]) -> Noise | None:
    """Return the rise of the scatter that the newest nights rest on, by the last lasting change."""
    changes = noise_changes(course)
    if not changes or changes[-1][2] < changes[-1][1]:
        return None
    index, before, after = changes[-1]
    start = changes[-2][0] if len(changes) > 1 else 0
    return Noise(
        since=course[index].date,
        before=before,
        after=after,
        floor_before=exponential(statistics.fmean(math.log(each.floor) for each in course[start:index])),
        floor=exponential(statistics.fmean(math.log(each.floor) for each in course[index:])),
        is_new=not any(night.noise is not None for night in nights if night.began_at[:10] >= course[index].date),
    )
