"""Feeds: how batches reach the steps, what of it is timed, and that they are the planned batches."""

from collections.abc import Callable, Iterator
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from container_support import request_of

from benchmarks import definitions
from benchmarks.errors import BadRequest, Failure, Unsupported
from benchmarks.inputs import datasets, feeds
from benchmarks.models.convolutional import lenet
from benchmarks.timing.measure import Clock, Measurement, measure
from benchmarks.workload import ModelWorkload
from orchestrator.results.contract import Result


class Session:
    """Steps of 0.1 s, on a clock that steps and placing move."""

    short_blocks = True

    def __init__(self, *, fed: bool) -> None:
        self.now = 0.0
        self.placed: list[int] = []
        host = [(np.array([number]), None) for number in range(3)]
        self.batches: Any = feeds.Fed(host, self._place) if fed else [self._place(*batch) for batch in host]

    def _place(self, inputs: Any, _labels: Any) -> int:
        self.now += 0.3
        self.placed.append(int(inputs[0]))
        return self.placed[-1]

    def step(self, _batch: int) -> int:
        self.now += 0.1
        return 0

    def synchronise(self, _handle: int) -> None:
        """Wait for nothing."""

    def loss(self, _handle: int) -> float:
        return 1.0


def timed(session: Session, **changes: Any) -> Measurement:
    clock = Clock(lambda: session.now, lambda: session.now)
    settings = {"warmup_steps": 1, "steps": 4, "min_blocks": 2, "min_block_s": 0.0, "latency_steps": 2}
    return measure(session, request_of(**settings | changes), 3, lambda _phase: None, clock)


def test_placed_batches_cost_no_time_in_blocks() -> None:
    session = Session(fed=False)

    measurement = timed(session)

    assert session.placed == [0, 1, 2]
    assert [block["wall_s"] for block in measurement.blocks] == pytest.approx([0.2, 0.2])
    assert not any("waited_s" in block for block in [measurement.first_step, *measurement.warmup, *measurement.blocks])


def test_fed_batches_are_placed_inside_blocks() -> None:
    session = Session(fed=True)

    measurement = timed(session)

    assert session.placed == [0, 1, 2, 0, 1, 2, 0, 1], "one for each of the 8 steps"
    assert [block["wall_s"] for block in measurement.blocks] == pytest.approx([0.8, 0.8])
    assert [block["waited_s"] for block in measurement.blocks] == pytest.approx([0.6, 0.6])
    assert measurement.latency_s == pytest.approx([0.4, 0.4]), "the wait for a batch is a part of its step"


def test_epochs_of_a_feed_begin_anew() -> None:
    session = Session(fed=True)

    measurement = timed(session, steps=None, epochs=2, latency_steps=0)

    assert session.placed == [0, 0, 1, 2, 0, 1, 2]
    assert [block["waited_s"] for block in measurement.blocks] == pytest.approx([0.9, 0.9])


class Loader:
    """A loader of NumPy, which may hold the samples of each batch in another order."""

    def __init__(self, *, wrong: int | None = None) -> None:
        self.wrong, self.closed = wrong, 0

    def __call__(self, samples: feeds.Samples, _workers: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        try:
            for number, chosen in enumerate(samples.chosen()):
                taken = chosen[::-1] if number == self.wrong else chosen
                yield samples.inputs[taken], samples.labels[taken]
        finally:
            self.closed += 1

    @staticmethod
    def lay(inputs: np.ndarray) -> np.ndarray:
        return inputs

    @staticmethod
    def native(inputs: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return inputs, labels

    @staticmethod
    def place(inputs: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return inputs, labels


def workload(**changes: Any) -> ModelWorkload:
    return ModelWorkload(request_of(dataset="digits", batch_size=100, **changes), lenet, {})


@pytest.mark.parametrize("dataset", ["digits", "synthetic"])
def test_a_loader_yields_the_planned_batches(dataset: str) -> None:
    request = request_of(dataset=dataset, batch_size=100, feed="loader", steps=None, epochs=2)
    work = ModelWorkload(request, lenet, {})
    work.batch_count = 20

    loaded = feeds.batches(work, None, Loader())

    for (inputs, labels), (planned, planned_labels) in zip(islice(loaded.endless(), 20), work.batches(), strict=True):
        assert np.array_equal(inputs, planned)
        assert np.array_equal(labels, planned_labels)


@pytest.mark.parametrize("wrong", range(feeds.PROVEN_BATCHES))
def test_other_samples_than_planned_are_a_failure(wrong: int) -> None:
    loader = Loader(wrong=wrong)

    with pytest.raises(Failure, match=f"batch {wrong} of the framework's loader does not hold the planned samples"):
        feeds.batches(workload(feed="loader"), None, loader)
    assert loader.closed == 1


def test_a_loader_of_smaller_batches_is_a_failure() -> None:
    class Small(Loader):
        def __call__(self, samples: feeds.Samples, workers: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
            for inputs, labels in super().__call__(samples, workers):
                yield inputs[:16], labels[:16]

    with pytest.raises(Failure, match="batch 0 of the framework's loader does not hold the planned samples"):
        feeds.batches(workload(feed="loader"), None, Small())


def test_workers_belong_to_the_loader_alone() -> None:
    with pytest.raises(BadRequest, match="'workers' belong to the feed 'loader'"):
        request_of(feed="fed", workers=2)
    with pytest.raises(BadRequest, match="'feed' must be one of 'placed', 'fed', 'loader'"):
        request_of(feed="mailed")


def test_a_builder_without_a_feed_names_it() -> None:
    builder = SimpleNamespace(FEEDS=("fed",), WHY_NO_LOADER=": it has none", start=lambda work: work)

    assert definitions.start(builder, workload(feed="fed")).feed == "fed"
    with pytest.raises(Unsupported, match="noop lacks feed loader: it has none"):
        definitions.start(builder, workload(feed="loader"))
    with pytest.raises(Unsupported, match="noop lacks feed fed"):
        definitions.start(SimpleNamespace(start=None), workload(feed="fed"))


def test_samples_are_those_of_the_dataset() -> None:
    data = datasets.named("digits", lenet, 0)

    inputs, labels, order = data.arrays(200, 7)

    assert (len(inputs), len(labels), len(order)) == (1437, 1437, 7)
    assert len({index for chosen in order for index in chosen}) == 1400


@pytest.mark.frameworks
@pytest.mark.usefixtures("training")
@pytest.mark.parametrize("feed", [{"feed": "fed"}, {"feed": "loader"}, {"feed": "loader", "workers": 1}])
def test_every_feed_trains_on_the_same_batches(measure: Callable[..., Result], feed: dict[str, Any]) -> None:
    """Two epochs of digits end with one loss, which any other order would change."""
    settings = {"dataset": "digits", "batch_size": 32, "steps": None, "epochs": 2, "latency_steps": 2, "seed": 3}

    placed, fed = measure(**settings), _measured(measure, **settings | feed)

    assert [epoch.test_loss for epoch in fed.epochs] == pytest.approx([e.test_loss for e in placed.epochs], rel=1e-3)
    assert all(0 < (block.waited_s or 0) <= block.wall_s for block in fed.blocks)
    assert all(block.waited_s is None for block in placed.blocks)
    assert (fed.facts["feed"], "feed" in placed.facts) == (feed["feed"], False)


def _measured(measure: Callable[..., Result], **settings: Any) -> Result:
    """Measure, or skip where the framework says that it lacks the feed."""
    try:
        return measure(**settings)
    except AssertionError as error:
        if "lacks feed" in str(error) or "has no workers" in str(error):
            pytest.skip(str(error).splitlines()[0])
        raise
