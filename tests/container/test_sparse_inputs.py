"""Sparse rows: what is drawn, what takes them, and the steps of frameworks on them."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from test_sessions import Environment, said

from benchmarks.inputs import datasets, sparse
from benchmarks.models.dense import sparse_regression
from benchmarks.vocabulary import counting, inputs, layers, weights

STEPS = 6


def after_steps(model: Any, steps: int, batch_size: int) -> dict[str, Any]:
    """Weights by the reference after steps of SGD with momentum, each on another batch."""
    net = layers.recorded(model.build)
    rate, momentum = (model.OPTIMIZER[name] for name in ("learning_rate", "momentum"))
    held = {name: value.astype(float) for name, value in weights.initial(tuple(net.layers), 0).items()}
    velocity = dict.fromkeys(held, 0.0)
    data = datasets.named("synthetic", model, 0, inputs=net.inputs)
    for batch in data.batches(batch_size, steps):
        _, gradients = reference.loss_and_gradients(net.layers, held, *batch, model.LOSS)
        velocity = {name: momentum * velocity[name] - rate * gradients[name] for name in held}
        held = {name: value + velocity[name] for name, value in held.items()}
    return held


@pytest.mark.frameworks
def test_momentum_goes_on_without_entries(environment: Environment) -> None:
    """A weight moves on by its velocity in a step whose rows have no entry of its feature."""
    answer = said(environment, "steps_on_batches.py", environment[0].environment.builder, "sparse_rows", str(STEPS))
    if isinstance(answer, str):
        assert "lacks" in answer
        pytest.skip(answer)

    expected = after_steps(importlib.import_module("sparse_rows"), STEPS, batch_size=4)

    for name, value in expected.items():
        np.testing.assert_allclose(answer[name], value, rtol=1e-4, atol=1e-6, err_msg=name)
