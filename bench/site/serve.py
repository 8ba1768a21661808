"""The cost of being looked at: a run with three viewers of its live page, against the same run with nobody there.

    python -m bench.site.serve [--pairs 24] [--only torch] [--runtime host]

Both sides are repeats of one run, in a new random order for each pair. A server of the results folder lives meanwhile,
and three viewers: each has loaded the page with all its files, reads the stream, and loads the new figures whenever the
site has changed. For a repeat without viewers, both are stopped by a signal, and go on for the next one with them. The
run writes its events as the command does, and takes turns on the host, so that the site is brought up to date between
repeats. Each repeat with viewers must have been told of by every one of the three.

MXNet is looked at by default: its launches on one CPU scatter by 1 %. On both CPUs of a small virtual machine, some
launches were slower by a quarter (PyTorch) or by two fifths (MXNet), with viewers and without, and no counter showed
it. There, give all of this one CPU: `taskset -c 0 python -m bench serve`.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.networks import inside
from bench.networks.frameworks import OPTIONS
from bench.pairs import UNBOUNDED, compare, interleave
from bench.site.viewers import watch
from orchestrator import __version__
from orchestrator.build_settings import BuildSettings
from orchestrator.devices import host_facts, inventory
from orchestrator.domain import Duration, Framework, Outcome, Plan, System
from orchestrator.events import Event, Listener
from orchestrator.reporting.live.recorded import recorded
from orchestrator.results.records import RunRecord, plan_to_json
from orchestrator.results.store import Run
from orchestrator.results.throughput import throughput
from orchestrator.runtimes import HostRuntime, Runtime
from orchestrator.runtimes.venv import VenvRuntime
from orchestrator.workflows.host import places

BAR = (0.99, UNBOUNDED)
VIEWERS, PAIRS, BATCH = 3, 24, 200
# The median of so many blocks outlasts a CPU of a shared host that is slow for seconds at a time.
LASTING = Duration(blocks=80, latency_steps=0)
FRAMEWORKS = {
    "torch": Framework("torch", "2.13.0", python="3.11"),
    "mxnet": Framework("mxnet", "1.9.1"),
    "noop": Framework("noop", "1", python="3.11"),
}
RUNTIMES = ("docker", "venv", "host")


class Audience:
    """The server and its viewers, who can be made to sleep."""

    def __init__(self, results: Path, scratch: Path) -> None:
        self._heard = scratch / "heard"
        self._heard.touch()
        environment = {**os.environ, "XDG_CACHE_HOME": str(scratch / "cache")}
        # Another cache has another lock of its own; that of the host is shared with the run.
        serve = ["-m", "orchestrator", "--quiet", "serve", "--port", "0", "--results", str(results)]
        self._processes: list[subprocess.Popen[str]] = []
        address = self._start(serve, environment)
        self._start(["-m", "bench.site.serve", "--watch", address, str(self._heard)], environment)

    def _start(self, arguments: list[str], environment: dict[str, str]) -> str:
        process = subprocess.Popen(
            [sys.executable, *arguments], env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        self._processes.append(process)
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        assert line, f"{arguments} has ended"
        return line

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all processes."""
        for process in self._processes:
            os.killpg(process.pid, number)

    def heard(self, word: str = "run") -> list[int]:
        """Return how often each viewer has heard of the run, or has loaded new `figures`."""
        lines = self._heard.read_text().splitlines()
        return [lines.count(f"{viewer} {word}") for viewer in range(VIEWERS)]

    def close(self) -> None:
        """End all processes."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        for process in self._processes:
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


@contextlib.contextmanager
def measured_run(plan: Plan, folder: Path, runtime: Runtime) -> Iterator[tuple[Run, Iterator[Outcome]]]:
    """Begin a run with its record and its events, as the command does."""
    listeners: list[Listener] = [inside.no_failed_build]

    def tell(event: Event) -> None:
        listeners[-1](event)

    run, outcomes = inside.begin(plan, folder, runtime, listener=tell)
    now = datetime.now(UTC)
    run.write_record(
        RunRecord(
            run=run.name, created_at=now.isoformat(timespec="seconds"), orchestrator_version=__version__,
            runtime=runtime.name, host=host_facts(inventory()), plan=plan_to_json(plan), matrix={},
        )
    )  # fmt: skip
    with recorded(folder, inside.no_failed_build, lambda: datetime.now(UTC)) as listener:
        listeners.append(listener)
        yield run, outcomes


def measure(name: str, runtime: Runtime, pairs: int, scratch: Path) -> list[dict[str, Any]]:
    """Compare one framework with itself."""
    here = len(os.sched_getaffinity(0))
    cpus = min(inside.SYSTEM.cpus or here, here)
    plan = inside.one_cell(
        FRAMEWORKS[name], tag="serve-cpu", model="lenet", batch=BATCH, duration=LASTING, repeats=2 * pairs + 1,
        options=OPTIONS.get(name, ()), system=System("cpu", cpus=cpus, memory_bytes=inside.SYSTEM.memory_bytes),
    )  # fmt: skip
    results = scratch / "results"
    results.mkdir()
    disturbed = {True: 0, False: 0}
    deaf = 0
    with (
        measured_run(plan, results / "20260101T000000Z-0001", runtime) as (run, outcomes),
        contextlib.closing(Audience(results, scratch)) as audience,
    ):
        next(outcomes)

        def rate(*, is_watched: bool) -> float:
            nonlocal deaf
            audience.signal(signal.SIGCONT if is_watched else signal.SIGSTOP)
            before = audience.heard()
            outcome = next(outcomes)
            told = [after - earlier for earlier, after in zip(before, audience.heard(), strict=True)]
            deaf += is_watched and 0 in told
            assert is_watched or not any(told), told
            disturbed[is_watched] += bool(outcome.disturbance)
            result = run.result(outcome)
            assert result is not None
            return throughput(result, epochs=False)

        values = interleave(lambda: rate(is_watched=True), lambda: rate(is_watched=False), pairs)
        loads = audience.heard("figures")
    label = FRAMEWORKS[name].label
    ratio = compare(
        f"LeNet b{BATCH} training, {label}, in a run that is looked at", f"{VIEWERS} viewers of `serve`",
        "the same run, nobody there", values, bar=BAR, unit="samples/s",
    )  # fmt: skip
    counted = {
        "name": f"repeats of {label} that viewers of `serve` disturb",
        "text": f"{disturbed[True]} of {pairs} with viewers, {disturbed[False]} of {pairs} without; "
        f"{deaf} of which a viewer heard nothing; each viewer loaded new figures at least {min(loads)} times",
        "wanted": "none disturbed with viewers, each heard of",
        "within": not disturbed[True] and not deaf,
    }
    return [asdict(ratio) | {"within": ratio.within}, counted]


def _runtime(name: str) -> Runtime:
    if name == "docker":
        return inside.containers()
    if name == "host":
        return HostRuntime(os.environ)
    return VenvRuntime(places.cache_folder(os.environ), BuildSettings(), os.environ)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.site.serve", description=__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs of repeats for each framework")
    parser.add_argument("--only", nargs="+", choices=FRAMEWORKS, default=["mxnet"])
    parser.add_argument("--runtime", choices=RUNTIMES, default="docker")
    parser.add_argument("--watch", nargs=2, metavar=("ADDRESS", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.watch:
        watch(options.watch[0], Path(options.watch[1]), VIEWERS)
        return
    figures: list[dict[str, Any]] = []
    for name in options.only:
        with tempfile.TemporaryDirectory(prefix="bench-serve-") as scratch:
            figures += measure(name, _runtime(options.runtime), options.pairs, Path(scratch))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
