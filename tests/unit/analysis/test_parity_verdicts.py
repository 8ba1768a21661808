"""Verdicts on pairs of cells: each bar is kept just below and broken just above it, and each reason says where."""

from typing import Any

import pytest
from parity_results import GRADIENTS, LAYERS, MXNET, TORCH, layers, result, scaled, side, tensor, unchecked

from orchestrator.analysis.parity.sides import ParitySide
from orchestrator.analysis.parity.work import PairParity, WorkParity, matrix, pair
from orchestrator.domain import Framework, Mode
from orchestrator.results.parity.contract import NativeLayer
from tests.unit.analysis.judged_pairs import judged

ONNX_RUNTIME, OPENVINO = (Framework(name, "1", python="3.12") for name in ("onnxruntime", "openvino"))
BATCH_NORM = NativeLayer(name="batch_norm_1", shape=(8, 24, 24), parameters=16)


def with_batch_norm(**changes: Any) -> PairParity:
    def one(framework: Framework, **fields: Any) -> Any:
        parts = {"layers": (*LAYERS, BATCH_NORM), "counted": (*LAYERS, BATCH_NORM)}
        return side(framework, **parts | fields)

    return pair(one(TORCH), one(MXNET, **changes), Mode.TRAIN)


def test_equal_results_are_the_same_work() -> None:
    """Equal results are the same work, and everything compared is reported."""
    found = judged()

    assert (found.work, found.reason, found.known_fault, found.note) == (WorkParity.SAME, "", "", "")
    assert [difference.evidence for difference in found.differences] == [
        "weights",
        "first_loss",
        "gradients",
        "losses",
        *["optimizer"] * 3,
    ]
    assert all(difference.value == 0 for difference in found.differences)


@pytest.mark.parametrize(
    ("kept", "broken", "reason"),
    [
        (
            {"first_loss": 2.3 * (1 + 0.9e-5)},
            {"first_loss": 2.3 * (1 + 1.1e-5)},
            "first loss 2.3 in torch 2.13.0, 2.30003 in mxnet 1.9.1: 1.1e-05 apart, bar 1e-05",
        ),
        (
            {"losses": {"10": 2.05 * (1 + 0.9e-4)}},
            {"losses": {"10": 2.05 * (1 + 1.1e-4)}},
            "loss after 10 steps 2.05 in torch 2.13.0, 2.05023 in mxnet 1.9.1: 0.00011 apart, bar 0.0001",
        ),
        (
            {"gradients": scaled(GRADIENTS, "dense_1.weight", 1 + 0.9e-4)},
            {"gradients": scaled(GRADIENTS, "dense_1.weight", 1 + 1.1e-4)},
            "first gradient of dense_1.weight: 0.00011 apart, bar 0.0001",
        ),
        (
            {"weights": scaled(result().weights, "conv2d_1.weight", 1 + 0.9e-6)},
            {"weights": scaled(result().weights, "conv2d_1.weight", 1 + 1.1e-6)},
            "initial values of conv2d_1.weight: 1.1e-06 apart, bar 1e-06",
        ),
    ],
)
def test_each_bar_is_kept_below_and_broken_above(kept: dict[str, Any], broken: dict[str, Any], reason: str) -> None:
    assert judged(**kept).work is WorkParity.SAME
    found = judged(**broken)

    assert (found.work, found.reason) == (WorkParity.NOT_COMPARABLE, reason)


@pytest.mark.parametrize(("steps", "bar"), [("3", 1e-3), ("10", 1e-2)])
def test_batch_norm_losses_have_wider_bars(steps: str, bar: float) -> None:
    """With batch norm, losses are held to wider bars after three and ten steps."""
    losses = result().losses

    assert with_batch_norm(losses=losses | {steps: losses[steps] * (1 + 0.9 * bar)}).work is WorkParity.SAME
    broken = with_batch_norm(losses=losses | {steps: losses[steps] * (1 + 1.2 * bar)})
    assert broken.work is WorkParity.NOT_COMPARABLE
    assert broken.reason.startswith(f"loss after {steps} steps")


def test_batch_norm_gradients_may_differ_by_rounding() -> None:
    """With batch norm, gradients may differ by what rounding does at the edges of ReLUs."""

    def scaled_by(factor: float) -> PairParity:
        return with_batch_norm(gradients=scaled(GRADIENTS, "dense_1.weight", factor))

    assert scaled_by(1.09).work is WorkParity.SAME
    assert scaled_by(1.12).reason == "first gradient of dense_1.weight: 0.11 apart, bar 0.1"


