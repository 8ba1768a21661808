"""A loader that is slow or hands out other batches, and a device that waits for it."""

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
import pytest
from counted_sessions import BATCH, Queue, measured, request_of

from benchmarks.errors import Failure
from benchmarks.inputs import feeds
from benchmarks.models.convolutional import lenet
from benchmarks.workload import ModelWorkload
from orchestrator.modes import METRICS
from orchestrator.results.throughput import throughput


class Starved(Queue):
    """Steps of 0.02 s, each of which waits 0.98 s for its batch."""

    def __init__(self) -> None:
        super().__init__(repeat(0.02))
        self.batches = feeds.Fed([(np.zeros(1), None)], self._place)

    def _place(self, _inputs: Any, _labels: Any) -> None:
        self.pass_time(0.98)


class SmallLoader:
    """A loader that makes batches of 16, whatever was planned."""

    def __call__(self, samples: feeds.Samples, _workers: int) -> Iterator[tuple[Any, Any]]:
        for chosen in samples.chosen():
            yield samples.inputs[chosen[:16]], samples.labels[chosen[:16]]

    @staticmethod
    def lay(inputs: Any) -> Any:
        return inputs


class GappyLoader(SmallLoader):
    """A loader with a row of zeros and class 0 in place of a sample that it could not read."""

    def __call__(self, samples: feeds.Samples, _workers: int) -> Iterator[tuple[Any, Any]]:
        for chosen in samples.chosen():
            inputs, labels = samples.inputs[chosen].copy(), samples.labels[chosen].copy()
            inputs[-1], labels[-1] = 0, 0
            yield inputs, labels


def test_a_busy_share_is_told_as_waiting() -> None:
    result = measured(Starved(), 10)
    waited_s = [block.waited_s or 0.0 for block in result.blocks]
    busy = [1 - waited / block.wall_s for waited, block in zip(waited_s, result.blocks, strict=True)]

    assert busy == [pytest.approx(0.02)] * 3, "wrong: read as how little of the device the framework needs"
    assert waited_s == [pytest.approx(9.8)] * 3
    assert throughput(result, epochs=True) == pytest.approx(BATCH / 1.0), "the wait is a part of the time"


def test_no_metric_is_a_utilisation() -> None:
    assert METRICS
    assert not [metric.name for metric in METRICS if "util" in metric.name]


def test_a_loader_of_smaller_batches_is_refused() -> None:
    """The formula counted 128 samples a batch, and the loader made 16."""
    printed, true = 128 * 61 / 1.0, 16 * 61 / 1.0
    assert (printed, true, printed / true) == (7808, 976, 8), "wrong by eight times"
    workload = ModelWorkload(request_of(dataset="digits", batch_size=128, feed="loader"), lenet, {})

    with pytest.raises(Failure, match="batch 0 of the framework's loader does not hold the planned samples"):
        feeds.batches(workload, None, SmallLoader())


def test_a_row_of_zeros_is_refused() -> None:
    """The formula counts it as a sample, and it is none."""
    workload = ModelWorkload(request_of(dataset="digits", batch_size=128, feed="loader"), lenet, {})
    planned, _ = next(workload.batches())
    assert all(sample.any() for sample in planned)

    with pytest.raises(Failure, match="batch 0 of the framework's loader does not hold the planned samples"):
        feeds.batches(workload, None, GappyLoader())
