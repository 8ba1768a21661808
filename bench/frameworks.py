"""LeNet's training throughput at batch size 200 as a run measures it, against a hand-written loop in the same image.

Both sides get the same image, the same CPUs, the same thread settings and the same data.
Ours is a repeat of a run, from request to checked result; its figure is the median over its blocks.
Theirs is a script of `bench/handwritten/`; its figure is the median over the speeds that it logs. It takes as many
steps to warm up, as many blocks, and as many steps to a block as our latest repeat took, since a repeat itself
measures how many steps make a block long enough.

Each side has a cache of its own for what its framework compiles, which Theano fills in the repeat that does not count.
"""

import argparse
import os
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

BAR, NARROW_BAR = (0.97, 1.05), (0.97, 1.03)
BATCH, WARMUP, STEPS = 200, 20, 200
HANDWRITTEN = Path(__file__).parent / "handwritten"
FRAMEWORKS = {
    "mxnet": Framework("mxnet", "1.9.1"),
    "tensorflow": Framework("tensorflow", "2.21.0"),
    "torch": Framework("torch", "2.13.0"),
    "jax": Framework("jax", "0.12.0.1"),
    "keras-mxnet": Framework("keras-mxnet", "2.2.4.3", backend=Framework("mxnet", "1.5.1")),
    "mxnet-0.11.0": Framework("mxnet", "0.11.0"),
    "mxnet-1.1.0": Framework("mxnet", "1.1.0"),
    "torch-1.3.0": Framework("torch", "1.3.0"),
    "tensorflow-2.1.0": Framework("tensorflow", "2.1.0"),
    "keras-tensorflow-1.3.0": Framework("keras", "2.0.8", backend=Framework("tensorflow", "1.3.0")),
    "keras-tensorflow-1.8.0": Framework("keras", "2.2.4", backend=Framework("tensorflow", "1.8.0")),
    "keras-tensorflow-1.13.1": Framework("keras", "2.2.4", backend=Framework("tensorflow", "1.13.1")),
    "keras-theano-0.9.0": Framework("keras", "2.0.8", backend=Framework("theano", "0.9.0")),
    "keras-theano-1.0.5": Framework("keras", "2.3.1", backend=Framework("theano", "1.0.5")),
    "keras-cntk": Framework("keras", "2.3.1", backend=Framework("cntk", "2.7")),
    "keras3-tensorflow": Framework("keras3", "3.15.1", backend=Framework("tensorflow", "2.21.0")),
    "keras3-torch": Framework("keras3", "3.15.1", backend=Framework("torch", "2.13.0")),
    "keras3-jax": Framework("keras3", "3.15.1", backend=Framework("jax", "0.12.0.1")),
}
BARS = dict.fromkeys(("mxnet-0.11.0", "mxnet-1.1.0", "torch-1.3.0", "tensorflow-2.1.0"), NARROW_BAR)
"""Bars of the rows that do not have `BAR`."""
LOOPS = {"keras3": "keras", "keras_mxnet": "keras"}
"""Hand-written loops that are not called as the builder."""
# After each step of PyTorch or JAX, glibc may return the top of its heap, by accidents of the heap's layout. Processes
# of one program then differ lastingly by 13 % (PyTorch, standard deviation), and two programs that compile to the same
# instructions by 14 % (JAX). Both sides get fixed thresholds.
THRESHOLDS: Options = (("env.MALLOC_MMAP_THRESHOLD_", 32 << 20), ("env.MALLOC_TRIM_THRESHOLD_", 1 << 30))
OPTIONS = dict.fromkeys(("torch", "torch-1.3.0", "jax", "keras3-torch", "keras3-jax"), THRESHOLDS)


@dataclass(frozen=True, slots=True)
class Pace:
    """The number of warm-up steps, and of the timed blocks and their steps."""

    warmup: int
    blocks: int
    every: int

    @classmethod
    def of(cls, result: Result) -> "Pace":
        """Return the pace of a repeat, whose timed blocks all have the same number of steps."""
        (every,) = {block.steps for block in result.blocks}
        before = (result.first_step, *result.warmup)
        return cls(sum(block.steps for block in before), len(result.blocks), every)

    @property
    def arguments(self) -> list[str]:
        """Return the arguments of a hand-written loop."""
        return [f"--warmup={self.warmup}", f"--steps={self.blocks * self.every}", f"--every={self.every}"]


def handwritten(image: str, loop: str, environment: dict[str, str], pace: Pace, home: Path) -> float:
    """Return the median samples/s of the hand-written loop in a container of the same image.

    Its home folder outlives it, because Theano keeps there what it compiles.
    """
    allocation = allocate(SYSTEM, inventory())
    assert isinstance(allocation, Allocation), allocation
    cpus = ",".join(str(cpu) for cpu in allocation.cpus)
    settings = [f"--env={name}={value}" for name, value in (threads(allocation) | environment).items()]
    command = ["docker", "run", "--rm", "--network=none", f"--cpuset-cpus={cpus}", *settings, "--shm-size=1g"]
    command += [f"--user={os.getuid()}:{os.getgid()}", f"--volume={home}:/home/own", "--env=HOME=/home/own"]
    command += [f"--volume={HANDWRITTEN}:/handwritten:ro", "--entrypoint=python", image]
    command += [f"/handwritten/{loop}_loop.py", f"--threads={SYSTEM.cpus}", f"--batch={BATCH}"]
    command += pace.arguments
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    speeds = [float(line) for line in printed.splitlines()]
    assert len(speeds) == pace.blocks, printed
    return statistics.median(speeds)


def measure(name: str, pairs: int, scratch: Path) -> Ratio:
    """Compare one framework, after one repeat of each side that does not count."""
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
    run, outcomes = inside.begin(plan, scratch / name, inside.containers(scratch / "cache"))
    home = scratch / f"{name}-home"
    home.mkdir()

    paces: list[Pace] = []

    def ours() -> float:
        result = run.result(next(outcomes))
        assert result is not None
        paces.append(Pace.of(result))
        return statistics.median(block.samples / block.wall_s for block in result.blocks)

    def theirs() -> float:
        return handwritten(image, loop, variables(options), paces[-1], home)

    ours()
    image, builder = inside.image_of(run, plan), plan.images[0].environment.builder
    loop = LOOPS.get(builder, builder)
    theirs()
    values = interleave(ours, theirs, pairs)
    title = f"LeNet b{BATCH} training, {framework.label}"
    both = f", both with {' '.join(variables(options))}" if options else ""
    other = f"hand-written loop, same image{both}"
    return compare(title, "in our container", other, values, bar=BARS.get(name, BAR), unit="samples/s")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.frameworks", description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=FRAMEWORKS, default=list(FRAMEWORKS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-frameworks-") as scratch:
        emit([measure(name, options.pairs, Path(scratch)) for name in options.only])


if __name__ == "__main__":
    main()
