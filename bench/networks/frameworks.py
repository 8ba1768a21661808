"""Throughput as a run measures it, against a hand-written loop in the same image.

Frameworks train LeNet at batch size 200, and some an encoder; some generate tokens by a decoder. Serving engines infer,
and the loop is given the file that our builder writes.
Both sides get the same image, the same CPUs, the same thread settings and the same data.
Ours is a repeat of a run, from request to checked result; its figure is the median over its blocks.
Theirs is a script of `bench/handwritten/`; its figure is the median over the speeds that it logs. It takes as many
steps to warm up, as many blocks, and as many steps to a block as our latest repeat took, since a repeat itself
measures how many steps make a block long enough.

Rows that are not in `ALONE` are compared in another way: both sides run at once on one CPU, which the kernel divides
between their containers. What else the machine does slows both alike, where processes that run one after the other may
differ by a tenth. The samples over one's blocks are set against those over the other's blocks meanwhile, each by the
seconds of the CPU that it had, because the kernel gives one side some percent more. These seconds stand for wall time,
as neither side waits: it would have had far less of the CPU than the other, which is checked.
The script is frozen after its first block until ours warms up, so that both have trained as long: a step may take
longer once a model has learned (PyTorch 1.3.0: 2 to 4 % after 900 steps).

Each side has a cache of its own for what its framework compiles, which Theano fills in the repeat that does not count.
"""

import argparse
import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bench.networks import inside
from bench.networks.inside import SYSTEM
from bench.pairs import Ratio, compare, emit, interleave
from bench.records import ROOT
from benchmarks.native import onnx
from benchmarks.vocabulary import layers, weights
from orchestrator.devices import Allocation, allocate, inventory
from orchestrator.domain import Duration, Framework, Options, System, variables
from orchestrator.events import Event, PhaseChanged
from orchestrator.modes import RULES
from orchestrator.results.contract import Result
from orchestrator.runtimes.variables import threads

BAR, NARROW_BAR = (0.97, 1.05), (0.97, 1.03)
BATCH, WARMUP, STEPS = 200, 20, 200


@dataclass(frozen=True, slots=True)
class Work:
    """A model in a mode, with its batch size."""

    model: str = "lenet"
    mode: str = "train"
    batch: int = BATCH
    warmup: int = WARMUP
    steps: int = STEPS

    def __str__(self) -> str:
        names = {"lenet": "LeNet", "resnet50_v1_5": "ResNet50 v1.5", "encoder": "encoder", "decoder": "decoder"}
        modes = {"train": "training", "infer": "inference", "generate": "generation of 32 tokens after 32"}
        return f"{names[self.model]} b{self.batch} {modes[self.mode]}"

    @property
    def script(self) -> str:
        """Return the end of the name of its hand-written loops."""
        return "generation" if self.mode == "generate" else "loop"


HANDWRITTEN = ROOT / "bench" / "handwritten"
ENGINES = (Framework("onnxruntime", "1.32.0"), Framework("openvino", "2026.4.1"))
# A phase is heard of a second late, so that each lasts for several.
SERVED = (Work("lenet", "infer", warmup=2000, steps=6000), Work("resnet50_v1_5", "infer", 1, warmup=80, steps=240))
INFERENCE = {f"{engine.name}-{work.model}": work for engine in ENGINES for work in SERVED}
"""Rows that infer."""
ATTENTION = (Work("encoder", "train", 8, warmup=40, steps=400), Work("decoder", "generate", 8, warmup=60, steps=300))
ATTENDING = {f"{name}-{work.model}": work for name in ("torch", "tensorflow", "jax") for work in ATTENTION}
"""Rows with networks of attention, which train or generate."""
WORKS = INFERENCE | ATTENDING
"""Rows that do not train LeNet."""
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
    **{f"{engine.name}-{work.model}": engine for engine in ENGINES for work in SERVED},
}
FRAMEWORKS |= {name: FRAMEWORKS[name.partition("-")[0]] for name in ATTENDING}
BARS = dict.fromkeys(("mxnet-0.11.0", "mxnet-1.1.0", "torch-1.3.0", "tensorflow-2.1.0", *WORKS), NARROW_BAR)
"""Bars of the rows that do not have `BAR`."""
ALONE = ("mxnet", "tensorflow", "torch", "jax", "keras-mxnet")
"""Rows whose sides run one after the other."""
ONE_CPU = System("cpu", cpus=1, memory_bytes=SYSTEM.memory_bytes)
"""System of the rows whose sides share a CPU."""
LATEST_S = 1.0
"""A phase of a repeat is heard of so much later, at most."""
LEAST_SHARE = 0.8
"""The least CPU time of one side as a share of the other's. A side that waits leaves more of the CPU to the other."""
LONGER = 6
"""A hand-written loop next to a repeat has so many times its blocks, as it is to end after it."""
LOOPS = {"keras3": "keras", "keras_mxnet": "keras"}
"""Hand-written loops that are not called as the builder."""
# After each step of PyTorch, JAX or Theano, glibc may return the top of its heap, by accidents of the heap's layout. So
# it may with TensorFlow, where a step makes gradients of the encoder's table of words, of 16 MB.
# Processes of one program then differ lastingly by 13 % (PyTorch, standard deviation), two programs that compile to the
# same instructions by 14 % (JAX), and `fit` on Theano 0.9.0 has six times the page faults of the same steps elsewhere.
# Both sides get fixed thresholds.
THRESHOLDS: Options = (("env.MALLOC_MMAP_THRESHOLD_", 32 << 20), ("env.MALLOC_TRIM_THRESHOLD_", 1 << 30))
_ON_THE_HEAP = (
    *(name for name in ATTENDING if name != "tensorflow-decoder"),
    "torch",
    "torch-1.3.0",
    "jax",
    "keras-theano-0.9.0",
    "keras-theano-1.0.5",
    "keras3-torch",
    "keras3-jax",
)
OPTIONS = dict.fromkeys(_ON_THE_HEAP, THRESHOLDS)


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


