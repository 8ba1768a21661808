"""A batch multiplied by the number of GPUs twice: the log says B·g, and B·g² is trained."""

from collections.abc import Iterator
from itertools import islice, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from counted_sessions import Queue, measured, request_of

from benchmarks.contract import Request as Asked
from benchmarks.errors import BadRequest, Failure, Unsupported
from benchmarks.frameworks import noop
from benchmarks.inputs import feeds
from benchmarks.models.convolutional import lenet
from benchmarks.parity import check
from benchmarks.timing import timed
from benchmarks.workload import ModelWorkload, model_module
from orchestrator.analysis.parity.sides import ParitySide
from orchestrator.analysis.parity.work import PairParity, WorkParity, pair
from orchestrator.devices import Allocation
from orchestrator.domain import Framework, Mode
from orchestrator.results.contract import Request, Result
from orchestrator.results.parity.contract import ParityResult
from orchestrator.results.throughput import throughput
from orchestrator.running.classify import discrepancy
from orchestrator.running.requests import request_for
from tests.unit.reporting import synthetic

ASKED, GPUS = 32, 4
PRINTED, TRAINED = ASKED * GPUS, ASKED * GPUS * GPUS
SAMPLE_S = 0.001
"""The time that a fake GPU takes for a sample."""
SMALL = """\
TITLE, INPUT_SHAPE, CLASSES, BATCH_SIZE, SAMPLES = "One layer", (8,), 4, 32, 4096
OPTIMIZER = {"name": "sgd", "learning_rate": 0.1}


def build(net):
    return net.dense(net.input(*INPUT_SHAPE), CLASSES)
"""


class OnFakeGpus(Queue):
    """A dense layer in NumPy that trains batches of so many samples. Its GPUs are fake, and share each batch."""

    parameters: Any

    def __init__(self, workload: ModelWorkload, samples: int) -> None:
        super().__init__(repeat(SAMPLE_S * samples / workload.gpus))
        self.batches = list(workload.data.batches(samples, workload.batch_count))
        self.trained: list[int] = []
        self._rate = workload.optimizer["learning_rate"] if workload.training else 0.0
        self._weights = {name: np.array(value, float) for name, value in workload.weights().items()}
        self.parameters = sum(value.size for value in self._weights.values())

    def predict(self, inputs: Any) -> Any:
        return inputs @ self._weights["dense_1.weight"] + self._weights["dense_1.bias"]

    def step(self, batch: Any) -> Any:
        super().step(batch)
        inputs, labels = batch
        logits, rows = self.predict(inputs), np.arange(len(labels))
        shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        loss = -np.log(shares[rows, labels]).mean()
        shares[rows, labels] -= 1
        self._weights["dense_1.weight"] -= self._rate * inputs.T @ shares / len(labels)
        self._weights["dense_1.bias"] -= self._rate * shares.mean(axis=0)
        self.trained.append(len(labels))
        return loss, logits

    def loss(self, handle: Any) -> float:
        return float(handle[0])

    def fetch(self, handle: Any) -> Any:
        return handle[1]

    def weights(self) -> dict[str, Any]:
        return {name: value.copy() for name, value in self._weights.items()}

    def native_layers(self) -> list[tuple[str, tuple[int, ...], int]]:
        return [("dense_1", self._weights["dense_1.bias"].shape, self.parameters)]

    def facts(self) -> dict[str, Any]:
        return {"device": "fake"}

    def peak_device_bytes(self) -> None:
        """Tell of no memory."""


def as_asked(workload: ModelWorkload) -> OnFakeGpus:
    """Start a session that trains the batch of the request."""
    return OnFakeGpus(workload, workload.batch_size)


def multiplied(workload: ModelWorkload) -> OnFakeGpus:
    """Start a session that multiplies the batch of all GPUs by their number, as the script did."""
    return OnFakeGpus(workload, workload.batch_size * workload.gpus)


class MultiplyingLoader:
    """A loader that puts as many batches into one as there are fake GPUs."""

    def __call__(self, samples: feeds.Samples, _workers: int) -> Iterator[tuple[Any, Any]]:
        planned = samples.chosen()
        while True:
            chosen = [sample for batch in islice(planned, GPUS) for sample in batch]
            yield samples.inputs[chosen], samples.labels[chosen]

    @staticmethod
    def lay(inputs: Any) -> Any:
        return inputs


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """A request of the small model on four GPUs, with the batch that the log says."""
    (tmp_path / "small.py").write_text(SMALL)
    request = request_of(model="small", batch_size=PRINTED, gpus=GPUS)
    return request._replace(model_file=str(tmp_path / "small.py"))


def workload_of(request: Asked) -> ModelWorkload:
    return ModelWorkload(request, model_module(request.model, request.model_file), {})


