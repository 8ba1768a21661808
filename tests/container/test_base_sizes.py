"""The largest named sizes in real frameworks, with short sequences, compared with the reference in float64."""

import functools
from typing import Any

import numpy as np
import pytest
import reference
from container_support import Check, Measure, request_of
from tensors_apart import apart

from benchmarks.parity.check import tensor
from benchmarks.timing import evaluation
from benchmarks.vocabulary import counting, losses
from benchmarks.workload import ModelWorkload, model_module

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]

TRAINERS = ("jax", "keras3", "mxnet", "tensorflow", "torch")
ENGINES = ("onnxruntime", "openvino")
AXES = {"size": "base", "sequence": 16}
MODELS = pytest.mark.parametrize("model", ["encoder", "decoder"])
ROUNDED = 1e-4
"""Of the norm of logits, more than float32 rounds away in twelve layers."""


@functools.cache
def expected(model: str) -> tuple[int, float, Any]:
    """Parameters, and by the reference the loss and the logits of the fixed batch."""
    workload = ModelWorkload(request_of(model=model, batch_size=1, axes=AXES), model_module(model), {})
    inputs, labels = next(workload.batches())
    logits = reference.logits(workload.layers, workload.weights(), inputs)
    batch, name = (inputs, labels), losses.known(getattr(model_module(model), "LOSS", losses.SOFTMAX_CROSS_ENTROPY))
    loss, _ = evaluation.scores(lambda _: logits, batch, 1, workload.classes, name)
    return counting.parameters(workload.layers), loss, tensor(logits)


@MODELS
@pytest.mark.parametrize("environment", [*TRAINERS, *ENGINES], indirect=True)
def test_base_infers_what_the_reference_infers(check: Check, model: str) -> None:
    answer = check(model, batch_size=1, axes=AXES, trains=False)

    parameters, _, logits = expected(model)
    assert parameters > 100_000_000
    assert answer.parameters == answer.counted_parameters == parameters
    assert apart(answer.inferred or pytest.fail("no logits"), logits) < ROUNDED


@MODELS
@pytest.mark.parametrize("environment", TRAINERS, indirect=True)
def test_base_trains_from_the_loss_of_the_reference(measure: Measure, model: str) -> None:
    asked = {"batch_size": 1, "axes": AXES, "warmup_steps": 1, "min_blocks": 1, "min_block_s": 0.0}

    result = measure(model=model, mode="train", steps=2, latency_steps=0, **asked)

    _, loss, _ = expected(model)
    assert result.loss is not None
    assert result.loss.first == pytest.approx(loss, rel=1e-4)
    assert np.isfinite(result.loss.last)
    assert result.loss.last != result.loss.first


@pytest.mark.parametrize("environment", [*TRAINERS, *ENGINES], indirect=True)
def test_base_generates(measure: Measure) -> None:
    lengths = {"prompt": 8, "output": 4}
    asked = {"batch_size": 1, "axes": AXES, "warmup_steps": 1, "min_blocks": 1, "min_block_s": 0.0}

    result = measure(model="decoder", mode="generate", generation=lengths, steps=1, latency_steps=0, **asked)

    assert result.generation is not None
    assert len(result.generation.between_tokens_s) == 3 * len(result.generation.first_token_s)
    assert result.facts["axes"]["depth"] == 12
