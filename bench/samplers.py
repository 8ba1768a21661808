"""What reading the conditions around every block costs: LeNet b200 training with samplers on, against samplers off.

Both sides are the same image, CPUs, limits and request but for `telemetry`; a side's figure is the median over its
blocks, as a run computes it.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from bench import inside
from bench.inside import SYSTEM
from bench.pairs import UNBOUNDED, Ratio, compare, emit, interleave
from orchestrator.devices import Allocation, allocate, inventory
from orchestrator.domain import Duration, Framework
from orchestrator.results.store import read_result
from orchestrator.runtimes.variables import threads

BAR = (0.99, UNBOUNDED)
BATCH, WARMUP, STEPS = 200, 20, 200
FRAMEWORKS = {"mxnet": Framework("mxnet", "1.9.1"), "torch": Framework("torch", "2.13.0")}


def rate(image: str, request: dict[str, object], folder: Path, *, telemetry: bool) -> float:
    """Median samples/s of one container."""
    allocation = allocate(SYSTEM, inventory())
    assert isinstance(allocation, Allocation), allocation
    (folder / "request.json").write_text(json.dumps(request | {"telemetry": telemetry}))
    cpus = ",".join(str(cpu) for cpu in allocation.cpus)
    settings = [f"--env={name}={value}" for name, value in threads(allocation).items()]
    command = ["docker", "run", "--rm", "--network=none", f"--cpuset-cpus={cpus}", *settings, "--shm-size=1g"]
    command += [f"--volume={folder}:/io", image, "--io", "/io"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    result = read_result(folder / "result.json")
    assert (result.blocks[0].conditions is not None) is telemetry
    return statistics.median(block.samples / block.wall_s for block in result.blocks)


def prepared(name: str, scratch: Path) -> tuple[str, dict[str, object]]:
    """The image and a request for it, from one repeat of a run that is not counted."""
    duration = Duration(warmup_steps=WARMUP, steps=STEPS)
    plan = inside.training(
        FRAMEWORKS[name], tag="samplers-cpu", model="lenet", batch=BATCH, duration=duration, repeats=1
    )
    run, outcomes = inside.begin(plan, scratch / name)
    next(outcomes)
    request = json.loads((run.repeat_folder(plan.cells[0].id, 0) / "request.json").read_text())
    return inside.image_of(run, plan), request


def measure(name: str, pairs: int, scratch: Path) -> Ratio:
    """Compare one framework with itself."""
    image, request = prepared(name, scratch)
    folder = scratch / f"{name}-io"
    folder.mkdir()
    values = interleave(
        lambda: rate(image, request, folder, telemetry=True),
        lambda: rate(image, request, folder, telemetry=False),
        pairs,
    )
    title = f"LeNet b{BATCH} training, {FRAMEWORKS[name].label}: samplers"
    return compare(title, "samplers on", "samplers off", values, bar=BAR, unit="samples/s")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.samplers", description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=FRAMEWORKS, default=list(FRAMEWORKS))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-samplers-") as scratch:
        emit([measure(name, asked.pairs, Path(scratch)) for name in asked.only])


if __name__ == "__main__":
    main()
