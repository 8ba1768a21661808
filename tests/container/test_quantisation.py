"""Quantised sessions of real engines, by their facts and by the answers of their parity checks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from container_support import Check, Measure, start

from orchestrator.analysis.parity.sides import ParitySide
from orchestrator.analysis.parity.work import WorkParity, pair
from orchestrator.domain import Framework, ImageSpec, Mode
from orchestrator.results.parity.contract import ParityResult
from orchestrator.runtimes.model import Ready

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]

STATIC, DYNAMIC = {"quantisation": "static"}, {"quantisation": "dynamic"}
FILES = {"lenet": "86c766c6a010d2e5", "mlp": "371ee5292b361506"}
"""The beginnings of the SHA-256 of static files for batches of 8."""


def of(*frameworks: str) -> pytest.MarkDecorator:
    """Run a test in the environments of some frameworks alone."""
    return pytest.mark.parametrize("environment", frameworks, indirect=True)


def side(framework: str, options: dict[str, str], answer: ParityResult) -> ParitySide:
    return ParitySide(framework, Framework(framework, "1", python="3.11"), tuple(options.items()), answer)


@pytest.mark.parametrize("model", ["lenet", "mlp"])
@of("onnxruntime", "openvino", "torch")
def test_a_static_session_is_near_its_model(environment: tuple[ImageSpec, Ready], check: Check, model: str) -> None:
    name = environment[0].framework.name
    sides = [side(name, options, check(model, options=options)) for options in ({}, STATIC)]

    found = pair(sides[0], sides[1], Mode.INFER)

    assert found.work is WorkParity.QUANTISED, found
    assert found.differences[1].value > 0


@pytest.mark.parametrize("model", ["lenet", "mlp", "lstm", "both_ways", "encoded"])
@of("onnxruntime", "torch")
def test_a_dynamic_session_is_near_its_model(environment: tuple[ImageSpec, Ready], check: Check, model: str) -> None:
    name = environment[0].framework.name
    sides = [side(name, options, check(model, options=options)) for options in ({}, DYNAMIC)]

    assert pair(sides[0], sides[1], Mode.INFER).work is WorkParity.QUANTISED


@of("onnxruntime", "torch")
def test_the_layer_in_closed_form_reads_digits(check: Check) -> None:
    answer = check("lenet", options=STATIC).quantised

    assert answer is not None
    assert (answer.dataset, len(answer.chosen)) == ("digits", 360)
    assert min(answer.right) > 0.8 * 360


@of("onnxruntime", "torch", "openvino")
def test_facts_say_what_is_quantised(environment: tuple[ImageSpec, Ready], measure: Measure) -> None:
    facts: dict[str, Any] = dict(measure(model="lenet", mode="infer", options=STATIC).facts)

    assert facts["precision"] == "int8 static"
    assert facts["quantisation"]["layers"] == ["conv2d_1", "conv2d_2", "dense_1", "dense_2", "dense_3"]
    assert facts["quantisation"]["calibration"] == {"batches": 4, "batch_size": 32, "seed": 0}


@pytest.mark.parametrize("model", FILES)
@of("onnxruntime", "onnxruntime 1.11.0", "openvino", "openvino 2022.3.0")
def test_engines_make_one_static_file(measure: Measure, model: str) -> None:
    """Ranges that differ by the rounding of engines and releases make the same file."""
    file: dict[str, Any] = measure(model=model, mode="infer", options=STATIC, batch_size=8).facts["onnx"]

    assert file["sha256"].startswith(FILES[model])


@of("onnxruntime", "onnxruntime 1.11.0")
def test_no_layer_of_a_static_file_stays_in_float(measure: Measure) -> None:
    file: dict[str, Any] = measure(model="lenet", mode="infer", options=STATIC).facts["onnx"]

    assert (file["nodes"]["QGemm"], file["nodes"]["QLinearConv"]) == (3, 2)
    assert not {"Gemm", "FusedGemm", "Conv", "FusedConv"} & set(file["nodes"])


@of("onnxruntime 1.7.0")
def test_a_release_that_computes_in_float_is_unsupported(
    environment: tuple[ImageSpec, Ready], io: Callable[..., Path]
) -> None:
    """Its dense layers would be called quantised, and are not."""
    folder = io(builder="onnxruntime", framework="onnxruntime", model="lenet", mode="infer", options=STATIC)

    ended = start("--io", str(folder), python=environment[1].handle, **dict(environment[1].variables))

    assert (ended.returncode, "before 1.11 computes dense layers of such a file in float32" in ended.stderr) == (
        3,
        True,
    )
