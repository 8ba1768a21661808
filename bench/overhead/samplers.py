"""The cost of reading the conditions around a block, by LeNet b200 training with readings against without.

Processes of one program differ lastingly by more than this cost, and within a process the speed wanders by as much over
a few seconds. So both sides run in each process as short neighbouring blocks, one with readings and one without, in a
new random order for each pair (`alternating.py`). The cost of a reading is the median over the pairs of the
difference of their seconds, which contains the reading and its effect on the steps after it. The figure of a container
is its throughput without readings, against that of the shortest blocks that a run times with this cost added to each. A
run reads its clocks between the readings, so this is the most that they can cost. The interval is over containers, and
so includes differences between processes.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.networks import inside
from bench.networks.frameworks import OPTIONS
from bench.networks.inside import SYSTEM
from bench.pairs import UNBOUNDED, Ratio, compare, emit
from orchestrator.devices import Allocation, allocate, inventory
from orchestrator.domain import Duration, Framework, variables
from orchestrator.results.contract import MIN_BLOCK_S
from orchestrator.runtimes.variables import threads

BAR = (0.99, UNBOUNDED)
BATCH, WARMUP, STEPS = 200, 20, 200
CONTAINERS, PAIRS = 10, 150
FRAMEWORKS = {"mxnet": Framework("mxnet", "1.9.1"), "torch": Framework("torch", "2.13.0")}
ALTERNATING = Path(__file__).with_name("alternating.py")


def rates(image: str, folder: Path, environment: dict[str, str], seed: int) -> tuple[float, float]:
    """Return the samples/s of one container, with readings around each block of `MIN_BLOCK_S` and without."""
    allocation = allocate(SYSTEM, inventory())
    assert isinstance(allocation, Allocation), allocation
    cpus = ",".join(str(cpu) for cpu in allocation.cpus)
    settings = [f"--env={name}={value}" for name, value in (threads(allocation) | environment).items()]
    command = ["docker", "run", "--rm", "--network=none", f"--cpuset-cpus={cpus}", *settings, "--shm-size=1g"]
    command += [f"--volume={folder}:/io:ro", f"--volume={ALTERNATING}:/alternating.py:ro", "--entrypoint=python", image]
    command += ["/alternating.py", "/io/request.json", str(PAIRS), str(seed)]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    answer = json.loads(printed.splitlines()[-1])
    assert len(answer["seconds"]) == PAIRS, printed
    cost_s = statistics.median(read - unread for read, unread in answer["seconds"])
    without = answer["samples"] / statistics.median(unread for _, unread in answer["seconds"])
    with_readings = without * MIN_BLOCK_S / (MIN_BLOCK_S + cost_s)
    print(
        f"  container {seed + 1}: {without:.5g} samples/s, {1e3 * cost_s:.3f} ms a block", file=sys.stderr, flush=True
    )
    return with_readings, without


def prepared(name: str, scratch: Path) -> tuple[str, Path]:
    """Return the image, and a folder with a request for it, from one repeat of a run that does not count."""
    duration = Duration(warmup_steps=WARMUP, steps=STEPS)
    plan = inside.one_cell(
        FRAMEWORKS[name],
        tag="samplers-cpu",
        model="lenet",
        batch=BATCH,
        duration=duration,
        repeats=1,
        options=OPTIONS.get(name, ()),
    )
    run, outcomes = inside.begin(plan, scratch / name, inside.containers())
    next(outcomes)
    return inside.image_of(run, plan), run.repeat_folder(plan.cells[0].id, 0)


def measure(name: str, containers: int, scratch: Path) -> Ratio:
    """Compare one framework with itself."""
    image, folder = prepared(name, scratch)
    options = OPTIONS.get(name, ())
    values = [rates(image, folder, variables(options), seed) for seed in range(containers)]
    title = f"LeNet b{BATCH} training, {FRAMEWORKS[name].label}, {PAIRS} pairs in each container"
    both = f", both with {' '.join(variables(options))}" if options else ""
    with_readings, without = zip(*values, strict=True)
    sides = (f"with readings around each block of {MIN_BLOCK_S:g} s", f"without, same process{both}")
    return compare(title, *sides, (with_readings, without), bar=BAR, unit="samples/s")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.overhead.samplers", description=__doc__)
    parser.add_argument("--pairs", type=int, default=CONTAINERS, help="containers for each framework")
    parser.add_argument("--only", nargs="+", choices=FRAMEWORKS, default=list(FRAMEWORKS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-samplers-") as scratch:
        emit([measure(name, options.pairs, Path(scratch)) for name in options.only])


if __name__ == "__main__":
    main()
