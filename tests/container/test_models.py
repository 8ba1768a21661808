"""The vocabulary, and what is counted from it without a framework."""

import ast
from typing import Any

import numpy as np
import pytest

from benchmarks import counting, datasets, layers, optimizers, weights
from benchmarks.models import lenet, mlp
from orchestrator.catalog.models import load_models
from orchestrator.resources import BENCHMARKS


@pytest.mark.parametrize(
    ("model", "parameters", "multiply_adds"), [(lenet, 60_170, 231_720), (mlp, 1_177_576, 1_175_552)]
)
def test_parameters_and_multiply_adds(model: Any, parameters: int, multiply_adds: int) -> None:
    recorded = layers.record(model.build)

    assert counting.parameters(recorded) == parameters
    assert counting.multiply_adds(recorded) == multiply_adds
    assert recorded[-1].output_shape == (model.CLASSES,)


def test_lenets_shapes_are_channels_first_without_the_batch() -> None:
    shapes = [layer.output_shape for layer in layers.record(lenet.build) if layer.kind in {"conv2d", "average_pool"}]

    assert shapes == [(6, 24, 24), (6, 12, 12), (16, 10, 10), (16, 5, 5)]


def test_every_parameter_has_a_name_of_its_own_in_canonical_order() -> None:
    names = [parameter.name for layer in layers.record(lenet.build) for parameter in layer.parameters]

    assert names[:4] == ["conv2d_1.weight", "conv2d_1.bias", "conv2d_2.weight", "conv2d_2.bias"]
    assert len(set(names)) == len(names) == 10


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda net: net.dense(net.input(1, 28, 28), 10), "flatten first"),
        (lambda net: net.conv2d(net.input(1, 4, 4), 6, 5), "cannot take the shape"),
        (lambda net: [net.relu(x := net.input(4)), net.relu(x)][1], "without branches"),
        (lambda net: None, "must return"),
    ],
)
def test_a_model_that_the_vocabulary_cannot_express_is_refused(build: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        layers.record(build)


def test_the_host_reads_every_models_literals_as_the_container_has_them() -> None:
    models = load_models(BENCHMARKS / "models")

    assert models["lenet"].input_shape == lenet.INPUT_SHAPE
    assert models["mlp"].samples == mlp.SAMPLES
    for path in (BENCHMARKS / "models").glob("[!_]*.py"):
        assert ast.get_docstring(ast.parse(path.read_text()))


def test_weights_are_the_same_for_a_seed_and_others_for_another() -> None:
    recorded = layers.record(lenet.build)
    first, again, other = (weights.initial(recorded, seed) for seed in (3, 3, 4))

    assert list(first) == list(again)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["dense_1.weight"], other["dense_1.weight"])
    assert first["conv2d_2.weight"].shape == (3, 3, 6, 16)
    assert first["dense_1.weight"].dtype == np.float32


def test_weights_are_drawn_alike_under_every_numpy() -> None:
    drawn = weights.initial(layers.record(lenet.build), 0)

    assert float(drawn["conv2d_1.weight"].ravel()[0]) == pytest.approx(-0.180923, abs=1e-6)
    assert float(drawn["dense_3.weight"].ravel()[-1]) == pytest.approx(-0.180363, abs=1e-6)


def test_rows_are_permuted_to_channels_last_as_a_channels_last_flatten_lays_them() -> None:
    image = np.arange(2 * 3 * 4.0).reshape(2, 3, 4)
    matrix = np.random.RandomState(0).uniform(size=(24, 5))

    canonical = image.reshape(-1) @ matrix
    permuted = image.transpose(1, 2, 0).reshape(-1) @ weights.channels_last_rows(matrix, (2, 3, 4))

    assert np.allclose(canonical, permuted)
    assert weights.channels_last_rows(matrix, None) is matrix


def test_data_is_seeded_and_its_batches_are_distinct() -> None:
    first, again = (list(datasets.synthetic((1, 28, 28), 10, 200, 3, seed=1)) for _ in range(2))
    other = list(datasets.synthetic((1, 28, 28), 10, 200, 1, seed=2))

    assert all(np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1]) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0][0], first[1][0])
    assert not np.array_equal(first[0][0], other[0][0])
    inputs, labels = first[0]
    assert (inputs.shape, inputs.dtype, labels.dtype) == ((200, 1, 28, 28), np.float32, np.int32)
    assert set(labels) == set(range(10))


def test_data_can_be_learned() -> None:
    """Class means estimated from some batches recognise the classes of another."""
    *known, (inputs, labels) = datasets.synthetic((1, 28, 28), 10, 200, 6, seed=0)
    seen = np.concatenate([batch[0] for batch in known])
    classes = np.concatenate([batch[1] for batch in known])
    means = np.stack([seen[classes == number].mean(axis=0) for number in range(10)])

    distance = ((inputs[:, None] - means[None]) ** 2).sum(axis=(2, 3, 4))

    assert (distance.argmin(axis=1) == labels).mean() > 0.95


def test_steps_go_round_a_ring_and_epochs_through_the_dataset() -> None:
    assert datasets.batch_count(784, 200, 48_000, None) == 16
    assert datasets.batch_count(784, 200, 48_000, 3) == 240
    assert datasets.batch_count(784, 48_000, 48_000, None) == 1
    assert datasets.batch_count(256 * 256 * 3, 32, 1000, None) == 10


def test_an_optimizer_gets_every_setting_spelled_out() -> None:
    assert optimizers.complete({"name": "adam", "learning_rate": 0.001}) == {
        "name": "adam", "learning_rate": 0.001, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8,
    }  # fmt: skip
    with pytest.raises(ValueError, match="no optimizer 'lamb'"):
        optimizers.complete({"name": "lamb", "learning_rate": 1})
    with pytest.raises(ValueError, match="no setting 'rho'"):
        optimizers.complete({"name": "adam", "learning_rate": 1, "rho": 0.5})
