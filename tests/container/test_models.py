"""The vocabulary, and what is counted from it without a framework."""

import ast
import time
from typing import Any

import numpy as np
import pytest
from container_support import request_of

from benchmarks.inputs import synthetic
from benchmarks.models.convolutional import lenet
from benchmarks.models.dense import mlp
from benchmarks.models.recurrent import bilstm, lstm
from benchmarks.models.residual import resnet20
from benchmarks.vocabulary import counting, graph, layers, optimizers, weights
from benchmarks.workload import ModelWorkload, model_module
from orchestrator.catalog.model_files.models import load_models
from orchestrator.resources import BENCHMARKS


def test_lenets_shapes_are_channels_first_without_the_batch() -> None:
    shapes = [layer.output_shape for layer in layers.record(lenet.build) if layer.kind in {"conv2d", "average_pool"}]

    assert shapes == [(6, 24, 24), (6, 12, 12), (16, 10, 10), (16, 5, 5)]


def test_parameters_have_unique_names_in_canonical_order() -> None:
    names = [parameter.name for layer in layers.record(lenet.build) for parameter in layer.parameters]

    assert names[:4] == ["conv2d_1.weight", "conv2d_1.bias", "conv2d_2.weight", "conv2d_2.bias"]
    assert len(set(names)) == len(names) == 10


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda net: net.dense(net.input(1, 28, 28), 10), "flatten first"),
        (lambda net: net.conv2d(net.input(1, 4, 4), 6, 5), "cannot take the shape"),
        (lambda net: [net.relu(x := net.input(4)), net.relu(x)][1], "nothing takes what relu_1 yields"),
        (lambda net: None, "must return"),
        (lambda net: net.input(4), "must return"),
        (lambda net: net.flatten(net.input(1, 4, 4)), "must not return a flattened image"),
        (lambda net: net.batch_norm(net.relu(net.flatten(net.input(1, 4, 4)))), "batch_norm cannot follow flatten"),
        (lambda net: net.batch_norm(net.input(40, 60)), "images or flat features"),
        (lambda net: net.add(net.input(4), net.dense(net.input(4), 5)), "two values of one shape"),
        (lambda net: net.lstm(net.input(60), 8), r"lstm takes \(time, features\)"),
        (lambda net: net.max_pool(net.input(1, 4, 4), 5), "cannot take the shape"),
        (lambda net: net.conv2d(net.input(1, 4, 4), 6, 3, padding="full"), "not 'full'"),
        (lambda net: net.max_pool(net.input(1, 4, 4), 3, 2, padding=(1, 1, 1, 1)), "pads 'valid' or 'same'"),
        (lambda net: net.dense(net.input(4, kind="integer", vocabulary=9), 2), "put net.embedding before it"),
        (lambda net: net.embedding(net.input(4), 2), "embedding takes an input of whole numbers"),
        (lambda net: net.input(4, kind="integer"), "has a vocabulary"),
        (lambda net: net.input(4, vocabulary=9), "has a vocabulary"),
        (lambda net: net.relu(net.input(9, kind="sparse", density=0.1)), "relu cannot take sparse rows; put net.dense"),
        (lambda net: net.flatten(net.input(9, kind="sparse", density=0.1)), "flatten cannot take sparse rows"),
        (lambda net: net.embedding(net.input(9, kind="sparse", density=0.1), 2), "takes an input of whole numbers"),
        (lambda net: net.input(9, kind="sparse"), "has a density above 0 and up to 1"),
        (lambda net: net.input(9, kind="sparse", density=1.5), "has a density above 0 and up to 1"),
        (lambda net: net.input(9, kind="sparse", density=True), "has a density above 0 and up to 1"),
        (lambda net: net.input(9, density=0.1), "has a density above 0 and up to 1"),
        (lambda net: net.input(3, 3, kind="sparse", density=0.1), r"flat features, not the shape \(3, 3\)"),
        (lambda net: net.input(9, kind="csr"), "is 'float', 'integer' or 'sparse', not 'csr'"),
        (lambda net: net.add(net.input(4), net.input(5)), "give this one a name"),
        (lambda net: net.concatenate(net.input(4, 5), net.input(3, 5, name="other")), "in channels or features alone"),
        (lambda net: net.repeat(net.input(4, 5), 3), "repeat takes flat features"),
        (lambda net: net.softmax(net.input(1, 4, 4)), "softmax takes features"),
        (lambda net: net.time_distributed(net.input(1, 4, 4), "dense", 3), "not 'dense' on"),
        (lambda net: net.time_distributed(net.input(4, 4), "lstm", 3), "not 'lstm' on"),
        (lambda net: net.gru(net.input(60), 8), r"gru takes \(time, features\)"),
        (lambda net: net.dense(net.input(4), 2, l2=-1), "l2 is a number from 0"),
        (lambda net: net.attention(net.input(4), 2), r"attention takes \(time, features\)"),
        (lambda net: net.attention(net.input(4, 9), 2), "divides 9 features evenly by its heads, not by 2"),
        (lambda net: net.attention(net.input(4, 8), 0), "evenly by its heads, not by 0"),
        (lambda net: net.attention(net.input(4, 8), 4, 3), "divides 4 heads evenly by key_value_heads, not by 3"),
        (lambda net: net.attention(net.input(4, 6), 2, rotary=True), "a head of 3 has no pairs"),
        (lambda net: net.multiply(net.input(4), net.dense(net.input(4), 5)), "multiply takes two values of one shape"),
        (lambda net: net.layer_norm(net.input(1, 4, 4)), r"layer_norm takes features, or \(time, features\)"),
        (lambda net: net.rms_norm(net.relu(net.flatten(net.input(1, 4, 4)))), "rms_norm cannot follow flatten"),
        (lambda net: net.positions(net.input(4)), r"positions takes \(time, features\)"),
        (lambda net: net.first_step(net.input(4)), r"first_step takes \(time, features\)"),
    ],
)
def test_model_outside_the_vocabulary_is_refused(build: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        layers.record(build)


@pytest.mark.parametrize(
    ("extent", "kernel", "stride", "pads", "outputs"),
    [(32, 3, 1, (1, 1), 32), (32, 3, 2, (0, 1), 16), (33, 3, 2, (1, 1), 17), (32, 1, 2, (0, 0), 16),
     (6, 4, 3, (0, 1), 2), (5, 2, 1, (0, 1), 5)],
)  # fmt: skip
def test_same_padding_puts_an_odd_zero_last(
    extent: int, kernel: int, stride: int, pads: tuple[int, int], outputs: int
) -> None:
    """The padding that TensorFlow has for SAME: ceil(extent / stride) outputs, the extra zero after the values."""
    recorded = layers.record(
        lambda net: net.global_average_pool(net.conv2d(net.input(2, extent, 7), 3, kernel, stride, padding="same"))
    )

    assert recorded[0].settings["pads"][:2] == pads
    assert recorded[0].output_shape[1] == outputs == -(-extent // stride)


def test_dense_layer_knows_the_image_before_it() -> None:
    """A dense layer knows the image that it follows, also behind ReLU and dropout."""
    recorded = layers.record(
        lambda net: net.dense(net.dense(net.dropout(net.relu(net.flatten(net.input(3, 4, 5))), 0.5), 7), 2)
    )

    assert [layer.settings["flattened"] for layer in recorded if layer.kind == "dense"] == [(3, 4, 5), None]


def test_new_weights_start_where_their_convention_says() -> None:
    drawn = weights.initial(layers.record(lstm.build) + layers.record(resnet20.build), 0)

    assert np.array_equal(drawn["lstm_1.bias"].reshape(4, 128).mean(axis=1), [0, 1, 0, 0])
    assert drawn["lstm_1.recurrent"].shape == (128, 512)
    assert 0.09 < np.abs(drawn["lstm_1.weight"]).max() < (6 / (60 + 512)) ** 0.5
    assert set(drawn["batch_norm_1.scale"]) == {1}
    assert set(drawn["batch_norm_1.shift"]) == {0}


def test_each_direction_has_weights_of_its_own() -> None:
    recorded = layers.record(bilstm.build)
    drawn = weights.initial(recorded, 0)

    _, every, last, _ = recorded
    assert (every.output_shape, last.output_shape) == ((200, 128), (128,))
    assert [(each.name, each.shape) for each in last.parameters] == [
        ("lstm_2.weight", (128, 256)), ("lstm_2.recurrent", (64, 256)), ("lstm_2.bias", (256,)),
        ("lstm_2.backward_weight", (128, 256)), ("lstm_2.backward_recurrent", (64, 256)),
        ("lstm_2.backward_bias", (256,)),
    ]  # fmt: skip
    assert not np.array_equal(drawn["lstm_2.weight"], drawn["lstm_2.backward_weight"])
    assert np.array_equal(drawn["lstm_2.backward_bias"], drawn["lstm_2.bias"])


def test_each_projection_of_an_attention_has_weights() -> None:
    (layer,) = layers.record(lambda net: net.attention(net.input(5, 12), 6, 2))
    (bare,) = layers.record(lambda net: net.attention(net.input(5, 12), 6, bias=False))

    assert [(each.name.rpartition(".")[2], each.shape) for each in layer.parameters] == [
        ("query", (12, 12)), ("query_bias", (12,)), ("key", (12, 4)), ("key_bias", (4,)),
        ("value", (12, 4)), ("value_bias", (4,)), ("output", (12, 12)), ("output_bias", (12,)),
    ]  # fmt: skip
    assert layer.settings["size"] == 2
    assert [each.shape for each in bare.parameters] == [(12, 12)] * 4


def test_dense_layer_multiplies_each_step() -> None:
    (layer,) = layers.record(lambda net: net.dense(net.input(5, 12), 7, bias=False))

    assert layer.output_shape == (5, 7)
    assert (counting.parameters([layer]), counting.multiply_adds([layer])) == (84, 5 * 84)


def test_an_attention_counts_every_pair_of_steps() -> None:
    (layer,) = layers.record(lambda net: net.attention(net.input(5, 12), 6, 2, causal=True))

    # Four products of each step, and then the scores and the sums of 6 heads of 2 values for each pair of steps.
    assert counting.multiply_adds([layer]) == 5 * 12 * (12 + 4 + 4 + 12) + 2 * 5 * 5 * 12


@pytest.mark.parametrize("model", [lenet, resnet20])
def test_walk_over_places_finds_every_input(model: Any) -> None:
    """A walk over places gives each layer the values that it takes."""
    recorded = layers.record(model.build)
    walk, count = graph.places(recorded)

    kept = [0] + [None] * (count - 1)  # each place holds the position of its value
    for position, (layer, (taken, given)) in enumerate(zip(recorded, walk, strict=True), 1):
        assert tuple(kept[place] for place in taken) == layer.inputs
        kept[given] = position

    assert (count, graph.is_stack(recorded)) == ((1, True) if model is lenet else (2, False))


def test_a_branch_taken_late_is_kept_until_then() -> None:
    def build(net: Any) -> Any:
        x = net.relu(net.input(4))
        y = net.dense(x, 4)
        z = net.dense(y, 4)
        return net.add(net.add(net.relu(z), y), x)

    walk, count = graph.places(layers.record(build))

    assert count == 3
    assert walk[-1][0] == (walk[-2][1], walk[0][1])


def test_host_reads_literals_as_the_container_does() -> None:
    """The host reads the literals of every model as the container has them."""
    models = load_models(BENCHMARKS / "models")

    assert models["lenet"].input_shape == lenet.INPUT_SHAPE
    assert models["mlp"].samples == mlp.SAMPLES
    for path in (BENCHMARKS / "models").rglob("[!_]*.py"):
        assert ast.get_docstring(ast.parse(path.read_text()))


def test_weights_depend_on_the_seed() -> None:
    """Weights are the same for one seed and others for another."""
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


def test_rows_are_permuted_as_channels_last_flattens() -> None:
    """Rows are permuted to channels-last as a channels-last flatten lays them out."""
    image = np.arange(2 * 3 * 4.0).reshape(2, 3, 4)
    matrix = np.random.RandomState(0).uniform(size=(24, 5))

    canonical = image.reshape(-1) @ matrix
    permuted = image.transpose(1, 2, 0).reshape(-1) @ weights.channels_last_rows(matrix, (2, 3, 4))

    assert np.allclose(canonical, permuted)
    assert weights.channels_last_rows(matrix, None) is matrix


def test_data_is_seeded_and_its_batches_are_distinct() -> None:
    first, again = (list(synthetic.drawn((1, 28, 28), 10, 200, 3, seed=1)) for _ in range(2))
    other = list(synthetic.drawn((1, 28, 28), 10, 200, 1, seed=2))

    assert all(np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1]) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0][0], first[1][0])
    assert not np.array_equal(first[0][0], other[0][0])
    inputs, labels = first[0]
    assert (inputs.shape, inputs.dtype, labels.dtype) == ((200, 1, 28, 28), np.float32, np.int32)
    assert set(labels) == set(range(10))


