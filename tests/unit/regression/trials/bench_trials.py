"""Trials on a runtime in memory whose containers are as fast as a test wants them."""

import json
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.domain import ImageSpec, Status
from orchestrator.events import Listener
from orchestrator.processes import Cause, StartError, Stop, Watch
from orchestrator.regression.model import Regression
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.rules import Rules
from orchestrator.regression.trials.carry_out import MeasuredTrial, carry_out, first_plan, trial_of
from orchestrator.regression.trials.files import Trial, store_trial, stored_trial
from orchestrator.results.records import RunRecord, plan_to_json
from orchestrator.results.store import Run
from orchestrator.running import Policy, Surroundings
from orchestrator.runtimes import Ended, Provided, Ready, Task, Unavailable
from tests.unit.running.running_fakes import FakeRuntime, result_for, surroundings

GOLDEN = Path(__file__).parents[3] / "golden/contract/parity.json"
Rate = Callable[[str, int], float]
"""Samples per second of a cell's repeat."""
CPU = {"python": "3.11.7", "cpu": "a CPU", "cpus": 2, "threads": 2}


def steady(**factors: float) -> Rate:
    """About 1000 samples/s that scatter by half a per cent, times a factor for cells whose id holds a word."""

    def rate(cell: str, repeat: int) -> float:
        scatter = 1 + random.Random(f"{cell} {repeat}").gauss(0, 0.005)
        return 1000 * scatter * next((factor for word, factor in factors.items() if word in cell), 1.0)

    return rate


@dataclass
class Bench(FakeRuntime):
    """Measures at given rates, and answers parity checks."""

    rate: Rate = field(default_factory=steady)
    ends: Mapping[str, Callable[[Task], Ended | None]] = field(default_factory=dict)
    """The ends of cells, by a word of their id, in place of being measured; None: it is measured after all."""
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    parity: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The difference of a parity answer, by a word of the check."""
    parity_ends: Mapping[str, Callable[[Task], Ended | None]] = field(default_factory=dict)
    """The ends of checks, by a word of their id, in place of an answer."""
    versions: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    stop_after: int | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    def provide(
        self, images: Sequence[ImageSpec], *, jobs: int, logs: Path, listener: Listener, stop: Stop
    ) -> Provided:
        found: dict[str, Ready | Unavailable] = {
            image.name: Ready(
                image.name, "handle", self.versions.get(image.name, (("numpy", "1.0"),)), f"sha256:{image.name}",
                size_bytes=1000,
            )
            for image in images
        }  # fmt: skip
        return found | {name: bad for name, bad in self.unavailable.items() if name in found}

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        request: dict[str, Any] = json.loads((task.folder / "request.json").read_text())
        self.launched.append(request)
        cell = request["cell"]
        task.log.write_text("it ran\n")
        end = _of(self.parity_ends if request["mode"] == "parity" else {}, cell)
        if end is not None:
            return end(task)  # type: ignore[no-any-return]
        if request["mode"] == "parity":
            answer = json.loads(GOLDEN.read_text()) | {"cell": cell} | dict(_of(self.parity, cell) or {})
            (task.folder / "result.json").write_text(json.dumps(answer))
            return Ended(Cause.EXITED, 0, wall_s=1.0)
        if self.stop_after is not None and len(self.measured) > self.stop_after:
            self.stop.set()
            return Ended(Cause.STOPPED, None, wall_s=0.1)
        end = _of(self.ends, cell)
        ended: Ended | None = end(task) if end else None
        if ended is not None:
            return ended
        rate = self.rate(cell, request["repeat"])
        samples = 50 * request["batch_size"]
        blocks = [{"steps": 50, "samples": samples, "wall_s": samples / rate, "cpu_s": 0.1}] * 10
        answer = result_for(request, blocks=blocks, facts={**CPU, **(_of(self.facts, cell) or {})})
        (task.folder / "result.json").write_text(json.dumps(answer))
        return Ended(Cause.EXITED, 0, wall_s=1.0, create_s=0.2)

    @property
    def measured(self) -> list[tuple[str, int]]:
        """Cell and repeat of every container that was to measure, in order."""
        return [(each["cell"], each["repeat"]) for each in self.launched if each["mode"] != "parity"]  # type: ignore[misc]


def _of(found: Mapping[str, Any], cell: str) -> Any:
    return next((value for word, value in found.items() if word in cell), None)


def crash(task: Task) -> Ended:
    task.log.write_text("Segmentation fault\n")
    return Ended(Cause.EXITED, 139, wall_s=1.0, signal=11)


def at(end: Callable[[Task], Ended], *repeats: int) -> Callable[[Task], Ended | None]:
    """End so in some repeats only."""

    def now_and_then(task: Task) -> Ended | None:
        repeat = json.loads((task.folder / "request.json").read_text())["repeat"]
        return end(task) if repeat in repeats else None

    return now_and_then


def lost(task: Task) -> Ended:
    """The engine could not start it."""
    raise StartError(f"{task.folder.name} was not started")


def unsupported(task: Task) -> Ended:
    task.log.write_text("cannot do that\n")
    return Ended(Cause.EXITED, 3, wall_s=1.0)


def begin(folder: Path, pairing: Pairing, rules: Rules) -> Trial:
    """Write what a run must hold before a trial is carried out."""
    trial = trial_of(pairing, rules)
    run = Run(folder)
    run.folder.mkdir(parents=True)
    store_trial(run, trial)
    plan = first_plan(pairing.plan, rules)
    record = RunRecord(
        run=run.name, created_at="2026-11-21T15:30:00+00:00", orchestrator_version="0", runtime="fake",
        host={"hostname": "here"}, plan=plan_to_json(plan), matrix={},
    )  # fmt: skip
    run.write_record(record)
    return trial


def go_on(folder: Path, runtime: Bench) -> Regression:
    """Carry out what is stored in a folder."""
    return measured(folder, runtime).regression


def measured(folder: Path, runtime: Bench) -> MeasuredTrial:
    """Carry out what is stored in a folder. Return it with its plan."""
    around: Surroundings
    around, _ = surroundings(folder, runtime, runtime.stop)
    return carry_out(stored_trial(Run(folder)), around, Policy(seed=3))


def try_out(folder: Path, pairing: Pairing, runtime: Bench, rules: Rules | None = None) -> Regression:
    begin(folder, pairing, rules or Rules())
    return go_on(folder, runtime)


def unbuildable(image: str) -> Unavailable:
    return Unavailable(image, Status.BUILD_FAILED, "no matching distribution")
