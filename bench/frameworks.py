"""LeNet b200: training throughput as a run measures it, against a hand-written loop in the same image.

Both sides get the same image, the same CPUs, the same thread settings and the same number of steps.
Ours is a repeat of a run, from request to checked result; its figure is the median over its blocks.
Theirs is a script of `bench/handwritten/`; its figure is the median over the speeds that it logs.
"""

import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path

from bench import inside
from bench.inside import SYSTEM
from bench.pairs import Ratio, compare, emit, interleave
from orchestrator.devices import Allocation, allocate, inventory
from orchestrator.domain import Duration, Framework, Options, variables
from orchestrator.runtimes.variables import threads

BAR = (0.97, 1.05)
BATCH, WARMUP, STEPS, EVERY = 200, 20, 200, 20
HANDWRITTEN = Path(__file__).parent / "handwritten"
FRAMEWORKS = {
    "mxnet": Framework("mxnet", "1.9.1"),
    "tensorflow": Framework("tensorflow", "2.21.0"),
    "torch": Framework("torch", "2.13.0"),
    "jax": Framework("jax", "0.12.0.1"),
    "keras-mxnet": Framework("keras-mxnet", "2.2.4.3", backend=Framework("mxnet", "1.5.1")),
}
# glibc gives the top of its heap back after each of PyTorch's steps, or not, by accidents of the heap's layout:
# processes of one program then differ by 13 % (standard deviation) and stay so. Both sides get fixed thresholds.
OPTIONS: dict[str, Options] = {
    "torch": (("env.MALLOC_MMAP_THRESHOLD_", 32 << 20), ("env.MALLOC_TRIM_THRESHOLD_", 1 << 30)),
}


def handwritten(image: str, builder: str, given: dict[str, str]) -> float:
    """Median samples/s of the hand-written loop in a container of the same image."""
    allocation = allocate(SYSTEM, inventory())
    assert isinstance(allocation, Allocation), allocation
    cpus = ",".join(str(cpu) for cpu in allocation.cpus)
    settings = [f"--env={name}={value}" for name, value in (threads(allocation) | given).items()]
    command = ["docker", "run", "--rm", "--network=none", f"--cpuset-cpus={cpus}", *settings, "--shm-size=1g"]
    command += [f"--volume={HANDWRITTEN}:/handwritten:ro", "--entrypoint=python", image]
    command += [f"/handwritten/{builder}_loop.py", f"--threads={SYSTEM.cpus}", f"--batch={BATCH}"]
    command += [f"--warmup={WARMUP}", f"--steps={STEPS}", f"--every={EVERY}"]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    speeds = [float(line) for line in said.splitlines()]
    assert len(speeds) == STEPS // EVERY, said
    return statistics.median(speeds)


def measure(name: str, pairs: int, scratch: Path) -> Ratio:
    """Compare one framework, after one repeat of each side that is not counted."""
    framework, options = FRAMEWORKS[name], OPTIONS.get(name, ())
    duration = Duration(warmup_steps=WARMUP, steps=STEPS)
    plan = inside.training(
        framework,
        tag="handwritten-cpu",
        model="lenet",
        batch=BATCH,
        duration=duration,
        repeats=pairs + 1,
        options=options,
    )
    run, outcomes = inside.begin(plan, scratch / name)

    def ours() -> float:
        result = run.result(next(outcomes))
        assert result is not None
        return statistics.median(block.samples / block.wall_s for block in result.blocks)

    ours()
    image, builder = inside.image_of(run, plan), plan.images[0].environment.builder
    handwritten(image, builder, variables(options))
    values = interleave(ours, lambda: handwritten(image, builder, variables(options)), pairs)
    title = f"LeNet b{BATCH} training, {framework.label}"
    both = f", both with {' '.join(variables(options))}" if options else ""
    theirs = f"hand-written loop, same image{both}"
    return compare(title, "in our container", theirs, values, bar=BAR, unit="samples/s")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.frameworks", description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=FRAMEWORKS, default=list(FRAMEWORKS))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-frameworks-") as scratch:
        emit([measure(name, asked.pairs, Path(scratch)) for name in asked.only])


if __name__ == "__main__":
    main()
