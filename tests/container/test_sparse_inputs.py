"""Sparse rows: what is drawn, what takes them, and the steps of frameworks on them."""

import importlib
from typing import Any

import numpy as np
import pytest
import reference
from test_sessions import Environment, said

from benchmarks.inputs import datasets, kinds, sparse, synthetic
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


def rows(seed: int = 0) -> synthetic.Synthetic:
    net = layers.recorded(sparse_regression.build)
    return datasets.named("synthetic", sparse_regression, seed, inputs=net.inputs)


def test_each_row_has_its_share_of_entries() -> None:
    drawn, labels = next(rows().batches(64, 1))

    assert (drawn.shape, labels.shape) == ((64, 10_000), (64,))
    assert (drawn.columns.shape, drawn.columns.dtype, drawn.values.dtype) == ((64, 100), np.int32, np.float32)
    assert (np.diff(drawn.columns, axis=1) > 0).all()
    assert (drawn.columns.min() >= 0, drawn.columns.max() < 10_000) == (True, True)


def test_every_feature_has_entries_alike() -> None:
    drawn = sparse.joined([batch for batch, _ in rows().batches(1000, 20)])

    counts = np.bincount(drawn.columns.ravel(), minlength=10_000)
    assert counts.mean() == 200
    assert counts.min() > 130
    assert counts.max() < 280


def test_rows_are_seeded_and_distinct() -> None:
    (first, _), (second, _) = rows().batches(32, 2)
    (again, _), (other, _) = next(rows().batches(32, 1)), next(rows(seed=1).batches(32, 1))

    assert np.array_equal(first.dense(), again.dense())
    assert not np.array_equal(first.columns, second.columns)
    assert not np.array_equal(first.columns, other.columns)


def test_compressed_rows_and_places_hold_the_entries() -> None:
    drawn = sparse.Rows(np.array([[1, 4], [0, 2]], np.int32), np.array([[5, 6], [7, 8]], np.float32), 5)

    values, columns, offsets = drawn.csr()
    assert drawn.dense().tolist() == [[0, 5, 0, 0, 6], [7, 0, 8, 0, 0]]
    assert (values.tolist(), columns.tolist(), offsets.tolist()) == ([5, 6, 7, 8], [1, 4, 0, 2], [0, 2, 4])
    assert drawn.places().tolist() == [[0, 1], [0, 4], [1, 0], [1, 2]]
    assert drawn[np.array([1, 0, 1])].dense()[:, 0].tolist() == [7, 0, 7]


def test_whole_dataset_stays_small() -> None:
    """As columns and values, 100 000 rows of 10 000 features are 80 MB, and every run has all of them."""
    data = rows()

    assert [data.batch_count(64, epochs) for epochs in (None, 1, 20)] == [1562, 1562, 1562]
    assert data.batch_count(1024, None) == 97
    assert sum(each.columns.nbytes + each.values.nbytes for each, _ in data.batches(64, 2)) * 781 < 81e6


def test_held_out_and_seen_rows_are_whole_sets() -> None:
    data = rows()

    assert [len(batch) for batch, _ in (data.held_out(), data.seen(64))] == [1000, 1000]
    assert np.array_equal(data.seen(64)[0].dense()[:64], next(data.batches(64, 1))[0].dense())


def test_binary_rows_have_entries_of_zero_and_one() -> None:
    net = layers.recorded(sparse_regression.build)
    drawn, _ = next(kinds.batches(net.inputs, 2, 200, 1, (0, 1), binary=True))

    assert set(np.unique(drawn.values)) == {0, 1}
    assert drawn.columns.shape == (200, 100)


def test_steps_of_all_rows_can_be_learned() -> None:
    """By the published rule, whose momentum makes a short ring of batches diverge."""
    data, held = rows(), np.zeros(10_001)
    velocity, features = np.zeros(10_001), slice(0, 10_000)
    for batch, labels in data.batches(1024, data.batch_count(1024, None)):
        error = (held[batch.columns] * batch.values).sum(axis=1) + held[-1] - labels
        gradient = np.bincount(batch.columns.ravel(), (batch.values * error[:, None]).ravel(), 10_001)
        gradient[-1] = error.sum()
        velocity = 0.9 * velocity - 0.1 * 2 * gradient / 1024
        held = held + velocity
    tested, labels = data.held_out()

    named = tested.dense() @ held[features] + held[-1] > 0.5
    assert (named == labels).mean() > 0.95


@pytest.mark.parametrize(
    ("features", "density", "entries"), [(10_000, 0.01, 100), (30, 0.05, 2), (4, 0.01, 1), (7, 1, 7)]
)
def test_only_entries_are_counted(features: int, density: float, entries: int) -> None:
    recorded = layers.record(lambda net: net.dense(net.input(features, kind="sparse", density=density), 3))

    assert inputs.entries(inputs.declared("inputs", (features,), "sparse", None, density)) == entries
    assert (counting.parameters(recorded), counting.multiply_adds(recorded)) == (3 * features + 3, 3 * entries)
