"""Every other release that the catalog says was seen to run, by its answers to parity requests."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from container_support import OTHERS, SOME_OTHERS, Check, Measure
from tensors_apart import apart

from benchmarks.inputs import datasets
from benchmarks.parity import check as parity
from benchmarks.vocabulary import layers, weights
from orchestrator.domain import ImageSpec
from orchestrator.runtimes.model import Ready

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.parametrize(
        "environment",
        [pytest.param(label, marks=() if label in SOME_OTHERS else pytest.mark.slow) for label in OTHERS],
        indirect=True,
    ),
]
BATCH = 32


def expected(model: str) -> tuple[list[float], dict[str, Any], Any]:
    """Losses of three steps of plain descent, the gradients of the first, and the logits before it, in float64."""
    own = Path(__file__).with_name(f"{model}.py").exists()
    module = importlib.import_module(model if own else f"benchmarks.models.{model}")
    recorded = layers.record(module.build)
    drawn = weights.initial(recorded, 0)
    batch = next(datasets.named("synthetic", module, 0).batches(BATCH, 1))
    _, gradients = reference.loss_and_gradients(recorded, drawn, *batch)
    losses = reference.losses_of_descent(recorded, drawn, batch, 3, parity.LEARNING_RATE)
    return losses, gradients, reference.logits(recorded, drawn, batch[0])


@pytest.mark.parametrize(
    ("model", "bar"),
    [
        ("lenet", 1e-5),
        ("mlp", 1e-5),
        ("every_layer", 1e-3),
        ("sequence", 1e-5),
        ("joined", 1e-5),
        ("early_reset", 1e-5),
        ("both_ways", 1e-5),
    ],
)
def test_a_release_computes_what_the_reference_computes(check: Check, model: str, bar: float) -> None:
    answer = check(model, batch_size=BATCH)
    losses, gradients, logits = expected(model)

    if "training" in answer.lacking:
        assert apart(answer.inferred or pytest.fail("no logits"), parity.tensor(logits)) < 1e-5
        return
    assert answer.first_loss == pytest.approx(losses[0], rel=1e-5)
    assert (answer.losses["1"], answer.losses["3"]) == (
        pytest.approx(losses[1], rel=1e-5),
        pytest.approx(losses[3], rel=bar),
    )
    total = float(np.sqrt(sum(np.square(each).sum() for each in gradients.values())))
    for name, gradient in gradients.items():
        distance = np.linalg.norm(np.subtract(answer.gradients[name].sketch, parity.tensor(gradient)["sketch"]))
        assert distance < 1e-4 * max(float(np.linalg.norm(gradient)), 0.1 * total), name


def test_a_release_says_which_version_it_is(measure: Measure, environment: tuple[ImageSpec, Ready]) -> None:
    framework = environment[0].framework
    said = measure(steps=2, mode="infer").facts["framework_version"]

    assert said.startswith(framework.version)
    # PyTorch names its build too, such as `+cpu`.
    assert framework.backend is None or said.partition("+")[0].endswith(f" {framework.backend.version}")
