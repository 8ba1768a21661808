"""The order in which jobs are placed on GPUs, decided by what is free at the moment.

Blocks come in turn. Within a block come jobs of many GPUs before those of few, and long ones before short ones, which
leaves the short ones to fill the gaps (longest processing time first, R. L. Graham, 1969). While a job waits for GPUs,
another passes it only if it is expected to end before the first one could begin (EASY backfilling, D. A. Lifka, 1995).
"""

from collections import Counter, deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic

from orchestrator.devices import Gpu
from orchestrator.domain import System
from orchestrator.running.slots.waiting import Entry, SlotJob, WaitingJobs

BLOCKS_AHEAD = 2
"""The jobs of so many blocks at a time may be placed, so that GPUs do not stand idle at the end of one."""

Used = Counter[tuple[Hashable, str]]
"""The number of jobs of a group that have been placed on a GPU, by its UUID."""


@dataclass(frozen=True, slots=True)
class PlacedJob(Generic[Entry]):
    """A job with the GPUs that it holds. One that runs alone on the host holds none."""

    job: SlotJob[Entry]
    gpus: tuple[Gpu, ...]
    until_s: float
    """When it is expected to end."""


class Schedule(Generic[Entry]):
    """Jobs that wait, and those that hold GPUs. All times are seconds of one clock."""

    def __init__(
        self, jobs: Iterable[SlotJob[Entry]], pools: Mapping[System, Sequence[Gpu]], used: Used | None = None
    ) -> None:
        """Take jobs in an order that decides between jobs of like length.

        `pools` has the GPUs that suit each system. A system without enough of them has its jobs run alone on the host.
        `used` goes on with the rotation of an earlier schedule.
        """
        near = {system: tuple(sorted(pool, key=_position)) for system, pool in pools.items()}
        self._pools = {system: pool for system, pool in near.items() if len(pool) >= system.gpus}
        self._waiting: deque[dict[System, WaitingJobs[Entry]]] = deque()
        """By block and system, those of many GPUs first."""
        self._running: list[PlacedJob[Entry]] = []
        self._held: set[str] = set()
        self._used = Used() if used is None else used
        blocks: dict[int, dict[System, list[SlotJob[Entry]]]] = {}
        for job in jobs:
            blocks.setdefault(job.block, {}).setdefault(job.system, []).append(job)
        for _, by_system in sorted(blocks.items()):
            wide_first = sorted(by_system, key=lambda system: (system in self._pools, -system.gpus, system.name))
            self._waiting.append({system: WaitingJobs(by_system[system]) for system in wide_first})

    def __bool__(self) -> bool:
        """Return true while a job waits or runs."""
        return bool(self._waiting or self._running)

    def place(self, now_s: float) -> PlacedJob[Entry] | None:
        """Return the next job to begin now, with its GPUs, or None until a job has ended."""
        first_until_s: float | None = None
        """When the first job that finds no place is expected to find one."""
        if any(placed.job.system not in self._pools for placed in self._running):
            return None
        for by_system in islice(self._waiting, BLOCKS_AHEAD):
            for system, jobs in by_system.items():
                is_first = first_until_s is None
                alike = jobs.longest() if first_until_s is None else jobs.longest_within(first_until_s - now_s)
                gpus = self._chosen(alike[0], is_first=is_first) if alike else None
                if gpus is not None:
                    job = self._least_used(alike, gpus)
                    self._take(job, by_system)
                    return self._begin(job, gpus, now_s)
                if first_until_s is None:
                    first_until_s = self._free_at_s(system, now_s)
        return None

    def done(self, placed: PlacedJob[Entry]) -> None:
        """Give the GPUs of a job back."""
        self._running.remove(placed)
        self._held.difference_update(gpu.uuid for gpu in placed.gpus)

    def leave_out(self, uuids: frozenset[str]) -> None:
        """Place nothing more on these GPUs. A system with too few others has its jobs run alone from now on."""
        if uuids:
            left = {system: tuple(gpu for gpu in pool if gpu.uuid not in uuids) for system, pool in self._pools.items()}
            self._pools = {system: pool for system, pool in left.items() if len(pool) >= system.gpus}

    def _least_used(self, alike: Sequence[SlotJob[Entry]], gpus: Sequence[Gpu]) -> SlotJob[Entry]:
        """Return the job of like length whose group has used these GPUs least."""
        if alike[0].before:
            return alike[0]
        free_to_move = [job for job in alike if not job.before]
        return min(free_to_move, key=lambda job: sum(self._used[job.group, gpu.uuid] for gpu in gpus))

    def _take(self, job: SlotJob[Entry], by_system: dict[System, WaitingJobs[Entry]]) -> None:
        """Remove a job from those of its block that wait, and what is empty then."""
        by_system[job.system].take(job)
        if not by_system[job.system]:
            del by_system[job.system]
        if not by_system:
            self._waiting.remove(by_system)

    def _begin(self, job: SlotJob[Entry], gpus: tuple[Gpu, ...], now_s: float) -> PlacedJob[Entry]:
        self._held.update(gpu.uuid for gpu in gpus)
        self._used.update((job.group, gpu.uuid) for gpu in gpus)
        placed = PlacedJob(job, gpus, now_s + job.expected_s)
        self._running.append(placed)
        return placed

    def _chosen(self, job: SlotJob[Entry], *, is_first: bool) -> tuple[Gpu, ...] | None:
        """Choose GPUs for a job: near each other, and those that its group has used least. None if too few are free.

        A job that runs alone gets none, and must be the first one that waits.
        """
        if job.system not in self._pools:
            return () if is_first and not self._running else None
        pool, width = self._pools[job.system], job.system.gpus
        starts = range(len(pool) - width + 1)
        windows = [pool[start : start + width] for start in starts]
        free = [window for window in windows if not any(gpu.uuid in self._held for gpu in window)]
        if not free:  # no neighbours are free, but there may be enough
            apart = tuple(gpu for gpu in pool if gpu.uuid not in self._held)[:width]
            return apart if len(apart) == width else None
        return min(free, key=lambda window: self._cost(job, window, pool))

    def _cost(self, job: SlotJob[Entry], window: Sequence[Gpu], pool: Sequence[Gpu]) -> tuple[int, ...]:
        uuids = {gpu.uuid for gpu in window}
        indices = {gpu.index for gpu in window}
        unlinked = sum(len(indices - {gpu.index, *gpu.nvlinks}) for gpu in window)
        nodes = len({gpu.numa_node for gpu in window})
        misaligned = pool.index(window[0]) % len(window)
        used = sum(self._used[job.group, uuid] for uuid in uuids)
        return len(job.before - uuids), nodes, unlinked, misaligned, used, pool.index(window[0])

    def _free_at_s(self, system: System, now_s: float) -> float:
        """Return when enough GPUs for a system are expected to be free."""
        by_end = sorted(self._running, key=lambda placed: placed.until_s)
        if system not in self._pools:
            return max(now_s, by_end[-1].until_s)
        pool = {gpu.uuid for gpu in self._pools[system]}
        free = len(pool - self._held)
        for placed in by_end:
            free += sum(gpu.uuid in pool for gpu in placed.gpus)
            if free >= system.gpus:
                return max(now_s, placed.until_s)
        return float("inf")


def _position(gpu: Gpu) -> tuple[int, int]:
    return -1 if gpu.numa_node is None else gpu.numa_node, gpu.index