def test_data_can_be_learned() -> None:
    """Class means estimated from some batches recognise the classes of another."""
    *known, (inputs, labels) = synthetic.drawn((1, 28, 28), 10, 200, 6, seed=0)
    seen = np.concatenate([batch[0] for batch in known])
    classes = np.concatenate([batch[1] for batch in known])
    means = np.stack([seen[classes == number].mean(axis=0) for number in range(10)])

    distance = ((inputs[:, None] - means[None]) ** 2).sum(axis=(2, 3, 4))

    assert (distance.argmin(axis=1) == labels).mean() > 0.95


def test_binary_inputs_are_balanced_and_can_be_learned() -> None:
    """Half of the binary inputs are ones, and they can be learned."""
    *known, (inputs, labels) = synthetic.binary(synthetic.drawn((40, 60), 10, 200, 6, seed=0))
    seen = np.concatenate([batch[0] for batch in known])
    classes = np.concatenate([batch[1] for batch in known])
    shares = np.stack([seen[classes == number].mean(axis=0) for number in range(10)])

    assert set(np.unique(seen)) == {0, 1}
    assert seen.mean() == pytest.approx(0.5, abs=0.01)
    assert shares.max() - shares.min() > 0.4
    assert (((inputs[:, None] - shares[None]) ** 2).sum(axis=(2, 3)).argmin(axis=1) == labels).mean() > 0.95


