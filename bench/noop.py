"""What the harness costs: a no-op cell inside a run, against `docker run --rm --network none` of the same image.

Ours is everything that happens between two outcomes of a run: request, container, watching, inspection, removal,
reading and checking the result, outcome, and every fsync on the way.
"""

import argparse
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench.pairs import Ratio, compare, emit, interleave
from orchestrator import resources
from orchestrator.catalog import load
from orchestrator.cli.composition import site_settings
from orchestrator.devices import inventory
from orchestrator.domain import (
    BuildSettings,
    Cell,
    Duration,
    Framework,
    ImageSpec,
    Mode,
    Outcome,
    Plan,
    Status,
    System,
    Workload,
)
from orchestrator.engine.client import connect
from orchestrator.events import BuildFinished, Event
from orchestrator.results.store import Run
from orchestrator.running import Policy, Surroundings, execute
from orchestrator.runtimes import DockerRuntime, this_process

BAR = (0.0, 1.15)
SYSTEM = System("cpu", cpus=2, memory_bytes=8 << 30)


def noop_plan(repeats: int) -> Plan:
    """The catalog's no-op framework on the smallest model."""
    catalog = load(resources.IMAGES / "catalog")
    framework = Framework("noop", "1", python="3.11")
    spec = ImageSpec("bench/noop", "1-cpu", "cpu", framework, catalog.environment(framework, SYSTEM.gpus))
    cell = Cell(
        "noop-1-cpu/mlp-train-b32", framework, SYSTEM, Workload("mlp", Mode.TRAIN, 32), spec.name,
        duration=Duration(), repeats=repeats,
    )  # fmt: skip
    return Plan("noop", 1, (spec,), (cell,))


def timed(outcomes: Iterator[Outcome]) -> float:
    """Seconds until the run gives its next outcome."""
    began = time.perf_counter()
    outcome = next(outcomes)
    elapsed = time.perf_counter() - began
    assert outcome.status is Status.OK, outcome
    return elapsed


def docker_run(image: str, folder: Path) -> float:
    """Seconds that the engine's own command takes for the same image, command and mount."""
    command = ["docker", "run", "--rm", "--network", "none", "-v", f"{folder}:/io", image, "--io", "/io"]
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def measure(pairs: int, scratch: Path) -> Ratio:
    """Run both sides pair by pair, after one of each that is not counted."""
    plan = noop_plan(pairs + 1)
    run = Run(scratch / "run")
    run.folder.mkdir()
    user = f"{os.getuid()}:{os.getgid()}"
    runtime = DockerRuntime(connect(os.environ), site_settings(BuildSettings(), None), user=user, owner=this_process())

    def built(event: Event) -> None:
        assert not (isinstance(event, BuildFinished) and event.reason), event

    around = Surroundings(run, runtime, inventory(), lambda: datetime.now(UTC), built, threading.Event())
    outcomes = execute(plan, around, Policy())
    timed(outcomes)
    stored = run.outcome(plan.cells[0].id, 0)
    assert stored is not None
    assert stored.image_id is not None
    theirs = scratch / "theirs"
    theirs.mkdir()
    (theirs / "request.json").write_bytes((run.repeat_folder(stored.cell_id, 0) / "request.json").read_bytes())
    image = stored.image_id
    docker_run(image, theirs)
    values = interleave(lambda: timed(outcomes), lambda: docker_run(image, theirs), pairs)
    return compare(
        "wall time per no-op cell", "inside a run", "`docker run --rm --network none`", values, bar=BAR, unit="s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.noop", description=__doc__)
    parser.add_argument("--pairs", type=int, default=40)
    with tempfile.TemporaryDirectory(prefix="bench-noop-") as scratch:
        emit([measure(parser.parse_args().pairs, Path(scratch))])


if __name__ == "__main__":
    main()