@dataclass(frozen=True, slots=True)
class Loop:
    """A hand-written loop in containers of an image."""

    script: str
    image: str
    system: System
    environment: dict[str, str]
    home: Path
    """Its home folder, which outlives a container, because Theano keeps there what it compiles.

    Serving engines find the file of the model in it.
    """
    work: Work

    def begin(self, pace: Pace, name: str = "") -> "subprocess.Popen[str]":
        """Begin it in a container, which may have a name. It prints a line for each block, as `Block` has it."""
        allocation = allocate(self.system, inventory())
        assert isinstance(allocation, Allocation), allocation
        cpus = ",".join(str(cpu) for cpu in allocation.cpus)
        settings = [f"--env={name}={value}" for name, value in (threads(allocation) | self.environment).items()]
        command = ["docker", "run", "--rm", "--init", "--network=none", f"--cpuset-cpus={cpus}", *settings]
        command += [f"--name={name}"] if name else []
        command += [f"--user={os.getuid()}:{os.getgid()}", f"--volume={self.home}:/home/own", "--env=HOME=/home/own"]
        command += ["--shm-size=1g", f"--volume={HANDWRITTEN}:/handwritten:ro", "--entrypoint=python", self.image]
        command += [f"/handwritten/{self.script}_{self.work.script}.py", f"--threads={self.system.cpus}"]
        command += [f"--batch={self.work.batch}", *pace.arguments]
        command += [f"--model={self.work.model}"] if self.work.model != "lenet" or self.work.mode == "infer" else []
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def speed(self, pace: Pace) -> float:
        """Return its median samples/s, alone."""
        with self.begin(pace) as process:
            assert process.stdout
            speeds = [Block.read(line).speed for line in process.stdout]
        assert (process.returncode, len(speeds)) == (0, pace.blocks), (process.returncode, speeds)
        return statistics.median(speeds)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a hand-written loop, with its moments by the kernel's monotonic clock and its CPU time, in seconds."""

    speed: float
    begin: float
    end: float
    cpu_s: float

    @classmethod
    def read(cls, line: str) -> "Block":
        """Read the line that a loop has printed."""
        return cls(*map(float, line.split()))


class Steady:
    """The moment at which the latest repeat was seen to begin its timed blocks.

    The container that is named as `frozen`, if any, goes on when a repeat warms up.
    """

    begin = 0.0
    frozen = ""

    def hear(self, event: Event) -> None:
        """Listen to the events of a run."""
        inside.no_failed_build(event)
        if isinstance(event, PhaseChanged) and event.phase == "warmup" and self.frozen:
            docker("unpause", self.frozen)
            self.frozen = ""
        elif isinstance(event, PhaseChanged) and event.phase == "steady":
            assert not self.frozen, "the warm-up ended before it was heard of"
            self.begin = time.monotonic()


