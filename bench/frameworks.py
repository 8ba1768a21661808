"""LeNet b200: training throughput as a run measures it, against a hand-written loop in the same image.

Both sides get the same image, the same CPUs, the same thread settings and the same data.
Ours is a repeat of a run, from request to checked result; its figure is the median over its blocks.
Theirs is a script of `bench/handwritten/`; its figure is the median over the speeds that it logs. It takes as many
steps to warm up, as many blocks, and as many steps to a block as our latest repeat took: a repeat finds out for itself
how many steps a block needs to be long enough.
"""

import argparse
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import inside
from bench.inside import SYSTEM
from bench.pairs import Ratio, compare, emit, interleave
from orchestrator.devices import Allocation, allocate, inventory
from orchestrator.domain import Duration, Framework, Options, variables
from orchestrator.results.contract import Result
from orchestrator.runtimes.variables import threads

BAR = (0.97, 1.05)
BATCH, WARMUP, STEPS = 200, 20, 200
HANDWRITTEN = Path(__file__).parent / "handwritten"
FRAMEWORKS = {
    "mxnet": Framework("mxnet", "1.9.1"),
    "tensorflow": Framework("tensorflow", "2.21.0"),
    "torch": Framework("torch", "2.13.0"),
    "jax": Framework("jax", "0.12.0.1"),
    "keras-mxnet": Framework("keras-mxnet", "2.2.4.3", backend=Framework("mxnet", "1.5.1")),
}
# glibc gives the top of its heap back after each step of PyTorch or JAX, or not, by accidents of the heap's layout:
# processes of one program then differ by 13 % (PyTorch, standard deviation) and stay so, and two programs that compile
# to the same instructions by 14 % (JAX). Both sides get fixed thresholds.
THRESHOLDS: Options = (("env.MALLOC_MMAP_THRESHOLD_", 32 << 20), ("env.MALLOC_TRIM_THRESHOLD_", 1 << 30))
OPTIONS = {"torch": THRESHOLDS, "jax": THRESHOLDS}


@dataclass(frozen=True, slots=True)
class Pace:
    """How many steps come first, and how the timed ones are cut into blocks."""

    warmup: int
    blocks: int
    every: int

    @classmethod
    def of(cls, result: Result) -> "Pace":
        """That of a repeat: all its timed blocks have the same number of steps."""
        (every,) = {block.steps for block in result.blocks}
        before = (result.first_step, *result.warmup)
        return cls(sum(block.steps for block in before), len(result.blocks), every)

    @property
    def arguments(self) -> list[str]:
        """For a hand-written loop."""
        return [f"--warmup={self.warmup}", f"--steps={self.blocks * self.every}", f"--every={self.every}"]


def handwritten(image: str, builder: str, given: dict[str, str], pace: Pace) -> float:
    """Median samples/s of the hand-written loop in a container of the same image."""
    allocation = allocate(SYSTEM, inventory())
    assert isinstance(allocation, Allocation), allocation
    cpus = ",".join(str(cpu) for cpu in allocation.cpus)
    settings = [f"--env={name}={value}" for name, value in (threads(allocation) | given).items()]
    command = ["docker", "run", "--rm", "--network=none", f"--cpuset-cpus={cpus}", *settings, "--shm-size=1g"]
    command += [f"--volume={HANDWRITTEN}:/handwritten:ro", "--entrypoint=python", image]
    command += [f"/handwritten/{builder}_loop.py", f"--threads={SYSTEM.cpus}", f"--batch={BATCH}"]
    command += pace.arguments
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    speeds = [float(line) for line in said.splitlines()]
    assert len(speeds) == pace.blocks, said
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

    paces: list[Pace] = []

    def ours() -> float:
        result = run.result(next(outcomes))
        assert result is not None
        paces.append(Pace.of(result))
        return statistics.median(block.samples / block.wall_s for block in result.blocks)

    def theirs() -> float:
        return handwritten(image, builder, variables(options), paces[-1])

    ours()
    image, builder = inside.image_of(run, plan), plan.images[0].environment.builder
    theirs()
    values = interleave(ours, theirs, pairs)
    title = f"LeNet b{BATCH} training, {framework.label}"
    both = f", both with {' '.join(variables(options))}" if options else ""
    other = f"hand-written loop, same image{both}"
    return compare(title, "in our container", other, values, bar=BAR, unit="samples/s")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.frameworks", description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=FRAMEWORKS, default=list(FRAMEWORKS))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-frameworks-") as scratch:
        emit([measure(name, asked.pairs, Path(scratch)) for name in asked.only])


if __name__ == "__main__":
    main()
