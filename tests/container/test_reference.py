"""The reference that frameworks are held against, held itself against differences of its own loss."""

import importlib

import numpy as np
import pytest
import reference

from benchmarks.inputs import datasets
from benchmarks.vocabulary import layers, losses, weights


@pytest.mark.parametrize(
    "model",
    [
        *("every_layer", "features", "sequence", "two_inputs", "gates", "squares", "separable", "joined"),
        *("early_reset", "both_ways", "sparse_rows", "encoded", "decoded", "written", "mixed"),
    ],
)
def test_gradients_are_those_of_the_loss(model: str) -> None:
    """Along a random direction of each tensor, by a difference of two losses."""
    module = importlib.import_module(model)
    net = layers.recorded(module.build)
    drawn = {name: value.astype(float) for name, value in weights.initial(net.layers, 0).items()}
    batch = next(datasets.named("synthetic", module, 0, inputs=net.inputs).batches(4, 1))
    random, width = np.random.RandomState(0), 1e-6

    def loss(changed: dict[str, reference.Array]) -> float:
        return reference.loss_and_gradients(
            net.layers, drawn | changed, *batch, getattr(module, "LOSS", losses.SOFTMAX_CROSS_ENTROPY)
        )[0]

    _, gradients = reference.loss_and_gradients(
        net.layers, drawn, *batch, getattr(module, "LOSS", losses.SOFTMAX_CROSS_ENTROPY)
    )
    for name, value in drawn.items():
        way = width * random.normal(size=value.shape)
        change = (loss({name: value + way}) - loss({name: value - way})) / 2
        assert change == pytest.approx(float((gradients[name] * way).sum()), rel=1e-4, abs=1e-5 * width), name