def next_to(loop: Loop, ours: Callable[[], Result], steady: Steady, pace: Pace) -> tuple[float, float]:
    """Return our samples/s of CPU time, and those of a loop meanwhile, on a CPU that both share."""
    container = f"bench-loop-{os.getpid()}"
    with loop.begin(replace(pace, warmup=1, blocks=LONGER * pace.blocks), container) as process:
        assert process.stdout
        process.stdout.readline()  # it has compiled what it computes
        docker("pause", container)
        steady.frozen = container
        try:
            blocks = ours().blocks
        finally:
            docker("kill", container)
        theirs = [Block.read(line) for line in process.stdout]
    # Ours began before it was heard of. It ended later than its blocks add up to, as there are readings between them.
    end = steady.begin - LATEST_S + sum(block.wall_s for block in blocks)
    meanwhile = [block for block in theirs if block.begin > steady.begin and block.end < end]
    # Its last block may be cut off.
    assert len(theirs) + 1 < LONGER * pace.blocks, "the hand-written loop ended before the repeat"
    assert meanwhile, "no block of the hand-written loop is within those of the repeat"
    shares = (
        sum(block.cpu_s for block in blocks) / sum(block.wall_s for block in blocks),
        sum(block.cpu_s for block in meanwhile) / sum(block.end - block.begin for block in meanwhile),
    )
    counted = f"{len(blocks)} blocks, {len(meanwhile)} meanwhile of {len(theirs)}"
    print(f"  {counted}; of the CPU {shares[0]:.3f} and {shares[1]:.3f}", file=sys.stderr, flush=True)
    assert min(shares) >= LEAST_SHARE * max(shares), "one side waited, so that its CPU time says too little"
    samples = sum(block.speed * (block.end - block.begin) for block in meanwhile)
    return (
        sum(block.samples for block in blocks) / sum(block.cpu_s for block in blocks),
        samples / sum(block.cpu_s for block in meanwhile),
    )


def written(work: Work) -> bytes:
    """Return the file that our builder writes of a model."""
    net = layers.recorded(importlib.import_module(f"benchmarks.models.{work.model}").build)
    content: bytes = onnx.file(net.layers, net.inputs, weights.initial(net.layers, seed=1), work.batch)
    return content


def docker(command: str, container: str) -> None:
    """Do something to a container."""
    subprocess.run(["docker", command, container], stdout=subprocess.DEVNULL, check=True)


def measure(name: str, pairs: int, scratch: Path) -> Ratio:
    """Compare one framework, after one repeat of each side that does not count."""
    framework, options, is_alone = FRAMEWORKS[name], OPTIONS.get(name, ()), name in ALONE
    work = WORKS.get(name, Work())
    system = SYSTEM if is_alone else ONE_CPU
    plan = inside.one_cell(
        framework,
        tag="handwritten-cpu",
        model=work.model,
        mode=work.mode,
        batch=work.batch,
        duration=Duration(warmup_steps=work.warmup, steps=work.steps),
        repeats=pairs + 1,
        options=options,
        system=system,
    )
    steady = Steady()
    run, outcomes = inside.begin(
        plan, scratch / name, inside.containers(scratch / "cache"), is_alone=is_alone, listener=steady.hear
    )
    home = scratch / f"{name}-home"
    home.mkdir()
    if work.mode == "infer":
        (home / "model.onnx").write_bytes(written(work))

    def repeat() -> Result:
        result = run.result(next(outcomes))
        assert result is not None
        return result

    paces = [Pace.of(repeat())]
    builder = plan.images[0].environment.builder
    loop = Loop(LOOPS.get(builder, builder), inside.image_of(run, plan), system, variables(options), home, work)
    loop.speed(paces[0])

    def ours() -> float:
        result = repeat()
        paces.append(Pace.of(result))
        return statistics.median(block.samples / block.wall_s for block in result.blocks)

    if is_alone:
        values = interleave(ours, lambda: loop.speed(paces[-1]), pairs)
    else:
        both = [next_to(loop, repeat, steady, paces[0]) for _ in range(pairs)]
        values = [first for first, _ in both], [second for _, second in both]
    fixed = f", both with {' '.join(variables(options))}" if options else ""
    way = "" if is_alone else ", both at once on one CPU, by its seconds"
    other = f"hand-written loop, same image{fixed}{way}"
    unit = RULES[work.mode].per_s
    return compare(title(name), "in our container", other, values, bar=BARS.get(name, BAR), unit=unit)


def title(name: str) -> str:
    """Return the name of a row, by which a new measurement replaces it however the old one was measured."""
    return f"{WORKS.get(name, Work())}, {FRAMEWORKS[name].label}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.networks.frameworks", description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=FRAMEWORKS, default=list(FRAMEWORKS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-frameworks-") as scratch:
        emit([measure(name, options.pairs, Path(scratch)) for name in options.only])


if __name__ == "__main__":
    main()
