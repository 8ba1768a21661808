"""Calls that return before their work is done, timed without waiting for it."""

from collections.abc import Callable
from itertools import repeat
from typing import Any

import numpy as np
import pytest
from counted_sessions import BATCH, Queue, measured, request_of

from benchmarks.modes import ops
from benchmarks.operators import noop
from orchestrator.results.throughput import throughput

QUEUED_S, WORK_S = 0.001, 0.5


class Operators(Queue):
    """The same session as one of operators, which come back as NumPy has them."""

    def __init__(self) -> None:
        super().__init__(repeat(WORK_S), queuing_s=QUEUED_S)

    def call(self, _name: str) -> Callable[..., Any]:
        def multiply(one: Any, other: Any) -> Any:
            self.step(None)
            return one.dot(other)

        return multiply

    def placed(self, array: Any) -> Any:
        return array

    def fetch(self, handle: Any) -> Any:
        return handle

    def facts(self) -> dict[str, Any]:
        return {}

    def peak_device_bytes(self) -> None:
        """Tell of no device."""


def until_it_returns(session: Queue, call: Callable[[], Any]) -> float:
    """Time a call as the trap does."""
    begin = session.now
    call()
    return session.now - begin


def test_an_operator_that_is_not_awaited_looks_free(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Operators()
    multiply, matrix = session.call("gemm"), np.ones((2, 2))
    assert until_it_returns(session, lambda: multiply(matrix, matrix)) == pytest.approx(0.001), "wrong by 501 times"

    fresh = Operators()
    monkeypatch.setattr(noop, "start", lambda _settings: fresh)
    asked = request_of(
        mode="ops", model="gemm", axes={"size": 3, "seeds": 2, "tries": 4}, batch_size=1, steps=8, epochs=None
    )
    result = ops.execute(asked, lambda _phase: None, fresh.clock)

    assert result["latency_s"] == [pytest.approx(0.501)] * 8


def test_steps_that_are_not_awaited_look_free() -> None:
    session = Queue(repeat(WORK_S), queuing_s=QUEUED_S)
    queued_s = until_it_returns(session, lambda: [session.step(None) for _ in range(50)])
    assert 50 * BATCH / queued_s == pytest.approx(200_000), "wrong"

    result = measured(Queue(repeat(WORK_S), queuing_s=QUEUED_S), 50)

    assert throughput(result, epochs=True) == pytest.approx(BATCH / 0.501)


def test_the_latency_of_a_step_holds_its_work() -> None:
    result = measured(Queue(repeat(WORK_S), queuing_s=QUEUED_S), 50, latency_steps=5)

    assert result.latency_s == (pytest.approx(0.501),) * 5
