"""The operators that results name are those that are called, in the environment of each framework."""

from typing import Any

import pytest
from test_sessions import Environment, said

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.parametrize(
        "environment",
        ["torch", "mxnet", *(pytest.param(name, marks=pytest.mark.slow) for name in ("jax", "keras3", "tensorflow"))],
        indirect=True,
    ),
]


def named(fact: str) -> set[str]:
    """The names in a fact such as `one of prompts, other of later tokens`, without what is said of them."""
    return {each.partition(" (default")[0].partition(" of ")[0] for each in fact.split(", ")}


def called(answer: Any, phase: str, kind: str) -> set[str]:
    return set(answer["calls"][phase].get(kind, {}))


def assert_called(answer: Any) -> None:
    """Every name of the facts is called, nothing else of that kind is, and each phase calls it for every layer."""
    for kind, fact in answer["operators"].items():
        if fact.startswith("elementary operators"):
            continue
        found = [called(answer, phase, kind) for phase in answer["calls"]]
        assert set().union(*found) == named(fact), kind
        for phase, calls in answer["calls"].items():
            assert sum(calls.get(kind, {}).values()) >= answer["layers"][kind], (phase, kind)


@pytest.mark.parametrize("model", ["encoded", "decoded", "mixed"])
def test_step_calls_what_facts_name(environment: Environment, model: str) -> None:
    answer = said(environment, "called_operators.py", environment[0].environment.builder, model, "infer")

    kinds = {"attention", "gelu", "layer_norm", "rms_norm", "silu"}
    assert set(answer["operators"]) == kinds & set(answer["layers"])
    assert_called(answer)


@pytest.mark.parametrize("model", ["decoded", "written"])
def test_generation_calls_what_facts_name(environment: Environment, model: str) -> None:
    """A decoder with a key for each head has another operator in Keras and in TensorFlow than its step of training."""
    builder = environment[0].environment.builder
    answer = said(environment, "called_operators.py", builder, model, "generate")

    assert set(answer["calls"]) == {"prompt", "token"}
    assert_called(answer)
    phases = [called(answer, phase, "attention") for phase in ("prompt", "token")]
    if builder == "mxnet":
        assert phases == [{"contrib.interleaved_matmul_selfatt"}, {"contrib.interleaved_matmul_encdec"}]
    else:
        assert phases[0] == phases[1]
