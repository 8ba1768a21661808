"""Rules between the steps of a session, in the environment of its framework."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from container_support import OTHERS, start

from benchmarks.precision import arithmetic_of
from orchestrator.domain import ImageSpec
from orchestrator.resources import ROOT
from orchestrator.runtimes.model import Ready
from tests.until import LIMIT_S

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]

Environment = tuple[ImageSpec, Ready]


def said(environment: Environment, script: str, *arguments: str) -> Any:
    """Run a script beside this file in a framework's environment; return the JSON of its last line."""
    _, ready = environment
    variables = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [ready.handle, str(Path(__file__).with_name(script)), *arguments], env=variables | dict(ready.variables),
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.parametrize("environment", ["tensorflow", "torch", "jax"], indirect=True)
def test_training_goes_on_undisturbed_by_questions(environment: Environment) -> None:
    """Dropout draws at every step, so that a question which draws too, or leaves another mode behind, shows."""
    builder = environment[0].environment.builder
    alone = said(environment, "asked_while_training.py", builder, "alone")

    assert said(environment, "asked_while_training.py", builder, "asked") == pytest.approx(alone, rel=1e-6)
    assert alone[0] != alone[1]


@pytest.mark.parametrize(
    "environment", ["keras3", *(label for label in OTHERS if label.startswith("keras3 "))], indirect=True
)
def test_each_step_has_the_loss_of_its_own_batch(environment: Environment) -> None:
    """The logs of Keras 3 are means over all steps since the metrics were reset."""
    builder = environment[0].environment.builder
    alone = said(environment, "asked_while_training.py", builder, "alone")

    assert said(environment, "asked_while_training.py", builder, "together") == pytest.approx(alone, rel=1e-5)
    assert alone[0] != alone[1]


@pytest.mark.parametrize("environment", ["tensorflow", "torch", "jax"], indirect=True)
@pytest.mark.parametrize(("asked", "shown"), [("fp32", "fp32"), ("bf16", "bf16"), ("amp", "bf16")])
def test_products_are_in_the_precision_of_steps(environment: Environment, asked: str, shown: str) -> None:
    error = said(environment, "products.py", environment[0].environment.builder, asked)

    assert arithmetic_of(error) == shown


@pytest.mark.parametrize("environment", ["jax"], indirect=True)
def test_jax_compiles_the_first_step_alone(environment: Environment) -> None:
    """JAX compiles the first step alone and trains in the memory that it has."""
    steps = said(environment, "steps_of_jax.py")

    assert steps["train"] == {"compiled": [1, 0], "consumed": True, "unfinished": 0}
    assert steps["infer"] == {"compiled": [1, 0], "consumed": False, "unfinished": 0}


FEW_CLASSES = """
TITLE = "Few classes"
INPUT_SHAPE = (4,)
CLASSES = 2
BATCH_SIZE = 8
SAMPLES = 64
OPTIMIZER = {"name": "sgd", "learning_rate": 0.1}


def build(net):
    return net.dense(net.relu(net.dense(net.input(*INPUT_SHAPE), 5)), CLASSES)
"""


@pytest.mark.parametrize("environment", ["scikit-learn"], indirect=True)
@pytest.mark.parametrize("mode", ["infer", "parity"])
@pytest.mark.parametrize("classes", [1, 2])
def test_sklearn_refuses_models_with_few_classes(
    environment: Environment, io: Callable[..., Path], mode: str, classes: int
) -> None:
    _, ready = environment
    folder = io(builder="sklearn", framework="scikit-learn", mode=mode, model="few", model_file="few.py", batch_size=8)
    (folder / "few.py").write_text(FEW_CLASSES.replace("CLASSES = 2", f"CLASSES = {classes}"))

    ended = start("--io", str(folder), python=ready.handle, **dict(ready.variables))

    assert (ended.returncode, ended.stderr) == (3, "MLPClassifier needs three classes or more\n")


@pytest.mark.parametrize("environment", ["jax"], indirect=True)
def test_attention_of_jax_is_that_of_xla(environment: Environment) -> None:
    """Without a named implementation JAX takes XLA's: products of matrices, and no call of cuDNN for a GPU either."""
    assert said(environment, "attention_of_jax.py") == [{"is_xla": True, "products": 2, "cudnn": False}] * 3
