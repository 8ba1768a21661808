"""The execution providers of ONNX Runtime, each in the package that brings it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from container_support import Check, Measure, start

from orchestrator.analysis.parity.sides import ParitySide
from orchestrator.analysis.parity.work import WorkParity, pair
from orchestrator.domain import Framework, ImageSpec, Mode
from orchestrator.runtimes.model import Ready

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]

PLAIN, WITH_OPENVINO = "onnxruntime", "onnxruntime-openvino"
CPU, OPENVINO = "CPUExecutionProvider", "OpenVINOExecutionProvider"


def of(*frameworks: str) -> pytest.MarkDecorator:
    """Run a test in the environments of some frameworks alone."""
    return pytest.mark.parametrize("environment", frameworks, indirect=True)


@pytest.mark.parametrize(("asked", "first"), [("auto", CPU), ("cpu", CPU)])
@of(PLAIN)
def test_the_plain_package_computes_itself(measure: Measure, asked: str, first: str) -> None:
    assert measure(model="lenet", mode="infer", options={"provider": asked}).facts["execution"] == first


@pytest.mark.parametrize(("asked", "first"), [("auto", OPENVINO), ("openvino", OPENVINO), ("cpu", CPU)])
@of(WITH_OPENVINO)
def test_the_first_provider_is_the_one_asked_for(measure: Measure, asked: str, first: str) -> None:
    facts = measure(model="lenet", mode="infer", options={"provider": asked}).facts

    assert str(facts["execution"]).split(", ")[0] == first


@of(PLAIN)
def test_a_provider_that_is_not_there_is_unsupported(
    environment: tuple[ImageSpec, Ready], io: Callable[..., Path]
) -> None:
    _, ready = environment
    folder = io(builder=PLAIN, framework=PLAIN, mode="infer", options={"provider": "openvino"})

    ended = start("--io", str(folder), python=ready.handle, **dict(ready.variables))

    assert ended.returncode == 3
    assert "brings no provider 'openvino'; onnxruntime-openvino does" in ended.stderr


@pytest.mark.parametrize("model", ["lenet", "resnet20", "lstm"])
@of(WITH_OPENVINO)
def test_both_providers_do_the_same_work(check: Check, model: str) -> None:
    """OpenVINO left to itself computes in bfloat16 on a CPU that can."""
    one, other = (
        ParitySide(
            provider, Framework(WITH_OPENVINO, "1"), (("provider", provider),),
            check(model, options={"provider": provider}),
        )
        for provider in ("cpu", "openvino")
    )  # fmt: skip

    assert pair(one, other, Mode.INFER).work is WorkParity.SAME
