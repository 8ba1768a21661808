"""Real frameworks, installed by the catalog's own pins, train and infer the same model from the same weights."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import one_layer
import pytest
from container_support import Measure, start, trains

from benchmarks.inputs import synthetic
from benchmarks.models.convolutional import lenet
from benchmarks.vocabulary import layers, optimizers, weights
from orchestrator.catalog import Catalog
from orchestrator.catalog.versions import mismatches
from orchestrator.domain import ImageSpec
from orchestrator.resources import ROOT
from orchestrator.runtimes.model import Ready
from tests.until import LIMIT_S

pytestmark = pytest.mark.frameworks


def first_loss_of_lenet(seed: int) -> float:
    """Mean softmax cross-entropy of the first batch before any update, in float64 and NumPy alone."""
    drawn = {name: value.astype(float) for name, value in weights.initial(layers.record(lenet.build), seed).items()}
    x, labels = next(synthetic.drawn(lenet.INPUT_SHAPE, lenet.CLASSES, 200, 1, seed))
    for number in (1, 2):
        kernel = drawn[f"conv2d_{number}.weight"]
        windows = np.lib.stride_tricks.sliding_window_view(x.astype(float), kernel.shape[:2], axis=(2, 3))
        x = np.einsum("ncyxij,ijcf->nfyx", windows, kernel) + drawn[f"conv2d_{number}.bias"][:, None, None]
        x = np.maximum(x, 0)
        n, channels, height, width = x.shape
        x = x.reshape(n, channels, height // 2, 2, width // 2, 2).mean(axis=(3, 5))
    x = x.reshape(len(x), -1)
    for number in (1, 2, 3):
        x = x @ drawn[f"dense_{number}.weight"] + drawn[f"dense_{number}.bias"]
        x = np.maximum(x, 0) if number < 3 else x
    logarithms = np.log(np.exp(x - x.max(axis=1, keepdims=True)).sum(axis=1)) + x.max(axis=1)
    return float((logarithms - x[np.arange(len(x)), labels]).mean())


def test_training_starts_from_the_reference_loss_and_learns(measure: Measure) -> None:
    result = measure(seed=5)

    assert result.loss is not None
    assert result.loss.first == pytest.approx(first_loss_of_lenet(5), rel=1e-5)
    assert result.loss.last < 0.9 * result.loss.first


def test_another_seed_gives_another_start(measure: Measure) -> None:
    result = measure(seed=6, steps=2)

    assert result.loss is not None
    assert result.loss.first == pytest.approx(first_loss_of_lenet(6), rel=1e-5)


def test_a_model_with_dropout_learns(measure: Measure) -> None:
    result = measure(model="mlp", batch_size=32, steps=150)

    assert result.loss is not None
    assert result.loss.last < result.loss.first - 0.2


def test_dropout_is_seeded(measure: Measure) -> None:
    losses = []
    for seed in (3, 3, 4):
        result = measure(model="mlp", batch_size=32, steps=2, seed=seed)
        assert result.loss is not None
        losses.append(result.loss.first)

    assert losses[0] == pytest.approx(losses[1], rel=1e-6)
    assert losses[0] != pytest.approx(losses[2], rel=1e-6)


def losses_around_one_step(optimizer: dict[str, Any]) -> tuple[float, float]:
    """Losses of one batch before and after one step on it, by the rules of `optimizers`, in float64 and NumPy."""
    x, labels = next(synthetic.drawn(one_layer.INPUT_SHAPE, one_layer.CLASSES, one_layer.BATCH_SIZE, 1, 0))
    drawn = weights.initial(layers.record(one_layer.build), 0)
    w, b = (drawn[f"dense_1.{part}"].astype(float) for part in ("weight", "bias"))
    settings = optimizers.complete(optimizer)

    def update(gradient: Any) -> Any:
        rate, epsilon = settings["learning_rate"], settings["epsilon"]
        if settings["name"] == "rmsprop":
            return rate * gradient / np.sqrt((1 - settings["rho"]) * gradient**2 + epsilon**2)
        return rate * gradient / (np.abs(gradient) + epsilon)  # after one step, m' is g and v' its square

    def shares_and_loss() -> tuple[Any, float]:
        logits = x @ w + b
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        return shares, float(-np.log(shares[np.arange(len(x)), labels]).mean())

    shares, before = shares_and_loss()
    error = (shares - np.eye(one_layer.CLASSES)[labels]) / len(x)
    w, b = w - update(x.T @ error), b - update(error.sum(axis=0))
    return before, shares_and_loss()[1]


@pytest.mark.usefixtures("training")
@pytest.mark.parametrize("name", ["adam", "rmsprop"])
def test_one_step_of_an_optimizer_follows_the_rule(environment: tuple[ImageSpec, Ready], name: str) -> None:
    """The bar is 0.1 % of what the step gains; with epsilon unsquared inside RMSprop's root it is far off."""
    image, ready = environment
    optimizer = {"name": name, "learning_rate": 0.001}
    script = Path(__file__).with_name("one_step.py")
    variables = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [ready.handle, str(script), image.environment.builder, json.dumps(optimizer)],
        env=variables | dict(ready.variables), capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip

    assert ended.returncode == 0, ended.stderr
    before, after = json.loads(ended.stdout.splitlines()[-1])
    expected_before, expected_after = losses_around_one_step(optimizer)
    assert before == pytest.approx(expected_before, rel=1e-5)
    assert before - after == pytest.approx(expected_before - expected_after, rel=1e-3)


