"""A fake engine for tests, whose steps take known times on a clock that only steps and sleeps move."""

from collections.abc import Callable
from typing import Any

from benchmarks.timing import load
from benchmarks.timing.load import Answered, LoadClock


class FakeServer:
    """An engine whose step takes the seconds that a function gives for its number, from 0."""

    def __init__(self, service_s: Callable[[int], float]) -> None:
        self.now = 0.0
        self.steps = 0
        self._service_s = service_s

    def step(self) -> None:
        self.now += self._service_s(self.steps)
        self.steps += 1

    def _sleep(self, seconds: float) -> None:
        self.now += seconds

    def clock(self) -> LoadClock:
        return LoadClock(lambda: self.now, lambda: 2 * self.now, self._sleep, 0.0)


def under_load(service_s: Callable[[int], float], most: int = 1, seed: int = 0, **asked: Any) -> Answered:
    """Answer the requests of a load by a fake engine."""
    server = FakeServer(service_s)
    return load.serve(load.arrivals(asked, seed), server.step, asked["requests"], most, server.clock())


def latencies(answered: Answered) -> list[float]:
    """Return the latency of each request."""
    return [end - arrival for arrival, end in zip(answered.arrival_s, answered.end_s, strict=True)]
