"""A virtual host with fake GPUs, on which a schedule is played through in no time."""

import heapq
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from orchestrator.devices import Cpu, Gpu, Inventory
from orchestrator.domain import System
from orchestrator.running.slots.schedule import PlacedJob, Schedule
from orchestrator.running.slots.waiting import SlotJob

GPUS = tuple(Gpu(index, f"GPU-{index}", "Fake", 2**34, numa_node=index // 4) for index in range(8))
CPUS = tuple(Cpu(number, number // 2, number // 16, number // 16) for number in range(32))
HOST = Inventory(CPUS, 2**38, GPUS, driver="550")
ONE, TWO, FOUR = (System(f"{gpus}_gpu", gpus=gpus) for gpus in (1, 2, 4))
POOLS = dict.fromkeys((ONE, TWO, FOUR), GPUS)


def a_job(name: str, system: System = ONE, seconds: float = 10.0, block: int = 0, group: str = "") -> SlotJob[str]:
    """A job of one entry, of a group of its own unless another is named."""
    return SlotJob(block, group or name, system, seconds, (name,))


def mixed_jobs(seed: int, blocks: int = 1) -> list[SlotJob[str]]:
    """64 jobs of 1, 2 and 4 GPUs that take 1 to 20 s, in each block."""
    drawn = random.Random(seed)
    kinds = [(drawn.choice((ONE, TWO, FOUR)), drawn.uniform(1, 20)) for _ in range(64)]
    return [
        a_job(f"{block}.{number}", system, seconds, block, group=str(number))
        for block in range(blocks)
        for number, (system, seconds) in enumerate(kinds)
    ]


def bound_s(jobs: Iterable[SlotJob[str]], gpus: int = 8) -> float:
    """The least time that any schedule takes: the area over the GPUs, or the longest job."""
    lengths = [(job.expected_s, job.system.gpus) for job in jobs]
    return max(sum(seconds * width for seconds, width in lengths) / gpus, *(seconds for seconds, _ in lengths))


@dataclass(frozen=True)
class Played:
    """A job with its GPUs and its times."""

    placed: PlacedJob[str]
    begin_s: float
    end_s: float

    @property
    def name(self) -> str:
        return self.placed.job.entries[0]

    @property
    def uuids(self) -> set[str]:
        return {gpu.uuid for gpu in self.placed.gpus}

    def meets(self, other: "Played") -> bool:
        """Return true if both run at some moment."""
        return self.begin_s < other.end_s and other.begin_s < self.end_s


def as_expected(job: SlotJob[str]) -> float:
    return job.expected_s


def play(schedule: Schedule[str], actual_s: Callable[[SlotJob[str]], float] = as_expected) -> list[Played]:
    """Play a schedule to its end, in the order of the begins. Fails where no job runs and none can begin."""
    now_s, number, played = 0.0, 0, []
    running: list[tuple[float, int, PlacedJob[str]]] = []
    while schedule:
        while placed := schedule.place(now_s):
            heapq.heappush(running, (now_s + actual_s(placed.job), number, placed))
            played.append(Played(placed, now_s, now_s + actual_s(placed.job)))
            number += 1
        assert running, "jobs wait for ever"
        now_s, _, ended = heapq.heappop(running)
        schedule.done(ended)
    return played


def collisions(played: Sequence[Played]) -> list[tuple[str, str]]:
    """Pairs of jobs that hold one GPU at the same time."""
    return [
        (one.name, other.name)
        for number, one in enumerate(played)
        for other in played[number + 1 :]
        if one.meets(other) and one.uuids & other.uuids
    ]
