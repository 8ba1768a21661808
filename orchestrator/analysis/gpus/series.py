"""Figures of the GPUs of a repeat, from the series that the host has sampled meanwhile."""

import statistics
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TypeVar

from orchestrator.results.telemetry.contract import GpuSeries, Span, Telemetry

LEAST_PHASE_S = 1.0
"""The shortest phase that has an energy: the counter of a GPU goes on in steps of up to a tenth of a second."""
_Point = tuple[float, float]
"""A time and a value."""
_Value = TypeVar("_Value", int, float)


@dataclass(frozen=True, slots=True)
class Energy:
    """The energy of all GPUs of a repeat over some intervals."""

    joules: float
    is_integrated: bool
    """True if one of them has no counter, and its energy was integrated from samples of its power."""


@dataclass(frozen=True, slots=True)
class SeriesUse:
    """The use of the GPUs of a repeat, by their series. What no driver told is None."""

    in_time: float
    """The share of the samples that came in time."""
    busy: float | None
    """The mean share of the time in which something ran, over the timed blocks and all GPUs."""
    peak_bytes: int | None
    """The most memory in use on any GPU, over the whole repeat: with imports, autotuning and evaluation."""
    timed_peak_bytes: int | None
    """The same over the timed blocks."""


def series_use(telemetry: Telemetry, timed: Sequence[Span]) -> SeriesUse:
    """Return the use of the GPUs over the whole series and over timed intervals."""
    inside = [any(begin <= at_s <= end for begin, end in timed) for at_s in telemetry.at_s]
    busy = [value for gpu in telemetry.gpus for value in _of(gpu.busy_percent, inside)]
    return SeriesUse(
        in_time=telemetry.in_time_share,
        busy=statistics.fmean(busy) / 100 if busy else None,
        peak_bytes=max(
            (value for gpu in telemetry.gpus for value in gpu.memory_bytes if value is not None), default=None
        ),
        timed_peak_bytes=max(
            (value for gpu in telemetry.gpus for value in _of(gpu.memory_bytes, inside)), default=None
        ),
    )


def energy(telemetry: Telemetry, timed: Sequence[Span]) -> Energy | None:
    """Return the energy of all GPUs over timed intervals, or None if it is not known of one, or they are too short.

    The energy of a GPU is one growing curve over time. So the differences over blocks that follow each other add up to
    that over the whole phase, and no step of a counter is lost between them or counted twice.
    """
    if not telemetry.gpus or sum(end - begin for begin, end in timed) < LEAST_PHASE_S:
        return None
    grown = [_growth(_counted(telemetry, gpu) or _integrated(telemetry, gpu), timed) for gpu in telemetry.gpus]
    known = [joules for joules in grown if joules is not None]
    if len(known) < len(grown):
        return None
    return Energy(sum(known), is_integrated=any(not gpu.energy_j for gpu in telemetry.gpus))


def _of(column: Sequence[_Value | None], inside: Sequence[bool]) -> Iterable[_Value]:
    return (value for value, is_inside in zip(column, inside, strict=False) if is_inside and value is not None)


def _counted(telemetry: Telemetry, gpu: GpuSeries) -> list[_Point]:
    """Return the curve of a GPU with a counter."""
    return [(at_s, value) for at_s, value in zip(telemetry.at_s, gpu.energy_j, strict=False) if value is not None]


def _integrated(telemetry: Telemetry, gpu: GpuSeries) -> list[_Point]:
    """Return the curve of a GPU without one, from its power by the trapezoidal rule."""
    power = [(at_s, watts) for at_s, watts in zip(telemetry.at_s, gpu.power_w, strict=False) if watts is not None]
    steps = ((later[0] - earlier[0]) * (later[1] + earlier[1]) / 2 for earlier, later in pairwise(power))
    return list(zip((at_s for at_s, _ in power), accumulate(steps, initial=0.0), strict=False))


def _growth(curve: Sequence[_Point], timed: Sequence[Span]) -> float | None:
    """Return the growth of a curve over intervals, or None if it goes down, or does not reach them."""
    if not curve or timed[0][0] < curve[0][0] or timed[-1][1] > curve[-1][0]:
        return None
    if any(later[1] < earlier[1] for earlier, later in pairwise(curve)):
        return None
    return sum(_at(curve, end) - _at(curve, begin) for begin, end in timed)


def _at(curve: Sequence[_Point], at_s: float) -> float:
    """Return the value of a curve at a time that it reaches, on the line between its points."""
    position = bisect_left(curve, (at_s,))
    (after_s, after), (before_s, before) = curve[position], curve[max(0, position - 1)]
    if after_s == before_s:
        return after
    return before + (after - before) * (at_s - before_s) / (after_s - before_s)