def test_steps_use_a_ring_and_epochs_a_dataset() -> None:
    """Steps go round a ring of batches, and epochs go through the dataset."""
    assert synthetic.batch_count(784, 200, 48_000, None) == 16
    assert synthetic.batch_count(784, 200, 48_000, 3) == 240
    assert synthetic.batch_count(784, 48_000, 48_000, None) == 1
    assert synthetic.batch_count(256 * 256 * 3, 32, 1000, None) == 10


def test_an_optimizer_gets_every_setting_spelled_out() -> None:
    assert optimizers.complete({"name": "adam", "learning_rate": 0.001}) == {
        "name": "adam", "learning_rate": 0.001, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8,
    }  # fmt: skip
    with pytest.raises(ValueError, match="no optimizer 'lamb'"):
        optimizers.complete({"name": "lamb", "learning_rate": 1})
    with pytest.raises(ValueError, match="no setting 'rho'"):
        optimizers.complete({"name": "adam", "learning_rate": 1, "rho": 0.5})


def test_data_time_ends_with_the_last_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that goes on by a second for each batch that is placed."""
    clock = {"now": 0.0}
    monkeypatch.setattr(time, "perf_counter", lambda: clock["now"])
    workload = ModelWorkload(request_of(batch_size=10), model_module("mlp"), {})

    for _ in workload.batches():
        clock["now"] += 1

    assert workload.data_s == workload.batch_count > 1
