"""Datasets as an axis: ids, and which models they suit, by the same rule as in the container."""

from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.errors import BadRequest
from benchmarks.inputs import datasets
from orchestrator.catalog import DATASETS, ModelInfo, unsuitable


def test_a_dataset_axis_shows_in_the_id(plan: Any) -> None:
    """A dataset is an axis of the plan and shows in the id of a cell."""
    found = plan("models: [{name: lenet, dataset: [synthetic, digits], epochs: 3}]")

    assert plan.ids(found) == [
        "mxnet-1.9.1-cpu/lenet-train-b200",
        "mxnet-1.9.1-cpu/lenet-train-b200-dataset=digits",
    ]
    assert [cell.workload.dataset for cell in found.cells] == ["synthetic", "digits"]


def test_a_batch_beyond_the_dataset_is_skipped(plan: Any) -> None:
    """A batch that the dataset cannot fill is skipped with that reason."""
    found = plan("models: [{name: lenet, dataset: digits, batch_size: [200, 2000]}]")

    assert plan.skips(found) == {
        "mxnet-1.9.1-cpu/lenet-train-b2000-dataset=digits": "a batch of 2000 is more than the 1437 training samples "
        "of digits"
    }


def model(shape: tuple[int, ...], classes: int = 10) -> ModelInfo:
    return ModelInfo("m", "M", shape, classes, 32, 1000, {})


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (model((1, 28, 28)), ""),
        (model((784,), 1000), ""),
        (model((3, 7, 28)), "digits (1 x 8 x 8) does not fit m, which takes 3 x 7 x 28"),
        (model((1, 28, 28), 9), "digits has 10 classes; m distinguishes 9"),
    ],
)
def test_unsuitable_models_for_digits_get_a_reason(given: ModelInfo, reason: str) -> None:
    """A model that the digits dataset does not suit gets the reason why."""
    assert unsuitable(DATASETS["digits"], given, 32) == reason


@pytest.mark.parametrize(
    "shape", [(1, 8, 8), (3, 224, 224), (8, 8), (50, 50), (64,), (65,), (63,), (2, 8, 9), (3, 9, 7)]
)
@pytest.mark.parametrize("classes", [9, 10, 11])
def test_plan_and_container_refuse_the_same_models(shape: tuple[int, ...], classes: int) -> None:
    """The plan leaves out exactly the models that the container would refuse."""
    given = SimpleNamespace(INPUT_SHAPE=shape, CLASSES=classes, SAMPLES=1000)

    try:
        refused, samples = "", datasets.named("digits", given, 0).samples
    except BadRequest as error:
        refused, samples = str(error), DATASETS["digits"].training

    assert bool(unsuitable(DATASETS["digits"], model(shape, classes), 32)) == bool(refused)
    assert samples == DATASETS["digits"].training
