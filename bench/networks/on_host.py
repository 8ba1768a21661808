"""Training throughput in the interpreter at hand as a run measures it, against a hand-written loop in the same one.

    python -m bench.networks.on_host [--gpus 1 | --cpus 2] [--only torch jax] [--models lenet lstm] [--pairs 20]

No engine is needed. Both sides get the same processor or GPU, the same thread settings, and the variables of a launch.
Ours is a repeat of a run with the runtime `host`; its figure is the median over its blocks. Theirs is a script of
`bench/handwritten/`, at the pace of our latest repeat, as in `bench/networks/frameworks.py`.
"""

import argparse
import importlib.metadata
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.networks import inside
from bench.networks.frameworks import HANDWRITTEN, OPTIONS, WARMUP, Pace, Work
from bench.pairs import Ratio, compare, emit, interleave
from orchestrator.devices import Allocation, allocate, inventory
from orchestrator.domain import Duration, Framework, System, variables
from orchestrator.modes import RULES
from orchestrator.results.contract import Result
from orchestrator.runtimes import HostRuntime
from orchestrator.runtimes.local import SYSTEM_PATH, library_variables
from orchestrator.runtimes.variables import in_process

BAR = (0.97, 1.03)
FRAMEWORKS = ("torch", "jax")
BATCHES = {"lenet": 200, "resnet20": 128, "vgg19": 128, "lstm": 32, "encoder": 8, "decoder": 8}
GENERATES = ("decoder",)
"""Models that generate, and do not train."""
ON_GPU = System("1_gpu", gpus=1)


def installed(name: str) -> Framework:
    """Return the release of a framework in this interpreter. Raises `PackageNotFoundError` if there is none."""
    release = importlib.metadata.version(name).partition("+")[0]
    return Framework(name, release, python=f"{sys.version_info[0]}.{sys.version_info[1]}")


def _work(model: str) -> Work:
    return Work(model, "generate" if model in GENERATES else "train", BATCHES[model])


def handwritten(framework: Framework, model: str, system: System, pace: Pace) -> float:
    """Return the median samples/s of the hand-written loop, as a process with the variables of a launch."""
    allocation = allocate(system, inventory())
    assert isinstance(allocation, Allocation), allocation
    script = HANDWRITTEN / f"{framework.name}_{_work(model).script}.py"
    command = [sys.executable, str(script), f"--model={model}"]
    command += [f"--threads={len(allocation.cpus)}", f"--batch={BATCHES[model]}"]
    command += [f"--device={'gpu' if system.gpus else 'cpu'}", *pace.arguments]
    with tempfile.TemporaryDirectory(prefix="bench-loop-") as home:
        path = f"{Path(sys.executable).parent}:{SYSTEM_PATH}"
        environment = in_process(allocation, path=path, home=home) | library_variables(os.environ)
        environment |= variables(OPTIONS[framework.name]) | {"PYTHONDONTWRITEBYTECODE": "1"}
        ended = subprocess.run(
            ["taskset", "--cpu-list", ",".join(map(str, allocation.cpus)), *command],
            check=True, stdout=subprocess.PIPE, cwd=home, env=environment, text=True,
        )  # fmt: skip
    speeds = [float(line.split()[0]) for line in ended.stdout.splitlines()]
    assert len(speeds) == pace.blocks, ended.stdout
    return statistics.median(speeds)


def measure(framework: Framework, model: str, system: System, *, pairs: int, steps: int, scratch: Path) -> Ratio:
    """Compare one framework and model, after one repeat of each side that does not count."""
    plan = inside.one_cell(
        framework,
        tag="handwritten-host",
        model=model,
        mode=_work(model).mode,
        batch=BATCHES[model],
        duration=Duration(warmup_steps=WARMUP, steps=steps),
        repeats=pairs + 1,
        options=OPTIONS[framework.name],
        system=system,
    )
    run, outcomes = inside.begin(plan, scratch / f"{framework.name}-{model}", HostRuntime(os.environ))
    paces: list[Pace] = []

    def ours() -> float:
        result = run.result(next(outcomes))
        assert isinstance(result, Result)
        paces.append(Pace.of(result))
        return statistics.median(block.samples / block.wall_s for block in result.blocks)

    def theirs() -> float:
        return handwritten(framework, model, system, paces[-1])

    ours()
    theirs()
    values = interleave(ours, theirs, pairs)
    done = "generation of 32 tokens after 32" if model in GENERATES else "training"
    title = f"{model} b{BATCHES[model]} {done}, {framework.label}, {system.name}"
    return compare(
        title,
        "by a run on the host",
        "hand-written loop",
        values,
        bar=BAR,
        unit=f"{RULES[_work(model).mode].sample}s/s",
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.networks.on_host", description=__doc__)
    parser.add_argument("--gpus", type=int, choices=(0, 1), default=0)
    parser.add_argument("--cpus", type=int, default=2, help="of a cell without a GPU")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--only", nargs="+", choices=FRAMEWORKS, default=list(FRAMEWORKS))
    parser.add_argument("--models", nargs="+", choices=BATCHES, default=list(BATCHES))
    options = parser.parse_args()
    system = ON_GPU if options.gpus else System("cpu", cpus=options.cpus)
    with tempfile.TemporaryDirectory(prefix="bench-on-host-") as scratch:
        emit(
            [
                measure(installed(name), model, system, pairs=options.pairs, steps=options.steps, scratch=Path(scratch))
                for name in options.only
                for model in options.models
            ]
        )


if __name__ == "__main__":
    main()
