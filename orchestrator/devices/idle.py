"""The wait before a cell starts, until nothing else runs on its CPUs or a limit is reached."""

import statistics
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from orchestrator.devices.disturbance import OTHER_CPUS
from orchestrator.devices.readings import Reading, between, read
from orchestrator.processes import Stop

GLANCES = 3
GLANCE_S = 0.004
"""An idle host is known by a few glances at how many tasks run; any other by windows of CPU time, of which the kernel
counts ticks of up to 10 ms."""
WINDOW_S = 0.25


@dataclass(frozen=True, slots=True)
class IdleWait:
    """The end of a wait for an idle host."""

    wait_s: float
    busy: str = ""
    """The work that still went on when the time was over, in one line; empty if the host was idle or does not say."""


def wait(
    cpus: Collection[int],
    limit_s: float,
    stop: Stop,
    *,
    look: Callable[[], Reading] = read,
    sleep: Callable[[float], None] = time.sleep,
) -> IdleWait:
    """Wait at most `limit_s` until others use less than `OTHER_CPUS` of these CPUs, or until `stop`."""
    first = last = look()
    running = []
    for _ in range(GLANCES):
        sleep(GLANCE_S)
        last = look()
        running.append(last.running)
    known = [number for number in running if number is not None]
    if known and statistics.median(known) <= 1:
        return IdleWait(last.at_s - first.at_s)
    while True:
        sleep(WINDOW_S)
        now = look()
        other_cpus = between(last, now, cpus).other_cpus
        waited_s = now.at_s - first.at_s
        if other_cpus is None or other_cpus <= OTHER_CPUS or stop.is_set():
            return IdleWait(waited_s)
        if waited_s >= limit_s:
            return IdleWait(waited_s, f"others used {other_cpus:.2g} of {len(cpus)} CPUs")
        last = now
