"""From values to places along an axis, in percent of its length, with ticks at round values."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from orchestrator.wording import seconds

_MOST_TICKS = 6
_LEAST_GAP = 15.0
"""Percent of an axis from one mark of a logarithmic one to the next: their texts need as much on a phone."""
_LOGARITHMIC_FROM = 12.0
_ZEROS = re.compile(r"(?<=\d)\.0+(?!\d)|(?<=\.\d)0+(?!\d)| 0 (?:s|min)$")
"""Of `2.00 s`, `0.50` and `2 min 0 s`: round values need none."""
_LONGEST_IN_SECONDS = 10.0
_LONG_STEPS_S = (30.0, *(60.0 * minutes for minutes in (1, 2, 5, 10, 30, 60, 120, 300)))


@dataclass(frozen=True, slots=True)
class Tick:
    """A round value on an axis."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `high`."""

    low: float
    high: float
    logarithmic: bool
    ticks: tuple[Tick, ...] = ()

    def at(self, value: float) -> float:
        """Return the place of a value in percent of the axis, at most at its ends."""
        if self.logarithmic:
            low, high, value = (math.log(max(each, self.low)) for each in (self.low, self.high, value))
        else:
            low, high = self.low, self.high
        share = (value - low) / (high - low) if high > low else 0.5
        return round(100 * min(1.0, max(0.0, share)), 1)

    def cuts(self, values: Iterable[float | None]) -> "Cuts":
        """Say on which ends of the axis some of the values lie beyond it."""
        known = [value for value in values if value is not None]
        return Cuts(any(value < self.low for value in known), any(value > self.high for value in known))


@dataclass(frozen=True, slots=True)
class Cuts:
    """The ends of an axis at which something that is drawn goes on beyond it."""

    low: bool = False
    high: bool = False

    def __bool__(self) -> bool:
        return self.low or self.high


UNCUT = Cuts()
CUT_NOTE = "an arrow: it goes on beyond the axis"
"""The sentence of a chart about values that it cuts."""


def from_zero(values: Iterable[float], text: Callable[[float], str]) -> Scale:
    """Return an axis for bars, from zero to a little above the highest value."""
    high = max(values, default=0.0) * 1.02 or 1.0
    return _from_zero(high, _round_step(high / _MOST_TICKS), text)


def seconds_from_zero(values: Iterable[float]) -> Scale:
    """Return an axis from zero for durations, whose ticks lie at whole minutes or hours if they are that long."""
    high = max(values, default=0.0) * 1.02 or 1.0
    longer = next((step for step in _LONG_STEPS_S if high / step <= _MOST_TICKS), 3600 * _round_step(high / 3600 / 6))
    step = _round_step(high / _MOST_TICKS)
    return _from_zero(high, longer if step > _LONGEST_IN_SECONDS else step, seconds)


def _from_zero(high: float, step: float, text: Callable[[float], str]) -> Scale:
    marks = [number * step for number in range(int(high / step) + 1)]
    return Scale(0.0, high, logarithmic=False, ticks=_ticks(Scale(0.0, high, logarithmic=False), marks, text))


def spread(values: Iterable[float], text: Callable[[float], str]) -> Scale:
    """Return an axis for points, logarithmic if the values span more than a factor of 12."""
    known = [value for value in values if value > 0]
    if not known or max(known) < _LOGARITHMIC_FROM * min(known):
        return from_zero(known, text)
    low, high = min(known) / 1.08, max(known) * 1.08
    plain = Scale(low, high, logarithmic=True)
    every = [digit * 10.0**power for power in range(_power(low), _power(high) + 1) for digit in (1, 2, 5)]
    marks = [mark for mark in every if low <= mark <= high]
    while any(plain.at(right) - plain.at(left) < _LEAST_GAP for left, right in pairwise(marks)):
        tens = [mark for mark in marks if math.isclose(mark, 10.0 ** _power(mark))]
        marks = tens if 2 <= len(tens) < len(marks) else marks[::2]
    return Scale(low, high, logarithmic=True, ticks=_ticks(plain, marks, text))


def between(values: Iterable[float], text: Callable[[float], str]) -> Scale:
    """Return an axis around values whose differences count and whose distance from zero does not."""
    known = list(values)
    low, high = min(known, default=0.0), max(known, default=1.0)
    room = 0.06 * (high - low) or 0.5 * abs(high) or 0.5
    low, high = low - room, high + room
    step = _round_step((high - low) / _MOST_TICKS)
    first = math.ceil(low / step)
    marks = [number * step for number in range(first, math.floor(high / step) + 1)]
    return Scale(low, high, logarithmic=False, ticks=_ticks(Scale(low, high, logarithmic=False), marks, text))


def _ticks(scale: Scale, marks: Iterable[float], text: Callable[[float], str]) -> tuple[Tick, ...]:
    return tuple(Tick(scale.at(mark), "0" if mark == 0 else _ZEROS.sub("", text(mark))) for mark in marks)


def _round_step(least: float) -> float:
    """Return the smallest of 1, 2, 5 × 10ⁿ that is not below `least`."""
    unit = 10.0 ** _power(least)
    return next(digit * unit for digit in (1, 2, 5, 10) if digit * unit >= least * 0.999)


def _power(value: float) -> int:
    return math.floor(math.log10(value) + 1e-9)
