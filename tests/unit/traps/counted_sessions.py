"""Sessions whose time is counted and not taken, and results of measuring them."""

from collections.abc import Callable, Iterable
from typing import Any

from benchmarks import contract
from benchmarks.timing.measure import Clock, measure
from orchestrator.results.contract import Result

BATCH = 200


class Queue:
    """A session that queues its steps, which take their seconds while they are waited for."""

    short_blocks = False
    batches: Any = (None,)
    parameters = None

    def __init__(self, step_s: Iterable[float], *, queuing_s: float = 0.0, cores: int = 1) -> None:
        self.now = 0.0
        self.cpu = 0.0
        self._step_s, self._queuing_s, self._cores = iter(step_s), queuing_s, cores
        self._pending = 0.0

    def step(self, _batch: Any) -> None:
        self._pending += next(self._step_s)
        self.pass_time(self._queuing_s, cores=1)

    def synchronise(self, _handle: Any) -> None:
        pending, self._pending = self._pending, 0.0
        self.pass_time(pending, cores=self._cores)

    def loss(self, _handle: Any) -> float:
        return 1.0

    def pass_time(self, seconds: float, cores: int = 1) -> None:
        self.now += seconds
        self.cpu += seconds * cores

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now, lambda: self.cpu)


def request_of(**changes: Any) -> contract.Request:
    """A request of three epochs without a latency pass, with changes."""
    fields = {
        "cell": "noop-1-cpu/lenet-train-b200", "repeat": 0, "framework": "noop", "builder": "noop", "model": "lenet",
        "mode": "train", "batch_size": BATCH, "steps": None, "epochs": 3, "latency_steps": 0, "telemetry": False,
    }  # fmt: skip
    return contract.request(fields | changes)


def measured(
    session: Any, steps_per_epoch: int, evaluate: Callable[[], dict[str, float]] | None = None, **changes: Any
) -> Result:
    """Measure a session by its own clock, and read the result as the host does."""
    request = request_of(**changes)
    taken = measure(session, request, steps_per_epoch, lambda _phase: None, session.clock, evaluate=evaluate)
    phases = {"import_s": 0.0, "data_s": 0.0, "build_s": 0.0, **taken.phases}
    return Result.model_validate(
        {
            "schema": 1, "measurement_version": 1, "cell": request.cell, "repeat": request.repeat,
            "started_at": "2026-01-02T03:04:05Z", "phases": phases, "first_step": taken.first_step,
            "warmup": taken.warmup, "blocks": taken.blocks, "latency_s": taken.latency_s, "loss": taken.loss,
            "epochs": taken.epochs, "model": {"parameters": 0, "multiply_adds": 0}, "memory": {"peak_rss_bytes": 1},
            "facts": {},
        }
    )  # fmt: skip
