"""The quantised form of a model's ONNX file, run by ONNX's own reference and compared with the file in float32."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from test_onnx_file import Written

from benchmarks import quantisation
from benchmarks.errors import Unsupported
from benchmarks.native.quantised import onnx as quantised_onnx
from benchmarks.vocabulary import losses
from orchestrator.analysis.parity.quantised import LOGITS


def evaluated(content: bytes, fed: Any) -> Any:
    """Compute a file by ONNX's own reference, which has `DequantizeLinear` from opset 19 on."""
    model = onnx.load_model_from_string(content)
    model.opset_import[0].version = 19
    return ReferenceEvaluator(model).run(None, fed)


def operators(content: bytes) -> Counter[str]:
    return Counter(node.op_type for node in onnx.load_model_from_string(content).graph.node)


def ranges_of(content: bytes, fed: Any) -> dict[str, tuple[float, float]]:
    watched, names = quantised_onnx.watched(content)
    ends = evaluated(watched, fed)
    return {name: (float(ends[2 * n]), float(ends[2 * n + 1])) for n, name in enumerate(names)}


def apart(one: Any, other: Any) -> float:
    return float(np.linalg.norm(one - other) / np.linalg.norm(other))


@pytest.fixture(params=["mlp", "lenet"])
def written(request: pytest.FixtureRequest) -> Written:
    return Written(request.param)


def test_the_static_form_approximates_the_model(written: Written) -> None:
    content = quantised_onnx.folded(written.file())
    static = quantised_onnx.static(content, ranges_of(content, written.fed))
    onnx.checker.check_model(static)

    (logits,), (wanted,) = evaluated(static, written.fed), evaluated(written.file(), written.fed)

    assert 0 < apart(logits, wanted) < 0.05


@pytest.mark.parametrize(("factor", "breaks"), [(0.25, True), (8.0, False), (32.0, True)])
def test_coarse_ranges_break_the_bar_of_logits(written: Written, factor: float, breaks: bool) -> None:
    content = quantised_onnx.folded(written.file())
    wrong = {name: (low * factor, high * factor) for name, (low, high) in ranges_of(content, written.fed).items()}
    (logits,), (wanted,) = (
        evaluated(quantised_onnx.static(content, wrong), written.fed),
        evaluated(written.file(), written.fed),
    )

    assert (apart(logits, wanted) > LOGITS) is breaks


def test_the_dynamic_form_approximates_the_model(written: Written) -> None:
    dynamic = quantised_onnx.dynamic(written.file())
    onnx.checker.check_model(dynamic)

    (logits,), (wanted,) = evaluated(dynamic, written.fed), evaluated(written.file(), written.fed)

    assert 0 < apart(logits, wanted) < 0.05


def test_every_dense_layer_multiplies_whole_numbers(written: Written) -> None:
    counted = operators(quantised_onnx.dynamic(written.file()))

    assert counted["MatMulInteger"] == operators(written.file())["Gemm"]
    assert counted["Gemm"] == 0


def test_rounding_of_engines_does_not_change_the_file(written: Written) -> None:
    content = quantised_onnx.folded(written.file())
    found = ranges_of(content, written.fed)
    rounded = {name: (low * (1 + 1e-7), high * (1 - 1e-7)) for name, (low, high) in found.items()}

    assert quantised_onnx.static(content, found) == quantised_onnx.static(content, rounded)


def test_batch_norms_and_dropouts_are_folded() -> None:
    written = Written("every_layer")
    before, after = operators(written.file()), operators(quantised_onnx.folded(written.file()))

    assert before["BatchNormalization"] > after["BatchNormalization"]
    assert after["Identity"] == 0


ATTENTION = SimpleNamespace(name="attention_1", kind="attention", settings={})


def workload(**changes: Any) -> Any:
    layers = (SimpleNamespace(name="dense_1", kind="dense", settings={}),)
    fields = {"options": {"quantisation": "static"}, "training": False, "network": None, "layers": layers}
    fields |= {"loss": losses.SOFTMAX_CROSS_ENTROPY}
    return SimpleNamespace(**fields | changes)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"training": True}, "inference alone"),
        ({"network": {"batch": "N"}}, "a network of your own"),
        ({"layers": (SimpleNamespace(name="gru_1", kind="gru", settings={}),)}, "which the model lacks"),
        ({"layers": (ATTENTION,)}, "quantisation: dynamic runs"),
        ({"loss": losses.NEXT_TOKEN, "options": {"quantisation": "dynamic"}}, "a decoder has no class of a whole"),
    ],
)
def test_what_cannot_be_quantised_is_unsupported(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(Unsupported, match=why):
        quantisation.covered(workload(**changes))


def test_an_attention_multiplies_whole_numbers_by_its_matrices() -> None:
    """Its four matrices are quantised, and the products of two activations stay in float32."""
    encoder = Written("encoded")
    content = quantised_onnx.dynamic(encoder.file())
    onnx.checker.check_model(content)

    (logits,), (wanted,) = evaluated(content, encoder.fed), evaluated(encoder.file(), encoder.fed)

    counts = operators(content)
    assert (counts["MatMulInteger"], counts["MatMul"], counts["Gemm"]) == (2 * (4 + 2) + 2, 2 * 2, 0)
    assert 0 < apart(logits, wanted) < 0.05
    layers = (ATTENTION, SimpleNamespace(name="dense_1", kind="dense", settings={}))
    assert quantisation.covered(workload(layers=layers, options={"quantisation": "dynamic"})) == [
        "attention_1",
        "dense_1",
    ]