def judged(one: ParityResult, other: ParityResult) -> PairParity:
    """Compare the work of two builders by their answers to a parity request."""
    named = zip(("as asked", "multiplied"), (one, other), strict=True)
    sides = [ParitySide(label, Framework("fake", "1"), (), each, batch_size=PRINTED) for label, each in named]
    return pair(*sides, Mode.TRAIN)


def first_batch(batch_size: int, gpus: int) -> int:
    """Count the samples of the first batch that a builder is given."""
    inputs, _ = next(ModelWorkload(request_of(batch_size=batch_size, gpus=gpus), lenet, {}).batches())
    return len(inputs)


def test_gpus_multiply_the_batch_once() -> None:
    """The host asks for the batch of all GPUs, and a builder is given just that."""
    cell = synthetic.cell(synthetic.MXNET, synthetic.LENET, system=synthetic.GPU)
    request = request_for(cell, 0, "mxnet", 0, Allocation((0, 1)), pinned=True)

    assert (request.gpus, request.batch_size) == (GPUS, cell.workload.batch_size * GPUS)
    assert first_batch(ASKED, gpus=GPUS) == first_batch(ASKED, gpus=1) == ASKED


def test_a_multiplied_batch_hides_the_gpus(asked: Asked) -> None:
    """The rate is right for the batch in the log alone; what was trained shows in none of the figures."""
    right, wrong = as_asked(workload_of(asked)), multiplied(workload_of(asked))
    results = [measured(each, 10, batch_size=PRINTED) for each in (right, wrong)]
    ours, printed = (throughput(each, epochs=True) for each in results)

    assert (set(right.trained), set(wrong.trained)) == ({PRINTED}, {TRAINED})
    assert printed == pytest.approx(1 / SAMPLE_S), "wrong: four GPUs are as fast as one"
    assert ours == pytest.approx(GPUS / SAMPLE_S)


def test_logits_of_a_multiplied_batch_are_refused(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    infer = asked._replace(mode="infer", epochs=None, steps=10, min_block_s=0.0)
    monkeypatch.setattr(noop, "start", as_asked)
    assert timed.execute(infer, lambda _phase: None)["blocks"][0]["samples"] == PRINTED

    monkeypatch.setattr(noop, "start", multiplied)
    with pytest.raises(Failure, match=r"the last logits have the shape \(512, 4\), not \(128, 4\)"):
        timed.execute(infer, lambda _phase: None)


def test_training_a_multiplied_batch_is_not_comparable(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Training yields one loss of any batch: parity compares it, with the gradients and the weights after steps."""
    answers = []
    for start in (as_asked, multiplied):
        monkeypatch.setattr(noop, "start", start)
        answer = check.check(asked._replace(mode="parity"), lambda _phase: None)
        answers.append(ParityResult.model_validate(answer))
    right, wrong = answers

    assert judged(right, right).work is WorkParity.SAME
    found = judged(right, wrong)
    assert found.work is WorkParity.NOT_COMPARABLE
    assert found.reason.startswith("first loss "), found.reason


def test_a_loader_of_multiplied_batches_is_refused() -> None:
    asked = request_of(dataset="digits", batch_size=PRINTED, gpus=GPUS, feed="loader")
    workload = ModelWorkload(asked, lenet, {})
    loaded, _ = next(MultiplyingLoader()(feeds.Samples(*workload.arrays()), 0))
    assert len(loaded) == TRAINED, "wrong: the log says 128"

    with pytest.raises(Failure, match="batch 0 of the framework's loader does not hold the planned samples"):
        feeds.batches(workload, None, MultiplyingLoader())


def test_the_rate_counts_the_samples_asked_for() -> None:
    result = measured(Queue(repeat(0.5)), 10, batch_size=ASKED)

    assert PRINTED / 0.5 == 256, "wrong: the rate by the batch in the log"
    assert throughput(result, epochs=True) == pytest.approx(ASKED / 0.5)


def test_a_result_that_counts_another_batch_is_refused() -> None:
    result = measured(Queue(repeat(0.5)), 10, batch_size=ASKED)
    asked = Request.model_validate(request_of(batch_size=ASKED)._asdict())
    assert discrepancy(asked, result) is None

    blocks = tuple(block.model_copy(update={"samples": PRINTED * block.steps}) for block in result.blocks)
    counted: Result = result.model_copy(update={"blocks": blocks})

    assert discrepancy(asked, counted) == "result.json counts 1280 samples in 10 steps of 32"


def test_a_batch_beyond_the_samples_is_refused() -> None:
    few: Any = SimpleNamespace(**{**vars(lenet), "SAMPLES": 100})

    with pytest.raises(BadRequest, match="a batch of 256 is more than the 100 samples there are"):
        ModelWorkload(request_of(batch_size=256), few, {})


def test_several_gpus_are_refused_by_name() -> None:
    with pytest.raises(Unsupported, match="does training on one device; 4 GPUs are asked for"):
        ModelWorkload(request_of(gpus=GPUS), lenet, {}).one_device()