def test_rounding_at_a_relu_edge_is_only_noted() -> None:
    """A value that rounding moves over the edge of a ReLU is noted and is no other work."""
    moved = judged(gradients=scaled(GRADIENTS, "conv2d_1.weight", 1 + 1.4e-3))

    assert (moved.work, moved.reason) == (WorkParity.SAME, "")
    assert moved.note == (
        "rounding at the edge of a ReLU or max pool: first gradient of conv2d_1.weight: 0.0014 apart, bar 0.01"
    )
    assert [(each.value, each.bar) for each in moved.differences if each.evidence == "gradients"] == [
        (0, 1e-4),
        (pytest.approx(1.4e-3, rel=0.01), 1e-2),
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"gradients": scaled(GRADIENTS, "conv2d_1.weight", 1.02)}, "first gradient of conv2d_1.weight: 0.02 apart"),
        ({"gradients": scaled(GRADIENTS, "dense_1.weight", 1.001)}, "first gradient of dense_1.weight: 0.001 apart"),
        (
            {"gradients": scaled(GRADIENTS, "conv2d_1.weight", 1.001), "losses": {"10": 2.05 * (1 + 1.2e-4)}},
            "loss after 10 steps",
        ),
    ],
    ids=["by too much", "behind the last edge", "and the descent goes elsewhere"],
)
def test_difference_no_edge_explains_is_other_work(changes: dict[str, Any], reason: str) -> None:
    found = judged(**changes)

    assert found.work is WorkParity.NOT_COMPARABLE
    assert found.reason.startswith(reason)


def test_loss_after_three_steps_has_no_bar() -> None:
    """Without batch norm, the loss after three steps has no bar."""
    assert judged(losses=result().losses | {"3": 9.0}).work is WorkParity.SAME


def test_broken_bars_are_counted_and_first_named() -> None:
    """Several broken bars are counted, and the first is named."""
    found = judged(first_loss=2.4, losses={"10": 2.2})

    assert found.reason.startswith("first loss ")
    assert found.reason.endswith("(and 1 more over their bars)")


def test_extra_filter_is_named_by_layer_and_shape() -> None:
    wider = NativeLayer(name="conv2d_1", shape=(9, 24, 24), parameters=234)
    found = judged(layers=layers(wider), counted=layers(wider, result().counted))

    assert (found.work, found.reason) == (
        WorkParity.NOT_COMPARABLE,
        "conv2d_1 yields 8×24×24 in torch 2.13.0, 9×24×24 in mxnet 1.9.1",
    )


def test_native_layers_are_held_against_the_definition() -> None:
    padded = NativeLayer(name="conv2d_1", shape=(8, 28, 28), parameters=208)

    found = judged(layers=layers(padded))

    assert found.reason == "conv2d_1 yields 8×28×28 in mxnet 1.9.1, 8×24×24 in the model's definition"


def test_a_missing_batch_norm_is_named() -> None:
    found = pair(side(TORCH, counted=(*LAYERS, BATCH_NORM), layers=(*LAYERS, BATCH_NORM)), side(MXNET), Mode.TRAIN)

    assert (found.work, found.reason) == (WorkParity.NOT_COMPARABLE, "batch_norm_1 is in torch 2.13.0 only")


def test_missing_layer_with_weights_is_named() -> None:
    """A missing layer with weights is named, and a layer without weights may be missing."""
    assert judged(layers=(LAYERS[0], LAYERS[2])).work is WorkParity.SAME
    assert judged(layers=LAYERS[:2]).reason == "mxnet 1.9.1 made no dense_1, which the model's definition has"
    assert judged(layers=(*LAYERS, BATCH_NORM)).reason == (
        "mxnet 1.9.1 made batch_norm_1, which the model's definition has not"
    )


def test_parameters_match_the_count_and_each_other() -> None:
    """Parameters are compared with the count and with each other."""
    fewer = NativeLayer(name="dense_1", shape=(10,), parameters=11_520)

    assert judged(parameters=11_728).reason == "mxnet 1.9.1 made 11,728 parameters of a model that has 11,738"
    assert judged(layers=layers(fewer), counted=layers(fewer, result().counted)).reason == (
        "dense_1 has 11,530 parameters in torch 2.13.0, 11,520 in mxnet 1.9.1"
    )
    assert judged(parameters=11_740, counted_parameters=11_740).reason == (
        "11,738 parameters in torch 2.13.0, 11,740 in mxnet 1.9.1"
    )


