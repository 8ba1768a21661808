"""Cells on eight fake GPUs side by side, against the least time that any schedule takes, and against one at a time.

    python -m bench.hosts.slots [--matrices 100]

The GPUs are fakes and the times virtual, so that the figures are those of the schedule alone: 64 cells of 1, 2 and 4
GPUs, as many of each on average, which take 1 to 20 s. No two may meet on a GPU. `sleeping.py` has the whole
program in real time.
What a decision costs is measured with 10 000 cells that wait, and with 1000: of these cells, and of hard ones, of which
half are just too long to pass a cell that waits for all GPUs.
"""

import argparse
import heapq
import json
import random
import statistics
import time
from collections.abc import Sequence
from typing import Any

from orchestrator.devices import Gpu
from orchestrator.domain import System
from orchestrator.running.slots.schedule import PlacedJob, Schedule
from orchestrator.running.slots.waiting import SlotJob

GPUS = tuple(Gpu(index, f"GPU-{index}", "Fake", 2**34, numa_node=index // 4) for index in range(8))
ALL = System("8_gpu", gpus=8)
TOO_LONG, SHORT = System("1_gpu", gpus=1), System("1_gpu_short", gpus=1)
SYSTEMS = {width: System(f"{width}_gpu", gpus=width) for width in (1, 2, 4)}
POOLS = dict.fromkeys((*SYSTEMS.values(), ALL, TOO_LONG, SHORT), GPUS)
MOST_OVER_BOUND = 1.05
MOST_DECISION_S = 1e-3


def jobs(number: int, seed: int) -> list[SlotJob[int]]:
    """Return so many jobs of one cell, of a group each."""
    drawn = random.Random(seed)
    kinds = [(SYSTEMS[drawn.choice(tuple(SYSTEMS))], drawn.uniform(1, 20)) for _ in range(number)]
    return [SlotJob(0, name, system, seconds, (name,)) for name, (system, seconds) in enumerate(kinds)]


def hard_jobs(number: int) -> list[SlotJob[int]]:
    """Return so many jobs for which a decision is as hard as can be.

    One holds a GPU for 100 s, and another one waits for all GPUs. Half of the rest are about as long as that wait and
    do not end in time. The others do, and come last.
    """
    first = [SlotJob(0, 0, TOO_LONG, 100.0, (0,)), SlotJob(1, 1, ALL, 10.0, (1,))]
    half = number // 2
    too_long = [SlotJob(1, name, TOO_LONG, 101.0, (name,)) for name in range(2, half)]
    return [*first, *too_long, *(SlotJob(1, name, SHORT, 1e-3, (name,)) for name in range(half, number))]


def played_s(schedule: Schedule[int]) -> float:
    """Play a schedule to its end in virtual time, and return that time in seconds. Raises if two meet on a GPU."""
    now_s, number = 0.0, 0
    running: list[tuple[float, int, PlacedJob[int]]] = []
    held: set[str] = set()
    while schedule:
        while placed := schedule.place(now_s):
            uuids = {gpu.uuid for gpu in placed.gpus}
            if held & uuids:
                raise RuntimeError(f"two cells met on {held & uuids}")
            held |= uuids
            heapq.heappush(running, (now_s + placed.job.expected_s, number, placed))
            number += 1
        now_s, _, ended = heapq.heappop(running)
        held -= {gpu.uuid for gpu in ended.gpus}
        schedule.done(ended)
    return now_s


def over_bound(seed: int) -> tuple[float, float]:
    """Return how many times the bound a matrix takes side by side, and one cell at a time."""
    cells = jobs(64, seed)
    area_s = sum(job.expected_s * job.system.gpus for job in cells) / len(GPUS)
    bound_s = max(area_s, *(job.expected_s for job in cells))
    return played_s(Schedule(cells, POOLS)) / bound_s, sum(job.expected_s for job in cells) / bound_s


def decision_s(waiting: Sequence[SlotJob[int]]) -> float:
    """Return the median time of one of the first 400 decisions among jobs, in seconds. The last one to begin ends."""
    schedule = Schedule(waiting, POOLS)
    running: list[PlacedJob[int]] = []
    taken_s = []
    for _ in range(400):
        begin = time.perf_counter()
        placed = schedule.place(0.0)
        taken_s.append(time.perf_counter() - begin)
        if placed:
            running.append(placed)
        else:
            schedule.done(running.pop())
    return statistics.median(taken_s)


def run(matrices: int = 100) -> list[dict[str, Any]]:
    """Return the rows of the page."""
    ratios = [over_bound(seed) for seed in range(matrices)]
    worst, serial = max(ours for ours, _ in ratios), statistics.median(theirs for _, theirs in ratios)
    return [
        _decisions("one decision with 10,000 cells that wait for GPUs", jobs(1000, 1), jobs(10_000, 1)),
        _decisions("one decision with 10,000 cells, the worst case", hard_jobs(1000), hard_jobs(10_000)),
        {
            "name": "64 cells of 1, 2 and 4 GPUs on eight fake GPUs",
            "text": f"{matrices} matrices in virtual time: at most {worst:.3f} × the least time that any order takes "
            f"(median {statistics.median(ours for ours, _ in ratios):.3f}), one cell at a time {serial:.2f} ×; "
            "no two met on a GPU",
            "value": worst,
            "wanted": f"≤ {MOST_OVER_BOUND}",
            "within": worst <= MOST_OVER_BOUND,
        },
    ]


def _decisions(name: str, few: Sequence[SlotJob[int]], many: Sequence[SlotJob[int]]) -> dict[str, Any]:
    few_s, many_s = decision_s(few), decision_s(many)
    return {
        "name": name,
        "text": f"{1e6 * many_s:.0f} µs, {many_s / few_s:.2f} × that with 1,000",
        "value": many_s,
        "wanted": f"≤ {1e3 * MOST_DECISION_S:g} ms",
        "within": many_s <= MOST_DECISION_S,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.hosts.slots", description=__doc__.splitlines()[0])
    parser.add_argument("--matrices", "--pairs", type=int, default=100)
    options = parser.parse_args()
    print(json.dumps(run(options.matrices)))


if __name__ == "__main__":
    main()
