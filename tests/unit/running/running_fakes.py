"""A runtime in memory, and the smallest plan to run on it."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.devices import Cpu, Inventory
from orchestrator.domain import Cell, Environment, Framework, ImageSpec, Mode, Outcome, Plan, Status, System, Workload
from orchestrator.events import Event, Listener
from orchestrator.processes import Cause, LostError, StartError, Stop, Watch
from orchestrator.results.store import Run
from orchestrator.running import Policy, Surroundings, execute
from orchestrator.running.host_lock.lock import Turns
from orchestrator.runtimes import Ended, Provided, Ready, Task, Unavailable

FRAMEWORK = Framework("fake", "1", python="3.11")
SPEC = ImageSpec("bench/fake", "1-cpu", "cpu", FRAMEWORK, Environment("fakebuilder", "3.11"))
NOW = datetime(2026, 11, 21, 15, 30, tzinfo=UTC)


def ready(image: ImageSpec) -> Ready:
    return Ready(image.name, "handle", (("fake", "1"),), "sha256:1", "python@sha256:b")


Behaviour = Callable[[Task, dict[str, object], Watch], Ended]


def a_cell(name: str = "c", system: System = System("cpu", cpus=1), image: str = SPEC.name) -> Cell:  # noqa: B008 - frozen
    return Cell(f"fake-1-cpu/{name}", FRAMEWORK, system, Workload("lenet", Mode.TRAIN, 10), image)


def a_plan(*cells: Cell, images: tuple[ImageSpec, ...] = (SPEC,)) -> Plan:
    return Plan("test", 11, images, cells)


def result_for(request: Mapping[str, object], **changes: object) -> dict[str, object]:
    """A valid result for a request: ten blocks of 30 steps, at 600 and 300 samples/s by turns."""
    size = request["batch_size"]
    assert isinstance(size, int)
    blocks = [{"steps": 30, "samples": 30 * size, "wall_s": wall_s, "cpu_s": 1.0} for wall_s in (0.5, 1.0) * 5]
    first = {"steps": 1, "samples": size, "wall_s": 0.1, "cpu_s": 0.1}
    phases = dict.fromkeys(("import_s", "build_s", "first_step_s", "warmup_s", "steady_s", "latency_s"), 0.1)
    return {
        "schema": 1, "measurement_version": 1, "cell": request["cell"], "repeat": request["repeat"],
        "started_at": "2026-11-21T15:30:00Z", "phases": phases, "first_step": first, "warmup": [], "blocks": blocks,
        "latency_s": [0.01] * request["latency_steps"],
        "loss": {"first": 2.3, "last": 1.2}, "model": {"parameters": 1, "multiply_adds": 1},
        "memory": {"peak_rss_bytes": 1}, "facts": {}, **changes,
    }  # fmt: skip


def measured(task: Task, request: dict[str, object], watch: Watch) -> Ended:
    """Answer with a valid result."""
    task.log.write_text("measured\n")
    (task.folder / "result.json").write_text(json.dumps(result_for(request)))
    return Ended(Cause.EXITED, 0, wall_s=1.5, create_s=0.25, image_id="sha256:1")


def exiting(code: int, said: str = "it broke") -> Behaviour:
    """End with an exit code and a last word."""

    def behave(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        task.log.write_text(f"{said}\n")
        return Ended(Cause.EXITED, code, wall_s=1.0)

    return behave


@dataclass
class FakeRuntime:
    """Launches nothing: behaves as told, in turn, and then measures."""

    behaviours: list[Behaviour] = field(default_factory=list)
    unavailable: dict[str, Unavailable] = field(default_factory=dict)
    pins_cpus: bool = True
    mounts: bool = True
    name: str = "fake"
    provided: list[str] = field(default_factory=list)
    launched: list[dict[str, object]] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)

    def provide(
        self, images: Sequence[ImageSpec], *, jobs: int, logs: Path, listener: Listener, stop: Stop
    ) -> Provided:
        self.provided += [image.name for image in images]
        return {image.name: self.unavailable.get(image.name) or ready(image) for image in images}

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        request: dict[str, object] = json.loads((task.folder / "request.json").read_text())
        self.launched.append(request)
        self.tasks.append(task)
        behave = self.behaviours.pop(0) if self.behaviours else measured
        return behave(task, request, watch)


def surroundings(
    folder: Path, runtime: FakeRuntime, stop: Stop | None = None, turn: Path | None = None
) -> tuple[Surroundings, list[Event]]:
    """A run in a folder on two CPUs, and the events it tells."""
    events: list[Event] = []
    folder.mkdir(parents=True, exist_ok=True)
    here = Inventory((Cpu(0, 0), Cpu(1, 1)), 2**30)
    stop = stop or threading.Event()
    turns = Turns((turn,) if turn else ())
    return Surroundings(Run(folder), runtime, here, lambda: NOW, events.append, stop, turns), events


def carry_out(
    folder: Path,
    runtime: FakeRuntime,
    plan: Plan,
    policy: Policy | None = None,
    stop: threading.Event | None = None,
) -> list[Outcome]:
    around, _ = surroundings(folder, runtime, stop)
    outcomes = list(execute(plan, around, policy or Policy()))
    for outcome in outcomes:
        recorded = Run(folder).outcome(outcome.cell_id, outcome.repeat)
        left = (outcome.status, outcome.reason, outcome.attempts) == (Status.NOT_RUN, "stopped", 0)
        assert recorded == outcome or (left and recorded is None)
    return outcomes


def a_crash(task: Task, request: dict[str, object], watch: Watch) -> Ended:
    raise StartError("no space left for containers")


def statuses(outcomes: list[Outcome]) -> list[Status]:
    return [outcome.status for outcome in outcomes]


def lost(task: Task, request: dict[str, object], watch: Watch) -> Ended:
    task.log.write_text("half\n")
    raise LostError("the engine was lost: connection refused")
