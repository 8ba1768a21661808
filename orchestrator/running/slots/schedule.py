"""The order in which jobs are placed on GPUs, decided by what is free at the moment.

Blocks come in turn. Within a block come jobs of many GPUs before those of few, as they need all of these at one moment.
Of these come long jobs before short ones, which leaves the short ones to fill the gaps (longest processing time first,
R. L. Graham, 1969). While a job waits for GPUs, another passes it only if it is expected to end before the first one
could begin (EASY backfilling, D. A. Lifka, 1995).
"""

from collections import Counter
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
    """The time at which it is expected to end."""


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
        self._waiting: dict[int, dict[System, WaitingJobs[Entry]]] = {}
        """By block, in their order, and system, those of many GPUs first."""
        self._running: list[PlacedJob[Entry]] = []
        self._held: set[str] = set()
        self._used = Used() if used is None else used
        self.add(jobs)

    def add(self, jobs: Iterable[SlotJob[Entry]]) -> None:
        """Take further jobs, each behind those of its block that are as long."""
        for job in jobs:
            self._waiting.setdefault(job.block, {}).setdefault(job.system, WaitingJobs()).add(job)
        self._waiting = {block: self._wide_first(self._waiting[block]) for block in sorted(self._waiting)}

    def __bool__(self) -> bool:
        """Return true while a job waits or runs."""
        return bool(self._waiting or self._running)

    def place(self, now_s: float) -> PlacedJob[Entry] | None:
        """Return the next job to begin now, with its GPUs, or None until a job has ended."""
        first_until_s: float | None = None
        """The time at which the first job without a place is expected to find one."""
        if any(placed.job.system not in self._pools for placed in self._running):
            return None
        for by_system in islice(self._waiting.values(), BLOCKS_AHEAD):
            for jobs in by_system.values():
                is_first = first_until_s is None
                alike = jobs.longest() if first_until_s is None else jobs.longest_within(first_until_s - now_s)
                job, gpus = self._placeable(alike, is_first=is_first)
                if job is not None:
                    self._take(job)
                    return self._begin(job, gpus, now_s)
                if first_until_s is None:
                    first_until_s = self._free_at_s(alike[0], now_s)
        return None

    def _placeable(
        self, alike: Sequence[SlotJob[Entry]], *, is_first: bool
    ) -> tuple[SlotJob[Entry] | None, tuple[Gpu, ...]]:
        """Return the first job of like length that can begin, with its GPUs, or none.

        One that is bound to GPUs waits for these, and holds up none of the others.
        """
        for job in alike:
            gpus = self._chosen(job, is_first=is_first)
            if gpus is not None:
                return self._least_used(job, alike, gpus), gpus
            if not job.before:  # the others find no place either
                break
        return None, ()

    def done(self, placed: PlacedJob[Entry]) -> None:
        """Give the GPUs of a job back."""
        self._running.remove(placed)
        self._held.difference_update(gpu.uuid for gpu in placed.gpus)

    def leave_out(self, uuids: frozenset[str]) -> None:
        """Place nothing more on these GPUs. A system with too few others has its jobs run alone from now on."""
        if uuids:
            left = {system: tuple(gpu for gpu in pool if gpu.uuid not in uuids) for system, pool in self._pools.items()}
            self._pools = {system: pool for system, pool in left.items() if len(pool) >= system.gpus}

    def _least_used(
        self, first: SlotJob[Entry], alike: Sequence[SlotJob[Entry]], gpus: Sequence[Gpu]
    ) -> SlotJob[Entry]:
        """Return the first job if it is bound to its GPUs, or one of like length whose group has used these least."""
        if first.before:
            return first
        free_to_move = [job for job in alike if not job.before]
        return min(free_to_move, key=lambda job: sum(self._used[job.group, gpu.uuid] for gpu in gpus))

    def _wide_first(self, by_system: Mapping[System, WaitingJobs[Entry]]) -> dict[System, WaitingJobs[Entry]]:
        """Return the jobs of a block: first those that run alone, then those of many GPUs."""
        wide_first = sorted(by_system, key=lambda system: (system in self._pools, -system.gpus, system.name))
        return {system: by_system[system] for system in wide_first}

    def _take(self, job: SlotJob[Entry]) -> None:
        """Remove a job from those of its block that wait, and what is empty then."""
        by_system = self._waiting[job.block]
        by_system[job.system].take(job)
        if not by_system[job.system]:
            del by_system[job.system]
        if not by_system:
            del self._waiting[job.block]

    def _begin(self, job: SlotJob[Entry], gpus: tuple[Gpu, ...], now_s: float) -> PlacedJob[Entry]:
        self._held.update(gpu.uuid for gpu in gpus)
        self._used.update((job.group, gpu.uuid) for gpu in gpus)
        placed = PlacedJob(job, gpus, now_s + job.expected_s)
        self._running.append(placed)
        return placed

    def _chosen(self, job: SlotJob[Entry], *, is_first: bool) -> tuple[Gpu, ...] | None:
        """Choose GPUs for a job: near each other, and those that its group has used least. None if too few are free.

        A job that runs alone gets none, and must be the first one that waits. One that was interrupted gets its own.
        """
        if job.system not in self._pools:
            return () if is_first and not self._running else None
        pool, width = self._pools[job.system], job.system.gpus
        free = [gpu for gpu in pool if gpu.uuid not in self._held]
        if own := self._own(job):
            others = (gpu for gpu in free if gpu not in own)
            together = {*own, *islice(others, width - len(own))}
            is_free = len(together) == width and together <= {*free}
            return tuple(gpu for gpu in free if gpu in together) if is_free else None
        starts = range(len(pool) - width + 1)
        windows = [pool[start : start + width] for start in starts]
        near = [window for window in windows if not any(gpu.uuid in self._held for gpu in window)]
        if not near:  # no neighbours are free, but there may be enough
            return tuple(free[:width]) if len(free) >= width else None
        return min(near, key=lambda window: self._cost(job, window, pool))

    def _own(self, job: SlotJob[Entry]) -> tuple[Gpu, ...]:
        """Return the GPUs that other entries of a job have run on, as far as there are still such."""
        pool = self._pools.get(job.system, ()) if job.before else ()
        return tuple(gpu for gpu in pool if gpu.uuid in job.before)[: job.system.gpus]

    def _cost(self, job: SlotJob[Entry], window: Sequence[Gpu], pool: Sequence[Gpu]) -> tuple[int, ...]:
        indices = {gpu.index for gpu in window}
        unlinked = sum(len(indices - {gpu.index, *gpu.nvlinks}) for gpu in window)
        nodes = len({gpu.numa_node for gpu in window})
        misaligned = pool.index(window[0]) % len(window)
        used = sum(self._used[job.group, gpu.uuid] for gpu in window)
        return nodes, unlinked, misaligned, used, pool.index(window[0])

    def _free_at_s(self, job: SlotJob[Entry], now_s: float) -> float:
        """Return when enough GPUs for a job are expected to be free, its own ones among them."""
        by_end = sorted(self._running, key=lambda placed: placed.until_s)
        if job.system not in self._pools:
            return max(now_s, by_end[-1].until_s)
        pool, own = {gpu.uuid for gpu in self._pools[job.system]}, {gpu.uuid for gpu in self._own(job)}
        free, missing = len(pool - self._held), len(own & self._held)
        for placed in by_end:
            free += sum(gpu.uuid in pool for gpu in placed.gpus)
            missing -= sum(gpu.uuid in own for gpu in placed.gpus)
            if free >= job.system.gpus and not missing:
                return max(now_s, placed.until_s)
        return float("inf")


def _position(gpu: Gpu) -> tuple[int, int]:
    return -1 if gpu.numa_node is None else gpu.numa_node, gpu.index