@pytest.mark.parametrize("model", ["lenet", "mlp"])
def test_inference_is_measured_without_a_loss(measure: Measure, model: str) -> None:
    result = measure(mode="infer", model=model, batch_size=32)

    assert result.loss is None
    assert len(result.latency_s) == 5


def test_framework_reports_its_version_and_threads(measure: Measure, environment: tuple[ImageSpec, Ready]) -> None:
    """The framework reports its version and the threads in force."""
    image, _ = environment

    facts = measure(steps=2, mode="infer", model="mlp", batch_size=32).facts

    assert facts["threads"] == 1
    assert facts["precision"] == "float32"
    assert facts["framework_version"].startswith(image.framework.version)
    assert mismatches(image.environment.expected_versions, facts["versions"]) == ()


@pytest.mark.usefixtures("training")
def test_several_gpus_that_are_missing_are_named(environment: tuple[ImageSpec, Ready], io: Callable[..., Path]) -> None:
    """A builder that trains on several devices says that it has no GPU; the others that they train on one."""
    image, ready = environment
    builder = ROOT / "benchmarks" / "frameworks" / f"{image.environment.builder}.py"
    trains_on_several = "SEVERAL_DEVICES = True" in builder.read_text(encoding="utf-8")

    folder = io(builder=image.environment.builder, gpus=2)
    ended = start("--io", str(folder), python=ready.handle, **dict(ready.variables))

    assert ended.returncode == (8 if trains_on_several else 3), ended.stderr
    last = ended.stderr.rstrip().splitlines()[-1]
    assert ("no usable GPU" if trains_on_several else "one device") in last
    assert "Traceback" not in last


def test_options_that_do_not_exist_are_unsupported(
    environment: tuple[ImageSpec, Ready], io: Callable[..., Path]
) -> None:
    image, ready = environment
    folder = io(builder=image.environment.builder, options={"turbo": True})

    assert start("--io", str(folder), python=ready.handle, **dict(ready.variables)).returncode == 3


def test_the_catalogs_options_are_those_the_builder_has(
    environment: tuple[ImageSpec, Ready], measure: Measure, io: Callable[..., Path], catalog: Catalog
) -> None:
    image, ready = environment
    options = catalog.options(image.framework.name)
    defaults = {name: option.default for name, option in options.items()}
    usual = "train" if trains(image.environment.builder) else "infer"

    assert measure(steps=2, mode=usual).facts["options"] == defaults
    for name, option in options.items():
        for value in option.values:
            mode = usual if (name, value) not in IN_INFERENCE else "infer"
            if name == "compile" and value and not shutil.which("g++"):
                continue  # `test_options` says what happens then
            if (name, value) in _refused(image):
                folder = io(builder=image.environment.builder, mode=mode, options={name: value})
                assert start("--io", str(folder), python=ready.handle, **dict(ready.variables)).returncode == 3
                continue
            result = measure(options={name: value}, steps=2, mode=mode)
            exact = name != "precision" or value == option.default
            assert result.facts["options"] == defaults | {name: value}
            if mode == "infer":
                continue
            assert result.loss is not None
            assert result.loss.first == pytest.approx(first_loss_of_lenet(0), rel=1e-5 if exact else 1e-2)


IN_INFERENCE = {("quantisation", "dynamic"), ("quantisation", "static")}
"""Values that a framework has in inference alone."""


def _refused(image: ImageSpec) -> set[tuple[str, str]]:
    """Values that a matrix may ask every framework for, and that this release cannot do."""
    flags = Path("/proc/cpuinfo").read_text()
    has_avx512 = " avx512bw " in flags
    if image.environment.builder == "openvino":
        return set() if " avx512_bf16 " in flags else {("precision", "amp")}
    on_gpus_alone = {("precision", "tf32")}
    if image.framework.name in {"tensorflow", "keras3"} and not has_avx512:
        return {("layout", "channels_first"), *on_gpus_alone}
    if image.environment.builder != "mxnet":
        return on_gpus_alone
    always = {*on_gpus_alone, ("layout", "channels_last"), ("precision", "bf16")}
    return always if image.framework.version == "1.9.1" and has_avx512 else {*always, ("precision", "amp")}
