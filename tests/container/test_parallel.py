"""Training on several devices: CPU devices stand in for GPUs, and compute what one device does at the same batch."""

import ast
import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from container_support import Check, Measure, document, start

from benchmarks import parallel
from benchmarks.errors import NoUsableDevice
from benchmarks.inputs import datasets
from benchmarks.parity import check as parity
from benchmarks.vocabulary import layers, weights
from orchestrator.analysis.parity import optimizer
from orchestrator.analysis.parity.sides import ParitySide
from orchestrator.domain import Framework, ImageSpec
from orchestrator.resources import BENCHMARKS
from orchestrator.runtimes.model import Ready

HERE = Path(__file__).parent


def trains_on_several(builder: str) -> bool:
    """Read from a builder's file, which cannot be imported here, if it trains on several devices."""
    tree = ast.parse((BENCHMARKS / "frameworks" / f"{builder}.py").read_text(encoding="utf-8"))
    return any(isinstance(line, ast.Assign) and ast.unparse(line) == "SEVERAL_DEVICES = True" for line in tree.body)


@pytest.fixture
def builder(environment: tuple[ImageSpec, Ready]) -> str:
    """The builder of an environment, which trains on several devices."""
    name = environment[0].environment.builder
    if not trains_on_several(name):
        pytest.skip(f"{name} trains on one device")
    return name


def expected(model: str, batch_size: int, parts: int) -> Any:
    """Losses of ten steps and the first gradients, by one device in float64 over the parts of the batch."""
    found = importlib.import_module(model if (HERE / f"{model}.py").exists() else f"benchmarks.models.{model}")
    net = layers.recorded(found.build)
    recorded = tuple(net.layers)
    drawn = weights.initial(recorded, 0)
    batch = next(datasets.named("synthetic", found, 0, inputs=net.inputs).batches(batch_size, 1))
    losses = reference.losses_of_descent(recorded, drawn, batch, 10, parity.LEARNING_RATE, parts=parts)
    return losses, reference.loss_and_gradients_of_parts(recorded, drawn, batch, parts)[1]


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("model", "batch_size", "devices", "bars"),
    [
        ("lenet", 128, 2, {"1": 1e-5, "3": 1e-5, "10": 1e-4}),
        pytest.param("lstm", 32, 4, {"1": 1e-5, "3": 1e-5, "10": 1e-4}, marks=pytest.mark.slow_in("torch")),
        ("every_layer", 128, 2, {"1": 1e-5, "3": 1e-3, "10": 1e-2}),
    ],
)
def test_several_devices_compute_what_one_does(  # noqa: PLR0913, PLR0917 -- two fixtures and a case
    check: Check, builder: str, model: str, batch_size: int, devices: int, bars: dict[str, float]
) -> None:
    """Losses and gradients are those of one device at the batch of all; batch norm is that of each part."""
    answer = check(model, batch_size=batch_size, cpu_devices=devices)
    losses, gradients = expected(model, batch_size, devices)

    assert answer.first_loss == pytest.approx(losses[0], rel=1e-5), builder
    for steps, bar in bars.items():
        assert answer.losses[steps] == pytest.approx(losses[int(steps)], rel=bar), steps
    small = {name: parity.tensor(value) for name, value in gradients.items()}
    total = float(np.sqrt(sum(each["norm"] ** 2 for each in small.values())))
    for name, each in small.items():
        apart = float(np.linalg.norm(np.subtract(answer.gradients[name].sketch, each["sketch"])))
        assert apart < max(1e-4 * each["norm"], 1e-5 * total), name
    if model != "every_layer":
        assert answer.optimizer is not None
        (rule,) = optimizer._from_rule(ParitySide("here", Framework("here", "1"), (), answer), answer.optimizer)
        assert rule.value < rule.bar / 2, rule.text
    facts = answer.facts["parallel"]
    assert (facts["devices"], len(facts["device_names"])) == (devices, devices)
    assert (facts["global_batch"], facts["device_batch"]) == (batch_size, batch_size // devices)
    assert facts["gradients"].startswith("mean")
    assert facts.get("batch_norm") == ("per device" if model == "every_layer" else None)


@pytest.mark.frameworks
@pytest.mark.slow
@pytest.mark.parametrize("environment", ["tensorflow 2.1.0"], indirect=True)
def test_tensorflow_2_1_trains_on_one_device(environment: tuple[ImageSpec, Ready], io: Callable[..., Path]) -> None:
    folder = io(framework="tensorflow", builder="tensorflow", model="mlp", cpu_devices=2)
    ended = start("--io", str(folder), python=environment[1].handle)

    assert ended.returncode == 3, ended.stderr
    assert "several devices need TensorFlow 2.2 or newer; here is 2.1.0" in ended.stderr


def test_fewer_devices_are_no_device() -> None:
    """JAX and TensorFlow would train on those that they show."""
    parallel.require_devices(2, 2)
    with pytest.raises(NoUsableDevice, match="shows 1 devices, not the 2 that are to train"):
        parallel.require_devices(1, 2)


@pytest.mark.frameworks
def test_batch_norm_per_device_is_another_work(check: Check, builder: str) -> None:
    """Batch norm over parts is apart from that over one batch by far more than the bars."""
    one, several = check("every_layer"), check("every_layer", cpu_devices=2)

    assert abs(one.first_loss - several.first_loss) > 1e-4 * one.first_loss, builder


@pytest.mark.frameworks
def test_the_harness_counts_the_batch_once(measure: Measure, builder: str) -> None:
    # One thread: with two, contexts of the CPU wait for each other for ever in MXNet 1.6.
    result = measure(model="mlp", batch_size=64, cpu_devices=2, threads=1)

    assert {block.samples // block.steps for block in result.blocks} == {64}
    assert result.facts["parallel"]["device_batch"] == 32, builder
    assert result.loss is not None
    assert result.loss.last < result.loss.first


@pytest.mark.frameworks
def test_epochs_evaluate_on_several_devices(measure: Measure, builder: str) -> None:
    result = measure(model="mlp", dataset="digits", batch_size=100, cpu_devices=2, steps=None, epochs=3)

    assert [evaluation.test_accuracy for evaluation in result.epochs][-1] > 0.5, builder


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"batch_size": 100, "cpu_devices": 3}, "a batch of 100 is not divided evenly by 3 devices"),
        ({"cpu_devices": 2, "gpus": 2}, "bad request: 'cpu_devices' stand in for GPUs, and there are 'gpus'"),
        ({"cpu_devices": 0}, "bad request: 'cpu_devices' must be a whole number of at least 1"),
    ],
)
def test_a_wrong_share_is_refused(tmp_path: Path, changes: dict[str, int], reason: str) -> None:
    (tmp_path / "request.json").write_text(json.dumps(document(**changes)))
    ended = start("--io", str(tmp_path))

    assert (ended.returncode, ended.stderr.rstrip().rpartition("\n")[2]) == (5, reason)
