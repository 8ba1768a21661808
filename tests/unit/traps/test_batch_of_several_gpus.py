"""A batch multiplied by the number of GPUs twice: the log says B·g, and B·g² is trained."""

from itertools import repeat
from types import SimpleNamespace
from typing import Any

import pytest
from counted_sessions import Queue, measured, request_of

from benchmarks.errors import BadRequest, Unsupported
from benchmarks.models.convolutional import lenet
from benchmarks.workload import ModelWorkload
from orchestrator.devices import Allocation
from orchestrator.results.contract import Request, Result
from orchestrator.results.throughput import throughput
from orchestrator.running.classify import discrepancy
from orchestrator.running.requests import request_for
from tests.unit.reporting import synthetic

ASKED, GPUS = 32, 4
PRINTED, TRAINED = ASKED * GPUS, ASKED * GPUS * GPUS


def first_batch(batch_size: int, gpus: int) -> int:
    """Count the samples of the first batch that a builder is given."""
    inputs, _ = next(ModelWorkload(request_of(batch_size=batch_size, gpus=gpus), lenet, {}).batches())
    return len(inputs)


def test_gpus_multiply_no_batch() -> None:
    assert (PRINTED, TRAINED) == (128, 512), "wrong: what the log says, and what is trained"
    cell = synthetic.cell(synthetic.MXNET, synthetic.LENET, system=synthetic.GPU)
    request = request_for(cell, 0, "mxnet", 0, Allocation((0, 1)), pinned=True)

    assert (request.gpus, request.batch_size) == (GPUS, cell.workload.batch_size)
    assert first_batch(ASKED, gpus=GPUS) == first_batch(ASKED, gpus=1) == ASKED


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
    with pytest.raises(Unsupported, match="training on 4 GPUs is not built yet"):
        ModelWorkload(request_of(gpus=GPUS), lenet, {}).one_device()
