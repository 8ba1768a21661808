"""The generators of the frameworks, compared with greedy generation by the reference in float64."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from container_support import OTHERS, Check, Measure
from decoded import CLASSES
from reference_generation import greedy
from tensors_apart import apart

from benchmarks.inputs import datasets
from benchmarks.parity.check import tensor
from benchmarks.vocabulary import layers, weights
from orchestrator.domain import ImageSpec
from orchestrator.runtimes.model import Ready

BATCH = 16
GENERATORS = ("jax", "keras3", "mxnet", "onnxruntime", "openvino", "tensorflow", "torch")
"""Builders that generate."""
OTHER_BACKENDS = sorted(label for label, each in OTHERS.items() if each.name == "keras3")
"""Keras 3 on those that its newest release was not asked on."""
LEAST_LEAD = 1e-4
"""Of a token that no rounding makes another one."""


@pytest.fixture
def generating(environment: tuple[ImageSpec, Ready]) -> str:
    """Return the builder, or skip one that does not generate."""
    builder = environment[0].environment.builder
    if builder not in GENERATORS:
        pytest.skip(f"{builder} lacks generation")
    return builder


def expected(model: str, prompt: int, output: int) -> tuple[Any, Any, Any]:
    """Tokens, leads and first logits of the fixed batch."""
    module = importlib.import_module(model)
    net = layers.recorded(module.build)
    inputs, _ = next(datasets.named("synthetic", module, 0, inputs=net.inputs).batches(BATCH, 1))
    return greedy(net.layers, weights.initial(net.layers, 0), inputs[:, :prompt], output)


@pytest.mark.frameworks
@pytest.mark.usefixtures("generating")
@pytest.mark.parametrize(("model", "prompt", "output"), [("decoded", 4, 5), ("decoded", 1, 8), ("written", 5, 7)])
def test_tokens_are_those_of_the_reference(check: Check, model: str, prompt: int, output: int) -> None:
    answer = check(model, batch_size=BATCH, generation={"prompt": prompt, "output": output})

    tokens, leads, logits = expected(model, prompt, output)
    assert answer.generated is not None
    assert answer.inferred is not None
    assert apart(answer.inferred, tensor(logits)) < 1e-4
    sure = np.cumprod(leads > LEAST_LEAD, axis=1).astype(bool)
    assert sure.mean() > 0.9
    assert np.array_equal(np.array(answer.generated.tokens)[sure], tokens[sure])
    assert np.array(answer.generated.leads)[sure] == pytest.approx(leads[sure], rel=0.02, abs=1e-4)


@pytest.mark.frameworks
@pytest.mark.slow
@pytest.mark.parametrize("environment", OTHER_BACKENDS, indirect=True)
def test_other_backends_choose_the_same(check: Check) -> None:
    answer = check("decoded", batch_size=BATCH, generation={"prompt": 4, "output": 5})

    tokens, leads, logits = expected("decoded", 4, 5)
    assert answer.generated is not None
    assert answer.inferred is not None
    assert apart(answer.inferred, tensor(logits)) < 1e-4
    sure = np.cumprod(leads > LEAST_LEAD, axis=1).astype(bool)
    assert np.array_equal(np.array(answer.generated.tokens)[sure], tokens[sure])


@pytest.mark.frameworks
@pytest.mark.usefixtures("generating")
def test_requests_hold_every_token(measure: Measure) -> None:
    """Each of two requests of a batch has its first token, counted from its arrival, and those after it."""
    load = {"scenario": "offline", "requests": 4, "first_token_limit_s": 60.0}
    asked = {"model": "decoder", "mode": "requests", "generation": {"prompt": 8, "output": 3}, "load": load}

    result = measure(**asked, batch_size=2, warmup_steps=1, steps=4, min_blocks=1)

    assert result.generation is not None
    assert result.requests is not None
    first, waited = result.generation.first_token_s, result.requests.waited_s
    assert (len(first), len(result.generation.between_tokens_s)) == (4, 8)
    assert [first[0], first[2]] == [first[1], first[3]]
    assert all(before < moment < whole for before, moment, whole in zip(waited, first, result.latency_s, strict=True))
    assert (result.blocks[0].steps, result.blocks[0].samples) == (2, 4)


@pytest.mark.frameworks
@pytest.mark.usefixtures("generating")
def test_result_holds_every_token(measure: Measure) -> None:
    asked = {"model": "decoder", "mode": "generate", "generation": {"prompt": 8, "output": 6}, "batch_size": 2}

    result = measure(**asked, latency_steps=0)

    assert result.generation is not None
    generations = sum(block.steps for block in result.blocks)
    assert len(result.generation.first_token_s) == generations
    assert len(result.generation.between_tokens_s) == 5 * generations
    assert all(block.samples == 2 * 6 * block.steps for block in result.blocks)
    # An engine is given a file, and puts its own operators in the place of those in it.
    assert result.facts["onnx"] if "onnx" in result.facts else result.facts["operators"]["attention"]


@pytest.mark.frameworks
def test_wrong_tokens_are_told_apart(check: Check, generating: str, with_builder: Callable[..., Path]) -> None:
    """A generator that goes on from another token than the one that it chose is none."""
    planted = with_builder(
        "planted",
        f"""
from benchmarks.frameworks import {generating} as real
OPTIONS, OFFERS, start = real.OPTIONS, real.OFFERS, real.start
def generator(workload):
    session = real.generator(workload)
    decode = session.decode
    session.decode = lambda step: decode(step._replace(tokens=others(session, step.tokens)))
    return session
def others(session, tokens):
    engine = getattr(session, "_engine", None)
    if engine is None:
        return (tokens + 1) % {CLASSES}
    return engine.kept((engine.array(tokens) + 1) % {CLASSES})
""",
    )
    (planted / "decoded.py").write_text(Path(__file__).with_name("decoded.py").read_text())

    answer = check("decoded", path=planted, builder="planted", batch_size=BATCH, generation={"prompt": 4, "output": 5})

    tokens, _, _ = expected("decoded", 4, 5)
    assert answer.generated is not None
    found = np.array(answer.generated.tokens)
    assert np.array_equal(found[:, 0], tokens[:, 0])
    assert (found[:, 1:] != tokens[:, 1:]).any()
