"""Synthetic data of models that take whole numbers or several inputs, and losses that compare with targets."""

from pathlib import Path
from typing import Any

import gates
import numpy as np
import pytest
import squares
from container_support import request_of

from benchmarks.errors import BadRequest
from benchmarks.inputs import datasets
from benchmarks.timing import evaluation
from benchmarks.vocabulary import layers, losses, optimizers
from benchmarks.workload import ModelWorkload, model_module


def drawn(count: int, seed: int = 0) -> list[Any]:
    """Return batches of the two inputs of `gates`."""
    data = datasets.named("synthetic", gates, seed, inputs=layers.recorded(gates.build).inputs)
    return list(data.batches(200, count))


def test_every_input_is_filled_below_its_vocabulary() -> None:
    (story, question), labels = drawn(1)[0]

    assert (story.shape, question.shape, labels.shape) == ((200, 9), (200, 4), (200,))
    assert (story.dtype, question.dtype, labels.dtype) == (np.int32, np.int32, np.int32)
    assert set(story.ravel()) | set(question.ravel()) == set(range(11))
    assert set(labels) == set(range(5))


def test_whole_numbers_are_seeded_and_distinct() -> None:
    first, again, other = drawn(2), drawn(2), drawn(1, seed=1)

    assert all(np.array_equal(a, b) for a, b in zip(first[1][0], again[1][0], strict=True))
    assert not np.array_equal(first[0][0][0], first[1][0][0])
    assert not np.array_equal(first[0][0][0], other[0][0][0])


def test_whole_numbers_can_be_learned() -> None:
    """The most frequent number of each class and place recognises the classes of another batch."""
    *known, ((story, _), labels) = drawn(6)
    seen, classes = (np.concatenate(parts) for parts in zip(*[(batch[0][0], batch[1]) for batch in known], strict=True))
    centres = np.stack(
        [[np.bincount(place, minlength=11).argmax() for place in seen[classes == each].T] for each in range(5)]
    )

    assert ((story[:, None] == centres).sum(axis=2).argmax(axis=1) == labels).mean() > 0.8


def test_held_out_and_seen_samples_have_every_input() -> None:
    data = datasets.named("synthetic", gates, 0, inputs=layers.recorded(gates.build).inputs)

    for inputs, labels in (data.held_out(), data.seen(32)):
        assert [each.shape for each in inputs] == [(1000, 9), (1000, 4)]
        assert labels.shape == (1000,)
    assert np.array_equal(data.seen(32)[0][0][:32], next(data.batches(32, 1))[0][0])


def test_images_do_not_fill_whole_numbers() -> None:
    with pytest.raises(BadRequest, match=r"digits holds images; this model takes story \(integer, 9\) and question"):
        datasets.named("digits", gates, 0, inputs=layers.recorded(gates.build).inputs)


def test_targets_of_squares_are_one_for_the_class() -> None:
    labels = np.array([2, 0], np.int32)

    assert losses.targets("mean_squared_error", labels, 3).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert losses.targets("mean_squared_error", labels // 2, 1).tolist() == [[1], [0]]
    assert losses.targets("softmax_cross_entropy", labels, 3) is labels


def test_evaluation_scores_squares_and_their_class() -> None:
    outputs = np.array([[0.0, 1.0], [1.0, 1.5], [2.0, 0.0], [0.0, 0.0]])
    labels = np.array([1, 0, 0, 0], np.int32)

    loss, accuracy = evaluation.scores(lambda _: outputs, (outputs, labels), 4, 2, "mean_squared_error") or (0, 0)

    assert (loss, accuracy) == (pytest.approx((0 + 2.25 + 1 + 1) / 8), 0.75)
    one = losses.scores("mean_squared_error", np.array([[0.6], [0.4]]), np.array([1, 1]))
    assert one == (pytest.approx(0.16 + 0.36), 1)


def test_batches_of_a_workload_hold_targets(tmp_path: Path) -> None:
    path = tmp_path / "squares.py"
    path.write_text(Path(__file__).with_name("squares.py").read_text())
    workload = ModelWorkload(request_of(model="squares", batch_size=8), model_module("squares", str(path)), {})

    inputs, targets = next(iter(workload.batches()))

    assert (inputs.shape, targets.shape, targets.dtype) == ((8, 2, 9, 8), (8, 4), np.float32)
    assert set(targets.sum(axis=1)) == {1}


def test_facts_name_a_loss_with_terms() -> None:
    recorded = layers.record(squares.build)

    assert losses.fact("mean_squared_error", recorded) == "mean_squared_error + L2 terms of 2 weights"
    assert losses.fact("softmax_cross_entropy", layers.record(gates.build)) is None
    assert losses.l2_terms(recorded) == [("conv2d_1.weight", 0.01), ("dense_1.weight", 0.001)]


def test_decay_of_zero_is_no_setting() -> None:
    plain = optimizers.complete({"name": "sgd", "learning_rate": 0.1})

    assert optimizers.complete({"name": "sgd", "learning_rate": 0.1, "decay": 0.0}) == plain
    assert optimizers.complete({"name": "sgd", "learning_rate": 0.1, "decay": 0.5}) == plain | {"decay": 0.5}
