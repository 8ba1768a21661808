"""Counters of this host's kernel (CPU time, pressure, swapping) at one moment and between two."""

import os
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Reading:
    """Counters at one moment. What this kernel does not report is None or missing."""

    at_s: float
    """On a clock that only runs forward."""
    busy_s: Mapping[int, float]
    """CPU time of everything that ran, per logical CPU."""
    steal_s: Mapping[int, float]
    """CPU time that the hypervisor gave to others, per logical CPU."""
    running: int | None
    """Tasks that run or are ready, this process among them."""
    pressure_s: Mapping[str, float]
    """Time in which at least one task waited for `cpu`, `memory` or `io`."""
    swapped_bytes: int | None
    """Moved between memory and swap."""
    own_s: float
    """CPU time of this process."""


def read(proc: Path = PROC) -> Reading:
    """Read all counters once.

    It takes well under a millisecond on a small host.
    """
    stat = _text(proc / "stat")
    vmstat = _text(proc / "vmstat")
    match = re.search(r"^procs_running (\d+)$", stat, re.MULTILINE)
    times = {int(number): ticks.split() for number, ticks in re.findall(r"^cpu(\d+) (.*)$", stat, re.MULTILINE)}
    swapped = re.findall(r"^pswp(?:in|out) (\d+)$", vmstat, re.MULTILINE)
    return Reading(
        at_s=time.monotonic(),
        busy_s={cpu: sum(int(ticks[field]) for field in (0, 1, 2, 5, 6)) * _TICK_S for cpu, ticks in times.items()},
        steal_s={cpu: int(ticks[7]) * _TICK_S for cpu, ticks in times.items()},
        running=int(match.group(1)) if match else None,
        pressure_s=_pressures(proc / "pressure"),
        swapped_bytes=sum(map(int, swapped)) * _PAGE_BYTES if swapped else None,
        own_s=time.process_time(),
    )


@dataclass(frozen=True, slots=True)
class Activity:
    """The activity between two readings."""

    wall_s: float
    other_cpus: float | None
    """CPUs that others than this process kept busy, among those that were asked about."""
    steal_cpus: float | None
    """CPUs that the hypervisor gave to others, among the same."""
    pressure: Mapping[str, float]
    """Share of the time in which at least one task waited for `cpu`, `memory` or `io`."""
    swapped_bytes: int | None


def between(before: Reading, after: Reading, cpus: Collection[int]) -> Activity:
    """Compare two readings on these CPUs."""
    wall_s = after.at_s - before.at_s
    mine = [cpu for cpu in cpus if cpu in before.busy_s and cpu in after.busy_s]
    own_s = after.own_s - before.own_s
    busy_s = sum(after.busy_s[cpu] - before.busy_s[cpu] for cpu in mine)
    steal_s = sum(after.steal_s[cpu] - before.steal_s[cpu] for cpu in mine)
    swapped = (before.swapped_bytes, after.swapped_bytes)
    return Activity(
        wall_s=wall_s,
        other_cpus=max(0.0, busy_s - own_s) / wall_s if mine else None,
        steal_cpus=steal_s / wall_s if mine else None,
        pressure={
            name: (stalled - before.pressure_s[name]) / wall_s
            for name, stalled in after.pressure_s.items()
            if name in before.pressure_s
        },
        swapped_bytes=None if swapped[0] is None or swapped[1] is None else swapped[1] - swapped[0],
    )


def _pressures(folder: Path) -> dict[str, float]:
    totals = {name: re.search(r"^some .*total=(\d+)", _text(folder / name)) for name in ("cpu", "memory", "io")}
    return {name: int(match.group(1)) / 1e6 for name, match in totals.items() if match}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