def test_gradient_missing_on_one_side_is_different() -> None:
    """A gradient that one side lacks is a difference."""
    some = judged(gradients={"dense_1.weight": GRADIENTS["dense_1.weight"]})

    assert some.work is WorkParity.NOT_COMPARABLE
    assert some.reason.startswith("first gradient of conv2d_1.weight are of another size, or only in torch 2.13.0")


@pytest.mark.parametrize(
    ("mode", "lacking", "reason"),
    [
        (Mode.TRAIN, {"gradients": {}}, "no first gradients of mxnet 1.9.1"),
        (Mode.TRAIN, {"weights": {}}, "no initial values of mxnet 1.9.1"),
        (
            Mode.TRAIN,
            {"weights": {}, "losses": {"1": 2.28}},
            "no initial values of mxnet 1.9.1; no loss after 10 steps of mxnet 1.9.1",
        ),
        (Mode.INFER, {"inferred": None}, "no logits of the step that is timed of mxnet 1.9.1"),
        (Mode.INFER, {"weights": {}}, "no initial values of mxnet 1.9.1"),
    ],
)
def test_missing_evidence_is_not_the_same_work(mode: Mode, lacking: dict[str, Any], reason: str) -> None:
    """Two sides that were not compared in full are not called the same work."""
    found = judged(mode, **lacking)

    assert (found.work, found.reason) == (WorkParity.NOT_CHECKED, reason)
    assert found.differences
    both = pair(side(TORCH, **lacking), side(MXNET, **lacking), mode)
    assert both.work is WorkParity.NOT_CHECKED
    assert "of torch 2.13.0 and mxnet 1.9.1" in both.reason
    assert judged(mode, first_loss=3.0, **lacking).work is WorkParity.NOT_COMPARABLE


def test_evidence_of_the_other_mode_is_not_missed() -> None:
    assert judged(Mode.INFER, gradients={}, losses={}).work is WorkParity.SAME
    assert judged(Mode.TRAIN, inferred=None, logits=None).work is WorkParity.SAME


def test_zero_gradient_equals_only_another_zero() -> None:
    """A zero gradient is wholly apart from any other, and two of them are equal."""
    zero = {**GRADIENTS, "conv2d_1.weight": tensor(0.0, 0.0)}

    assert judged(gradients=zero).reason == "first gradient of conv2d_1.weight: 1 apart, bar 0.0001"
    assert pair(side(TORCH, gradients=zero), side(MXNET, gradients=zero), Mode.TRAIN).work is WorkParity.SAME


def test_rounding_gradient_is_not_judged_by_size() -> None:
    """A gradient of nothing but rounding is not compared with its own size."""
    noise = {**GRADIENTS, "conv2d_1.bias": tensor(3e-6, 0.0)}
    other = {**GRADIENTS, "conv2d_1.bias": tensor(0.0, 2e-7)}

    assert pair(side(TORCH, gradients=noise), side(MXNET, gradients=other), Mode.TRAIN).work is WorkParity.SAME
    felt = {**GRADIENTS, "conv2d_1.bias": tensor(0.0, 6e-6)}
    assert pair(side(TORCH, gradients=noise), side(MXNET, gradients=felt), Mode.TRAIN).work is WorkParity.NOT_COMPARABLE


def test_inference_is_judged_by_logits_alone() -> None:
    """Inference asks for logits and not for what only training does."""
    trained = {"gradients": scaled(GRADIENTS, "conv2d_1.weight", 0.0), "losses": {"10": 9.0}}

    assert judged(Mode.INFER, **trained).work is WorkParity.SAME
    assert judged(Mode.INFER, inferred=tensor(1.0, -1.001)).reason == "logits: 0.00071 apart, bar 0.0001"
    assert judged(inferred=tensor(1.0, -1.001)).work is WorkParity.SAME


def test_inference_alone_may_have_no_loss() -> None:
    """Of a model with batch norm it has none; weights and logits are compared, and training is not."""
    alone: dict[str, Any] = {"first_loss": None, "lacking": ("training",)}

    assert judged(Mode.INFER, **alone).work is WorkParity.SAME
    assert judged(Mode.INFER, inferred=tensor(1.0, -1.001), **alone).work is WorkParity.NOT_COMPARABLE
    untrained: dict[str, Any] = {"losses": {}, "gradients": {}, "optimizer": None}
    assert judged(Mode.TRAIN, **alone, **untrained).reason == "mxnet 1.9.1 without training"


