"""Generated runs for the benchmark of the site: files as runs leave them, whose figures are made up and look it.

The matrix of every run is named `generated`, and so are its hosts.
"""

import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from orchestrator.domain import (
    Cell,
    Duration,
    Environment,
    Framework,
    ImageSpec,
    Mode,
    Outcome,
    Plan,
    Status,
    System,
    Workload,
)
from orchestrator.results.records import RunRecord, plan_to_json
from orchestrator.results.store import Run

REPEATS = 5
HOSTS = ("generated-a", "generated-b", "generated-c", "generated-d", "generated-e")
MODELS = {"lenet": 61_706, "mlp": 669_706, "resnet18": 11_689_512, "vgg16": 138_357_544}
RELEASES = {
    "mxnet": ("1.5.1", "1.6.0", "1.7.0", "1.8.0", "1.9.1"),
    "torch": ("2.9.0", "2.10.0", "2.11.0", "2.12.0", "2.13.0"),
    "tensorflow": ("2.17.0", "2.18.0", "2.19.0", "2.20.0", "2.21.0"),
    "jax": ("0.6.0", "0.6.2", "0.7.0", "0.7.2", "0.8.0"),
    "openvino": ("2025.1", "2025.2", "2025.3", "2025.4", "2026.1"),
}
PACE = {"mxnet": 1.0, "torch": 1.35, "tensorflow": 0.92, "jax": 1.6, "openvino": 2.1}
SWEPT = (1, 8, 32, 128, 512)
BEGIN = datetime(2026, 1, 1, 3, tzinfo=UTC)


@dataclass(frozen=True)
class Night:
    """One generated run."""

    number: int
    host: str
    age: float
    """0 for the first run, 1 for the last."""
    sweeps: bool
    """True if it has several batch sizes, and few models."""


@dataclass(frozen=True)
class Place:
    """One repeat of a generated run."""

    cell: Cell
    repeat: int
    begun: datetime


def make(results: Path, runs: int) -> int:
    """Write so many runs, without waiting for the disk. Return the number of repeats."""
    return sum(write(results, night(number, runs)) for number in range(runs))


def night(number: int, runs: int) -> Night:
    """Return the run of that number, one of as many; its figures depend on nothing else."""
    return Night(number, HOSTS[number % len(HOSTS)], number / max(1, runs - 1), number % 50 >= 45)


def write(results: Path, of: Night) -> int:
    """Write one run, and return the number of its repeats."""
    plan = _plan(of.sweeps, min(4, int(of.age * 5)))
    draw = random.Random(of.number)
    begun = BEGIN + timedelta(hours=6 * of.number)
    run = Run(results / f"{begun:%Y%m%dT%H%M%SZ}-{of.number:04x}")
    run.write_record(
        RunRecord(
            run=run.name, created_at=begun.isoformat(), orchestrator_version="0", runtime="docker",
            host={"hostname": of.host, "machine": "x86_64", "cpu": "Generated CPU", "cpus": 16}, plan=plan, matrix={},
        )
    )  # fmt: skip
    count = 0
    for cell in _cells(of.sweeps, min(4, int(of.age * 5))):
        pace = _pace(cell, of) * draw.lognormvariate(0, 0.01)
        for repeat in range(cell.repeats):
            _repeat(run, Place(cell, repeat, begun + timedelta(seconds=30 * count)), pace, draw)
            count += 1
    return count


@cache
def _plan(sweeps: bool, release: int) -> dict[str, object]:
    cells = tuple(_cells(sweeps, release))
    frameworks = {cell.image: cell.framework for cell in cells}
    images = tuple(
        ImageSpec(f"bench/{each.name}", f"{each.version}-cpu", "cpu", each,
                  Environment(each.name, "3.11", expected_versions=((each.name, each.version),)))
        for each in frameworks.values()
    )  # fmt: skip
    return plan_to_json(Plan("generated", 1, images, cells))


@cache
def _cells(sweeps: bool, release: int) -> Sequence[Cell]:
    return tuple(_sweep(release) if sweeps else _nightly(release))


def _nightly(release: int) -> Iterator[Cell]:
    for name, versions in RELEASES.items():
        for model in MODELS:
            mode = Mode("infer") if name == "openvino" or model == "vgg16" else Mode("train")
            yield _cell(Framework(name, versions[release], python="3.11"), Workload(model, mode, 64))


def _sweep(release: int) -> Iterator[Cell]:
    for name in ("mxnet", "torch", "tensorflow", "jax"):
        for batch in SWEPT:
            yield _cell(
                Framework(name, RELEASES[name][release], python="3.11"), Workload("lenet", Mode("train"), batch)
            )


