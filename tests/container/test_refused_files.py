"""The reasons that engines give for refusing a file: as releases worded them, and as real ones end."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from container_support import document, start
from onnx import TensorProto, helper

from benchmarks.native import refusals
from orchestrator.domain import ImageSpec
from orchestrator.networks.reading import NetworkFeed, read
from orchestrator.processes import LINE_CHARACTERS
from orchestrator.results.contract import Request
from orchestrator.running.requests import with_network
from orchestrator.runtimes.model import Ready
from tests import exported

WORDED = {each["of"]: each for each in json.loads(Path(__file__).with_name("refusals.json").read_text("utf-8"))}
"""Messages of releases on a CPU, each with the reason in it."""
OPSET: str = WORDED["ONNX Runtime 1.20.1, opset"]["said"]


@pytest.mark.parametrize("name", WORDED)
def test_the_reason_stands_without_places(name: str) -> None:
    worded = WORDED[name]

    assert refusals.reason(RuntimeError(worded["said"])) == f"RuntimeError: {worded['reason']}"


def test_the_reason_fits_a_line_of_a_report() -> None:
    """The newest opset that the release knows is not cut off."""
    line = f"this release cannot run the network: {refusals.reason(RuntimeError(OPSET))}"

    assert len(line) <= LINE_CHARACTERS
    assert line.endswith("till opset 21.")


@pytest.mark.parametrize(
    ("said", "is_of_memory"),
    [
        ("[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Exception during initialization: std::bad_alloc", True),
        ("Failed to allocate memory for requested buffer of size 4096", True),
        (OPSET, False),
    ],
)
def test_memory_that_ran_out_is_no_refusal(said: str, is_of_memory: bool) -> None:
    assert refusals.is_of_memory(RuntimeError(said)) is is_of_memory


def with_opset(opset: int) -> onnx.ModelProto:
    model = exported.image_network()
    model.opset_import[0].version = opset
    return model


def with_operator(name: str, opset: int = 13) -> onnx.ModelProto:
    model = with_opset(opset)
    model.graph.node[1].op_type = name
    return model


def with_attribute(**changed: str) -> onnx.ModelProto:
    """Return a network of one pool with an attribute that no release knows."""
    value = helper.make_tensor_value_info
    node = helper.make_node("MaxPool", ["image"], ["pooled"], kernel_shape=[2, 2], **changed)
    graph = helper.make_graph(
        [node],
        "pool",
        [value("image", TensorProto.FLOAT, [1, 1, 4, 4])],
        [value("pooled", TensorProto.FLOAT, [1, 1, 3, 3])],
    )
    return exported.model_of(graph)


@pytest.fixture
def refused(environment: tuple[ImageSpec, Ready], tmp_path: Path) -> Callable[[onnx.ModelProto], str]:
    """Ask a real engine for a network, which must end as `unsupported`. Return its last line."""
    image, ready = environment
    builder = image.environment.builder

    def ask(model: onnx.ModelProto) -> str:
        network, mistakes = read(exported.saved(model, tmp_path / "ours.onnx"), "ours", NetworkFeed())
        assert network is not None, mistakes
        plain = Request(**document(builder=builder, framework=builder, model="ours", mode="infer", batch_size=1))
        asked = with_network(plain, network, str(tmp_path))
        (tmp_path / "request.json").write_text(asked.model_dump_json(by_alias=True))
        ended: subprocess.CompletedProcess[str] = start(
            "--io", str(tmp_path), python=ready.handle, **dict(ready.variables)
        )
        assert ended.returncode == 3, ended.stderr
        return ended.stderr.rstrip().rpartition("\n")[2]

    return ask


def of(*frameworks: str) -> Any:
    """Run a test with real releases of engines."""
    marks = (pytest.mark.frameworks, pytest.mark.slow)
    return pytest.mark.parametrize(
        "environment", [pytest.param(name, marks=marks) for name in frameworks], indirect=True
    )


@of("onnxruntime 1.7.0", "onnxruntime 1.12.0", "onnxruntime 1.18.0")
def test_an_old_release_names_the_opset(refused: Callable[[onnx.ModelProto], str]) -> None:
    line = refused(with_opset(24))

    assert line.startswith("this release cannot run the network: Fail: ONNX Runtime only *guarantees* support for ")
    assert "Opset 24 is under development" in line
    assert "till opset " in line


@of("onnxruntime 1.7.0", "onnxruntime")
def test_an_unknown_attribute_is_unsupported(refused: Callable[[onnx.ModelProto], str]) -> None:
    """Old releases raise another error for it than new ones."""
    assert refused(with_attribute(auto_pad="NONSENSE")).endswith("Unknown AutoPadType String")


@of("onnxruntime 1.7.0", "onnxruntime", "openvino 2022.1.0", "openvino")
def test_an_unknown_operator_is_named(refused: Callable[[onnx.ModelProto], str]) -> None:
    line = refused(with_operator("Nonsense"))

    assert line.startswith("this release cannot run the network: ")
    assert "Nonsense" in line


@of("openvino 2022.1.0")
def test_openvino_names_a_newer_operator(refused: Callable[[onnx.ModelProto], str]) -> None:
    """It takes a newer opset, and refuses only operators that it does not know."""
    assert refused(with_operator("Gelu", 20)).endswith(
        "RuntimeError: OpenVINO does not support the following ONNX operations: Gelu"
    )
