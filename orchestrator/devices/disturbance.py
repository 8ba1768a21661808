"""Disturbance of timed blocks and of the latency pass, judged from the conditions read around them."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from orchestrator.results.contract import Conditions, Result

SHORTEST_S = 0.1
"""Shorter blocks are not judged: the kernel counts CPU time in ticks of 1 to 10 ms."""
OTHER_CPUS = 0.25
"""The most of our CPUs that others may keep busy; two and a half ticks of the kernel in a window of 0.1 s."""
REPEAT_SHARE = 0.2
"""A repeat is disturbed where more than this share of its blocks is: a median hardly notices fewer."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """One figure of a block, and above which value it is a disturbance."""

    name: str
    limit: float
    unit: str
    figure: Callable[[Conditions], float | None]
    """None where the block does not say."""
    text: str
    """The reason, with `{}` for the worst value."""


def _other_cpus(seen: Conditions) -> float | None:
    own_s = seen.cpu_s + (seen.workers_cpu_s or 0.0)
    return None if seen.busy_s is None else (seen.busy_s - own_s) / seen.wall_s


def _rate(name: str) -> Callable[[Conditions], float | None]:
    """Return a counter of seconds as a share of the block's wall time."""

    def figure(seen: Conditions) -> float | None:
        value: float | None = getattr(seen, name)
        return None if value is None else value / seen.wall_s

    return figure


def _count(name: str) -> Callable[[Conditions], float | None]:
    def figure(seen: Conditions) -> float | None:
        value: float | None = getattr(seen, name)
        return value

    return figure


def _hot_gpus(seen: Conditions) -> float | None:
    """Return the greatest share of the block in which heat slowed a GPU.

    It is the whole block if only the state at its end is known.
    """
    shares = [
        gpu.heat_limited_s / seen.wall_s if gpu.heat_limited_s is not None else float("heat" in gpu.slowed_by)
        for gpu in seen.gpus
    ]
    return max(shares, default=None)


THRESHOLDS = (
    Threshold("other_cpus", OTHER_CPUS, "CPUs", _other_cpus, "others used {:.2g} of our CPUs"),
    Threshold("steal", 0.1, "CPUs", _rate("steal_s"), "the hypervisor took {:.2g} of our CPUs"),
    Threshold("memory_pressure", 0.05, "of the time", _rate("memory_pressure_s"), "{:.0%} of the time short of memory"),
    Threshold("swapped", 1e6, "bytes", _count("swapped_bytes"), "{:.2g} bytes went to swap and back"),
    Threshold("throttled", 0, "periods", _count("throttled"), "its CPU quota was used up in {:.0f} periods"),
    Threshold("thermal", 0, "events", _count("thermal_events"), "its cores throttled themselves for heat {:.0f} times"),
    Threshold("gpu_heat", 0.05, "of the time", _hot_gpus, "heat slowed a GPU for {:.0%} of the time"),
)
"""The limits beyond which a block is disturbed. CPU and I/O pressure and load are recorded without a limit: threads of
our own that wait for each other raise them too. A GPU at its power limit is a busy one. A clock that is slower than
usual has a rule of its own, `SLOWER_CLOCK`."""

SLOWER_CLOCK = 0.1
"""The share below the median frequency of the repeat's blocks from which a block counts as throttled."""
FREQUENCY = "frequency"


Reasons = tuple[tuple[str, float], ...]
"""Names of thresholds, and the values that are above them."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One disturbed block."""

    block: int
    """Its position among the timed blocks, from 0."""
    reasons: Reasons


@dataclass(frozen=True, slots=True)
class Disturbance:
    """The disturbance of a repeat's timed blocks and of its latency pass."""

    blocks: int
    """Timed blocks that could be judged."""
    marks: tuple[Mark, ...]
    latency: Reasons = ()
    """The disturbances of the latency pass."""

    @property
    def disturbed(self) -> bool:
        """Return true if too many blocks are disturbed, or the latency pass is."""
        return len(self.marks) > REPEAT_SHARE * self.blocks or bool(self.latency)

    def __str__(self) -> str:
        """Describe the disturbance in one line, or return an empty text if there is none."""
        parts = []
        if self.marks:
            which = ", ".join(_ranges([mark.block for mark in self.marks]))
            reasons = _told(reason for mark in self.marks for reason in mark.reasons)
            parts.append(f"{len(self.marks)} of {self.blocks} blocks ({which}): {reasons}")
        if self.latency:
            parts.append(f"latency pass: {_told(self.latency)}")
        return "; ".join(parts)


_SLOWER = "its clock was {:.0%} below its usual"


def _told(reasons: Iterable[tuple[str, float]]) -> str:
    """Each reason with its worst value."""
    worst: dict[str, float] = {}
    for name, value in reasons:
        worst[name] = max(value, worst.get(name, value))
    text = {threshold.name: threshold.text for threshold in THRESHOLDS} | {FREQUENCY: _SLOWER}
    return "; ".join(text[name].format(value) for name, value in worst.items())


def judge(result: Result) -> Disturbance | None:
    """Judge a result's timed blocks and latency pass.

    Returns None if nothing was long enough or no conditions were recorded.
    """
    blocks = [(number, seen) for number, block in enumerate(result.blocks) for seen in _judged(block.conditions)]
    latency = _judged(result.latency_conditions)
    if not blocks and not latency:
        return None
    usual = _usual_frequency([seen for _, seen in blocks])
    marks = (Mark(number, _reasons(seen, usual)) for number, seen in blocks)
    return Disturbance(
        len(blocks),
        tuple(mark for mark in marks if mark.reasons),
        tuple(reason for seen in latency for reason in _reasons(seen, usual)),
    )


def _judged(seen: Conditions | None) -> Sequence[Conditions]:
    """These conditions, if there are any and they lasted."""
    return [seen] if seen and seen.wall_s >= SHORTEST_S else []


def _reasons(seen: Conditions, usual_hz: float | None) -> Reasons:
    return (*_exceeded(seen), *_slowed(seen, usual_hz))


def _exceeded(seen: Conditions) -> Iterable[tuple[str, float]]:
    for threshold in THRESHOLDS:
        value = threshold.figure(seen)
        if value is not None and value > threshold.limit:
            yield threshold.name, value


def _usual_frequency(seen: Sequence[Conditions]) -> float | None:
    known = [one.frequency_hz for one in seen if one.frequency_hz]
    return statistics.median(known) if known else None


def _slowed(seen: Conditions, usual: float | None) -> Iterable[tuple[str, float]]:
    if usual and seen.frequency_hz and seen.frequency_hz < (1 - SLOWER_CLOCK) * usual:
        yield FREQUENCY, 1 - seen.frequency_hz / usual


def _ranges(numbers: Sequence[int]) -> Iterable[str]:
    """Format ascending numbers as ranges, such as `0`, `2–4`, `9`."""
    first = last = numbers[0]
    for number in (*numbers[1:], None):
        if number == last + 1:
            last = number
            continue
        yield str(first) if first == last else f"{first}–{last}"
        if number is not None:
            first = last = number
