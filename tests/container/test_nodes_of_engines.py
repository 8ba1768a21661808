"""The nodes that engines make of the layers of transformers, as facts of a result count them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from container_support import Check, Measure, start

from orchestrator.domain import ImageSpec
from orchestrator.runtimes.model import Ready

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]


@pytest.mark.parametrize("environment", ["onnxruntime"], indirect=True)
@pytest.mark.parametrize(
    ("model", "fused", "replaced"),
    [
        ("encoded", {"SkipLayerNormalization": 4, "LayerNormalization": 1, "Gelu": 2}, {"ReduceMean", "Erf"}),
        ("decoded", {"SimplifiedLayerNormalization": 5, "QuickGelu": 2}, {"ReduceMean", "Sigmoid"}),
    ],
)
def test_onnxruntime_fuses_norms_and_no_attention(
    check: Check, model: str, fused: dict[str, int], replaced: set[str]
) -> None:
    """Each of two attentions is still a softmax between two products, one of which takes the root of the size."""
    nodes = check(model, batch_size=4).facts["onnx"]["nodes"]

    assert {kind: nodes.get(kind) for kind in fused} == fused
    assert not replaced & set(nodes)
    assert (nodes["Softmax"], nodes["FusedMatMul"]) == (2, 2)
    assert not any("Attention" in kind for kind in nodes)


@pytest.mark.parametrize("environment", ["onnxruntime"], indirect=True)
def test_nodes_are_those_of_the_level(check: Check) -> None:
    """Without optimization the graph is that of the file, where a norm is two means with what is around them."""
    nodes = check("encoded", batch_size=4, options={"optimization": "none"}).facts["onnx"]["nodes"]

    assert (nodes["ReduceMean"], nodes["Erf"], nodes["Softmax"]) == (10, 2, 2)
    assert not any("Normalization" in kind for kind in nodes)


@pytest.mark.parametrize("environment", ["openvino"], indirect=True)
@pytest.mark.parametrize(("model", "norm"), [("encoded", "MVN"), ("decoded", "RMS")])
def test_openvino_compiles_attention(check: Check, model: str, norm: str) -> None:
    """Norms are one node each, and softmaxes are in subgraphs with the products around them."""
    nodes = check(model, batch_size=4).facts["onnx"]["nodes"]

    assert nodes[norm] == 5
    assert nodes["Subgraph"] >= 2
    assert not {"Softmax", "MatMul", "Reduce", "ReduceMean"} & set(nodes)


@pytest.mark.parametrize("environment", ["onnxruntime-openvino"], indirect=True)
def test_provider_that_compiles_tells_no_nodes(check: Check) -> None:
    assert set(check("encoded", batch_size=4).facts["onnx"]) == {"opset", "sha256"}


@pytest.mark.parametrize("environment", ["onnxruntime"], indirect=True)
def test_nodes_of_a_generation_are_counted(measure: Measure) -> None:
    asked = {"model": "decoder", "mode": "generate", "generation": {"prompt": 8, "output": 3}, "batch_size": 2}

    nodes = measure(**asked, latency_steps=0).facts["onnx"]["nodes"]

    assert (nodes["SimplifiedLayerNormalization"], nodes["Softmax"], nodes["ArgMax"]) == (5, 2, 1)


@pytest.mark.parametrize("environment", ["onnxruntime"], indirect=True)
def test_large_file_is_not_compiled_again(
    environment: tuple[ImageSpec, Ready], io: Callable[..., Path], with_builder: Callable[..., Path]
) -> None:
    """The bound is lowered below the file of lenet, so that an engine that is asked ends the measurement."""
    planted = with_builder(
        "planted",
        """
from benchmarks.frameworks import onnxruntime as real
from benchmarks.native import serving
OPTIONS, OFFERS, start = real.OPTIONS, real.OFFERS, real.start
serving.LARGEST_COUNTED = 1000
def asked(self, file):
    raise AssertionError("the nodes of a large file were asked for")
real._Engine.nodes = asked
""",
    )
    folder = io(builder="planted", mode="infer", steps=2, min_blocks=1, min_block_s=0.0, latency_steps=0)

    ended = start("--io", str(folder), python=environment[1].handle, path=planted)

    assert ended.returncode == 0, ended.stderr
