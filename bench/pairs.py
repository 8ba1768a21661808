"""Paired, interleaved comparison of two ways to do one thing, with an interval around their ratio."""

import json
import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from scipy import stats

UNBOUNDED = 1000.0
"""The upper end of a bar without one, in a form that JSON knows."""


@dataclass(frozen=True)
class Ratio:
    """Geometric mean of ours ÷ theirs over pairs, with its 90 % t interval on the logarithm."""

    name: str
    ours: str
    theirs: str
    pairs: int
    ratio: float
    low: float
    high: float
    bar_low: float
    bar_high: float
    ours_values: list[float]
    theirs_values: list[float]
    unit: str

    @property
    def within(self) -> bool:
        """Return true if the whole interval lies inside the bar."""
        return self.bar_low <= self.low and self.high <= self.bar_high


def interleave(
    ours: Callable[[], float], theirs: Callable[[], float], pairs: int, seed: int = 1
) -> tuple[list[float], list[float]]:
    """Run both sides `pairs` times, in a new random order for each pair, and return their figures."""
    order = random.Random(seed)
    a: list[float] = []
    b: list[float] = []
    for number in range(pairs):
        sides = [(ours, a), (theirs, b)]
        order.shuffle(sides)
        for side, values in sides:
            values.append(side())
        print(f"  pair {number + 1}/{pairs}: {a[-1]:.4g} / {b[-1]:.4g}", file=sys.stderr, flush=True)
    return a, b


def compare(
    name: str,
    ours: str,
    theirs: str,
    values: tuple[Sequence[float], Sequence[float]],
    *,
    bar: tuple[float, float],
    unit: str,
) -> Ratio:
    """Estimate the ratio of paired values by a paired t interval on log ratios."""
    logs = [math.log(a / b) for a, b in zip(*values, strict=True)]
    mean = sum(logs) / len(logs)
    half = 0.0
    if len(logs) > 1:
        deviation = math.sqrt(sum((x - mean) ** 2 for x in logs) / (len(logs) - 1))
        half = float(stats.t.ppf(0.95, len(logs) - 1)) * deviation / math.sqrt(len(logs))
    return Ratio(
        name=name, ours=ours, theirs=theirs, pairs=len(logs), ratio=math.exp(mean),
        low=math.exp(mean - half), high=math.exp(mean + half), bar_low=bar[0], bar_high=bar[1],
        ours_values=list(values[0]), theirs_values=list(values[1]), unit=unit,
    )  # fmt: skip


def emit(ratios: Sequence[Ratio]) -> None:
    """Print the figures as JSON on stdout, for `bench/__main__.py` to gather."""
    print(json.dumps([asdict(ratio) | {"within": ratio.within} for ratio in ratios]))