def test_inference_is_judged_by_the_timed_step() -> None:
    """Inference is judged by the step that is timed, not by what evaluates training."""
    assert judged(Mode.INFER, logits=tensor(1.0, -1.001)).work is WorkParity.SAME
    assert judged(Mode.INFER, logits=tensor(1.0, -1.0), inferred=tensor(1.0, 1.0)).work is WorkParity.NOT_COMPARABLE


def test_reduced_precision_has_wide_bars_and_says_so() -> None:
    bf16 = (("precision", "bf16"),)
    near: dict[str, Any] = {"first_loss": 2.31, "losses": {"10": 2.08}}

    both = pair(side(TORCH, bf16), side(MXNET, bf16, **near), Mode.TRAIN)
    mixed = pair(side(TORCH), side(MXNET, bf16, **near), Mode.TRAIN)
    far = pair(side(TORCH), side(MXNET, bf16, first_loss=2.5), Mode.TRAIN)

    assert (both.work, both.note) == (WorkParity.SAME, "both in bf16: held to the wide bars of reduced precision")
    assert (mixed.work, mixed.note) == (
        WorkParity.SAME, "the same model in different arithmetic (torch 2.13.0: fp32, mxnet 1.9.1: bf16)",
    )  # fmt: skip
    assert (far.work, far.reason.split(":")[0]) == (
        WorkParity.NOT_COMPARABLE, "first loss 2.3 in torch 2.13.0, 2.5 in mxnet 1.9.1",
    )  # fmt: skip


def test_a_matrix_is_symmetric_with_an_empty_diagonal() -> None:
    found = matrix([side(TORCH), side(MXNET), unchecked(TORCH, "off")], Mode.TRAIN)

    assert [found[i][i] for i in range(3)] == [None] * 3
    assert all(found[i][j] is found[j][i] for i in range(3) for j in range(3))
    assert found[0][1] is not None
    assert found[0][1].work is WorkParity.SAME


def network_answer(framework: Framework, arithmetic: str = "", **outputs: Any) -> ParitySide:
    """The answer of an engine about an exported network."""
    nothing = {key: {} for key in ("weights", "gradients", "losses")} | dict.fromkeys(("layers", "counted"), ())
    nothing |= dict.fromkeys(("logits", "inferred", "first_loss", "optimizer"))
    facts = {"onnx": {"opset": 13, **({"arithmetic": arithmetic} if arithmetic else {})}}
    return side(framework, **nothing, lacking=("training",), network="a" * 64, outputs=outputs, facts=facts)


BOXES = tensor(1e6, -2e6)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [(1.0, WorkParity.SAME), (1.0002, WorkParity.NOT_COMPARABLE), (2.0, WorkParity.NOT_COMPARABLE)],
)
def test_outputs_are_compared_by_their_own_size(scores: float, expected: WorkParity) -> None:
    """Scores beside boxes in pixels are a millionth of them, and count as much."""
    one = network_answer(ONNX_RUNTIME, boxes=BOXES, scores=tensor(1.0, 0.5))
    other = network_answer(OPENVINO, boxes=BOXES, scores=tensor(scores, 0.5 * scores))

    found = pair(one, other, Mode.INFER)

    assert found.work is expected, found.reason
    assert found.reason.startswith("scores: ") == (expected is WorkParity.NOT_COMPARABLE)


@pytest.mark.parametrize("arithmetic", ["float16", "int8"])
@pytest.mark.parametrize(("apart", "expected"), [(0.05, WorkParity.SAME), (0.2, WorkParity.NOT_COMPARABLE)])
def test_a_reduced_file_has_wide_bars(arithmetic: str, apart: float, expected: WorkParity) -> None:
    one = network_answer(ONNX_RUNTIME, arithmetic, scores=tensor(1.0, 0.5))
    other = network_answer(OPENVINO, arithmetic, scores=tensor(1.0 + apart, 0.5 * (1 + apart)))

    found = pair(one, other, Mode.INFER)

    assert found.work is expected, found.reason
    assert expected is not WorkParity.SAME or found.note == (
        f"both in {arithmetic}: held to the wide bars of reduced precision"
    )
