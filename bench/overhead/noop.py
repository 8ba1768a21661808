"""The cost of the harness, as a no-op cell inside a run against `docker run --rm --network none` of the same image.

Ours is everything that happens between two outcomes of a run: request, container, watching, inspection, removal,
reading and checking the result, outcome, and every fsync on the way.
"""

import argparse
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.networks import inside
from bench.pairs import Ratio, compare, emit, interleave
from orchestrator.domain import Duration, Framework, Outcome

BAR = (0.0, 1.15)


def timed(outcomes: Iterator[Outcome]) -> float:
    """Return the seconds until the run gives its next outcome."""
    began = time.perf_counter()
    next(outcomes)
    return time.perf_counter() - began


def docker_run(image: str, folder: Path) -> float:
    """Return the seconds that the engine's own command takes for the same image, command and mount."""
    command = ["docker", "run", "--rm", "--network", "none", "-v", f"{folder}:/io", image, "--io", "/io"]
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def measure(pairs: int, scratch: Path) -> Ratio:
    """Run both sides pair by pair, after one of each that does not count."""
    plan = inside.one_cell(
        Framework("noop", "1", python="3.11"), tag="1-cpu", model="mlp", batch=32, duration=Duration(),
        repeats=pairs + 1,
    )  # fmt: skip
    run, outcomes = inside.begin(plan, scratch / "run", inside.containers())
    timed(outcomes)
    theirs = scratch / "theirs"
    theirs.mkdir()
    (theirs / "request.json").write_bytes((run.repeat_folder(plan.cells[0].id, 0) / "request.json").read_bytes())
    image = inside.image_of(run, plan)
    docker_run(image, theirs)
    values = interleave(lambda: timed(outcomes), lambda: docker_run(image, theirs), pairs)
    return compare(
        "wall time per no-op cell", "inside a run", "`docker run --rm --network none`", values, bar=BAR, unit="s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.overhead.noop", description=__doc__)
    parser.add_argument("--pairs", type=int, default=40)
    with tempfile.TemporaryDirectory(prefix="bench-noop-") as scratch:
        emit([measure(parser.parse_args().pairs, Path(scratch))])


if __name__ == "__main__":
    main()