def _cell(framework: Framework, work: Workload) -> Cell:
    image = f"bench/{framework.name}:{framework.version}-cpu"
    identity = f"{framework.name}-{framework.version}-cpu/{work.label}"
    return Cell(
        identity, framework, System("cpu", cpus=4), work, image, options=(("hybridize", True),),
        duration=Duration(), repeats=REPEATS,
    )  # fmt: skip


def _pace(cell: Cell, of: Night) -> float:
    """Return samples/s: larger batches are better, releases differ, and one host changes in the middle."""
    size = MODELS[cell.workload.model]
    batch = cell.workload.batch_size
    own = PACE[cell.framework.name] * (1 + 0.04 * RELEASES[cell.framework.name].index(cell.framework.version))
    host = 1 + 0.3 * HOSTS.index(of.host)
    slower = 0.93 if of.host == "generated-b" and of.age > 0.55 else 1.0
    mode = 3 if cell.workload.mode == "infer" else 1
    return float(4e8 / size**0.8 * own * host * slower * batch / (batch + 20) * mode)


def _repeat(run: Run, of: Place, pace: float, draw: random.Random) -> None:
    cell, repeat, begun = of.cell, of.repeat, of.begun
    place = run.repeat_folder(cell.id, repeat)
    place.mkdir(parents=True)
    failed = draw.random() < 0.01
    result = None if failed else _result(cell, repeat, pace * draw.lognormvariate(0, 0.008), begun, draw)
    outcome = Outcome(
        cell.id, repeat, Status.FAILED if failed else Status.OK,
        "exit status 139: segmentation fault" if failed else "",
        f"{cell.id}/{repeat}/log.txt", started_at=begun.isoformat(), wall_s=12.5, create_s=0.25, exit_code=0,
        image_id="sha256:" + "ab" * 32, disturbed_blocks=0,
        disturbance="" if failed or draw.random() > 0.01 else "3 of 10 blocks (2–4): others used 0.6 of our CPUs",
    )  # fmt: skip
    fields = {name: getattr(outcome, name) for name in Outcome.__slots__}
    (place / "outcome.json").write_text(json.dumps(fields))
    (place / "log.txt").write_text("loading\nmeasured\n")
    if result is not None:
        (place / "result.json").write_text(json.dumps(result))


def _result(cell: Cell, repeat: int, pace: float, begun: datetime, draw: random.Random) -> dict[str, object]:
    """Return an answer as of a container, with ten blocks, a hundred step times and forty distributions."""
    batch = cell.workload.batch_size
    step_s = batch / pace
    steps = max(1, math.ceil(0.4 / step_s))

    def block(steps: int) -> dict[str, object]:
        busy = draw.random() < 0.02
        wall_s = steps * step_s * draw.lognormvariate(0, 0.01) * (1.2 if busy else 1)
        seen = {
            "wall_s": wall_s, "cpu_s": 3.8 * wall_s, "busy_s": (4.6 if busy else 3.85) * wall_s,
            "frequency_hz": int(3.2e9 * draw.lognormvariate(0, 0.004)), "load": round(4 + draw.random(), 2),
        }  # fmt: skip
        return {"steps": steps, "samples": steps * batch, "wall_s": wall_s, "cpu_s": 3.8 * wall_s, "conditions": seen}

    trains = cell.workload.mode == "train"
    size = MODELS[cell.workload.model]
    return {
        "schema": 1, "measurement_version": 1, "cell": cell.id, "repeat": repeat, "started_at": begun.isoformat(),
        "phases": {
            "import_s": 1 + draw.random() / 5, "data_s": 0.1, "build_s": 0.2, "first_step_s": 8 * step_s + 0.05,
            "warmup_s": 1.0, "steady_s": 4.0, "latency_s": 100 * step_s,
        },
        "first_step": block(1), "warmup": [block(max(1, steps // 4))], "blocks": [block(steps) for _ in range(10)],
        "latency_s": [step_s * draw.lognormvariate(0.02, 0.05) for _ in range(100)],
        "loss": {"first": 2.302585, "last": 0.7 + 0.1 * draw.random()} if trains else None,
        "model": {"parameters": size, "multiply_adds": 7 * size},
        "memory": {"peak_rss_bytes": int(3e8 + 16 * size + 1e7 * draw.random()), "peak_device_bytes": None},
        "facts": {
            "versions": {
                cell.framework.name: cell.framework.version, **{f"distribution-{n}": f"1.{n}.0" for n in range(40)},
            },
            "python": "3.11.7", "cpu": {"model": "Generated CPU", "cores": 16}, "threads": 4, "threads_asked": 4,
        },
    }  # fmt: skip
