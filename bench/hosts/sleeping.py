"""Cells that sleep on eight fake GPUs, measured side by side by the whole program in real time.

    python -m bench.hosts.sleeping        # about eight minutes

The host is that of `tests/gpu`: its GPUs and CPUs are fakes, its processes, files, locks and clocks are real.
Each of 64 scripts sleeps 1 to 20 s on 1, 2 or 4 GPUs, and fails if another is on one of them.
The matrix runs twice, since no length is known before the first time.
What a cell takes beyond its sleep is the cost of one that does nothing.
"""

import argparse
import json
import random
import statistics
import tempfile
from pathlib import Path
from typing import Any

from tests.gpu.fake_host import FakeHost, made, makespan_s
from tests.gpu.sleepers import WIDTHS, write_matrix

GPUS = 8
MOST_OVER_BOUND = 1.05
Sleepers = list[tuple[float, tuple[int]]]


def drawn(number: int, longest_s: float, seed: int = 0) -> Sleepers:
    """Return the seconds and the GPUs of each script."""
    chance = random.Random(seed)
    return [(round(chance.uniform(longest_s / 20, longest_s), 2), (chance.choice(WIDTHS),)) for _ in range(number)]


def once(host: FakeHost, sleepers: Sleepers) -> tuple[float, float]:
    """Run the matrix. Return its makespan, and what a cell takes beyond its sleep, both in seconds."""
    outcomes = host.repeats("--idle-wait", "0")
    wrong = [f"{each['cell_id']}: {each['status']}: {each['reason']}" for each in outcomes if each["status"] != "ok"]
    if wrong or len(outcomes) != len(sleepers):
        raise RuntimeError(f"{len(outcomes)} of {len(sleepers)} cells; {'; '.join(wrong)}")
    slept = {f"noop-1-{gpus}_gpu/s{number}-script": seconds for number, (seconds, (gpus,)) in enumerate(sleepers)}
    return makespan_s(outcomes), statistics.median(each["wall_s"] - slept[each["cell_id"]] for each in outcomes)


def run(number: int = 64, longest_s: float = 20.0) -> list[dict[str, Any]]:
    """Return the row of the page."""
    sleepers = drawn(number, longest_s)
    with tempfile.TemporaryDirectory() as folder:
        host = made(Path(folder))
        host.set(gpus=GPUS)
        host.prove()
        write_matrix(host.folder, sleepers, repeats=1)
        unknown_s, _ = once(host, sleepers)
        known_s, no_op_s = once(host, sleepers)
    held = sum(gpus for _, (gpus,) in sleepers)
    bound_s = max(sum(seconds * gpus for seconds, (gpus,) in sleepers) / GPUS, *(seconds for seconds, _ in sleepers))
    no_ops_s = no_op_s * held / GPUS
    return [
        {
            "name": f"{number} cells that sleep on 1, 2 and 4 of eight fake GPUs, in real time",
            "text": f"{known_s:.1f} s, {known_s / bound_s:.3f} × the least time of any order ({bound_s:.1f} s); "
            f"{unknown_s:.1f} s before their lengths were known; a cell that does nothing takes {no_op_s:.2f} s, "
            f"{number} of them {no_ops_s:.1f} s on these GPUs; no two met on a GPU",
            "value": known_s / bound_s,
            "wanted": f"≤ {MOST_OVER_BOUND} ×, and the time of cells that do nothing",
            "within": known_s <= MOST_OVER_BOUND * bound_s + no_ops_s,
        }
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.hosts.sleeping", description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, help="not used: the matrix runs twice")
    parser.parse_args()
    print(json.dumps(run()))


if __name__ == "__main__":
    main()
