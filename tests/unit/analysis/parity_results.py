"""Parity results made by hand: a small model, what frameworks that agree say of it, and ways not to agree."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.analysis.parity.sides import ParitySide
from orchestrator.domain import Framework, Options
from orchestrator.results.parity.contract import (
    Form,
    NativeLayer,
    OptimizerSteps,
    ParityResult,
    Sample,
    Stepped,
    Tensor,
)

TORCH = Framework("torch", "2.13.0", python="3.11")
MXNET = Framework("mxnet", "1.9.1", python="3.11")
LAYERS = (
    NativeLayer(name="conv2d_1", shape=(8, 24, 24), parameters=208),
    NativeLayer(name="max_pool_1", shape=(8, 12, 12), parameters=0),
    NativeLayer(name="dense_1", shape=(10,), parameters=11_530),
)
SGD = {"name": "sgd", "learning_rate": 0.1, "momentum": 0.9}
SHARES = (1.0, 0.5)
COMPARED = ["weights", "first_loss", "gradients", "losses", "optimizer", "optimizer", "optimizer"]
"""The measures by which two complete answers are compared, in order."""
RELU = NativeLayer(name="relu_1", shape=(8, 24, 24), parameters=0)


def tensor(*values: float) -> Tensor:
    return Tensor(norm=math.sqrt(sum(value * value for value in values)), sketch=values)


WEIGHTS = {"conv2d_1.weight": tensor(0.1, 0.2), "dense_1.weight": tensor(0.3, -0.1, 0.7)}
GRADIENTS = {"conv2d_1.weight": tensor(0.3, -0.4), "dense_1.weight": tensor(0.05, 0.01, -0.02)}


def stepped(apart: float = 0.0, **changes: Any) -> Stepped:
    """The effect of steps on a tensor of two elements, so far from their rule."""
    fields: dict[str, Any] = {
        "elements": 2, "left_out": 0, "weights": 0.0, "moved": 1.0,
        "forms": {"sgd": Form(moved=1.0, apart=apart)},
        "sample": Sample(moved=(0.6, 0.8), gradients=SHARES),
    }  # fmt: skip
    return Stepped(**fields | changes)


def steps(settings: dict[str, Any] = SGD, **tensors: Stepped) -> OptimizerSteps:
    """Steps on the tensors of a correct answer, one of them replaced."""
    usual = dict.fromkeys(WEIGHTS, stepped())
    return OptimizerSteps(
        settings=settings, steps=3, tensors=usual | {name.replace("__", "."): each for name, each in tensors.items()}
    )


def result(**changes: Any) -> ParityResult:
    """The answer of a correct framework."""
    counted = (*LAYERS[:1], RELU, *LAYERS[1:])
    fields: dict[str, Any] = {
        "measurement_version": 1, "cell": "torch-2.13.0-cpu/lenet", "started_at": "2026-11-21T15:30:00Z",
        "parameters": 11_738, "layers": LAYERS, "counted_parameters": 11_738, "counted": counted,
        "weights": WEIGHTS,
        "first_loss": 2.3, "losses": {"1": 2.28, "3": 2.25, "10": 2.05}, "gradients": GRADIENTS,
        "logits": tensor(1.0, -1.0), "inferred": tensor(1.0, -1.0), "optimizer": steps(), "wall_s": 2.0, "facts": {},
    }  # fmt: skip
    return ParityResult(**fields | changes)


def scaled(tensors: Mapping[str, Tensor], name: str, factor: float) -> dict[str, Tensor]:
    """The tensors with one of them multiplied."""
    return {**tensors, name: tensor(*(factor * value for value in tensors[name].sketch))}


def layers(changed: NativeLayer, of: Sequence[NativeLayer] = LAYERS) -> tuple[NativeLayer, ...]:
    """The layers with one of them replaced by that of its name."""
    return tuple(changed if layer.name == changed.name else layer for layer in of)


def side(framework: Framework = TORCH, options: Options = (), **changes: Any) -> ParitySide:
    return ParitySide(framework.label, framework, options, result(**changes))


def unchecked(framework: Framework, why: str) -> ParitySide:
    return ParitySide(framework.label, framework, (), None, why)
