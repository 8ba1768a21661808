"""Repeats that go on with the model that an earlier repeat has trained."""

from typing import Any

import numpy as np
import pytest
from counted_sessions import request_of

from benchmarks.frameworks import noop
from benchmarks.timing import timed
from orchestrator.devices import Allocation
from orchestrator.running.requests import request_for
from tests.unit.reporting import synthetic


class Learner(type(noop.start(None))):  # type: ignore[misc]
    """A session whose loss is the size of its weights, of which each step takes a tenth."""

    def __init__(self, workload: Any) -> None:
        self._weights = [np.array(each, float) for each in workload.weights().values()]

    def step(self, _batch: Any) -> float:
        before = float(sum((each**2).sum() for each in self._weights))
        self._weights = [0.9 * each for each in self._weights]
        return before

    def loss(self, handle: float) -> float:
        return handle


def losses(repeat: int) -> tuple[float, float]:
    result = timed.execute(request_of(steps=10, min_blocks=2, epochs=None, repeat=repeat), lambda _phase: None)
    return result["loss"]["first"], result["loss"]["last"]


def test_every_repeat_begins_with_the_same_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Learner] = []

    def refitted(workload: Any) -> Learner:
        kept.append(kept[0] if kept else Learner(workload))
        return kept[0]

    monkeypatch.setattr(noop, "start", refitted)
    one, other = losses(0), losses(1)
    assert other[0] == pytest.approx(0.81 * one[1]), "wrong: the second repeat goes on where the first has ended"

    monkeypatch.setattr(noop, "start", Learner)
    assert losses(0) == losses(1) == one


def test_all_repeats_ask_for_one_seed() -> None:
    cell = synthetic.cell(synthetic.MXNET)
    seeds = [request_for(cell, repeat, "mxnet", 7, Allocation((0,)), pinned=True).seed for repeat in range(3)]

    assert seeds == [7, 7, 7]
