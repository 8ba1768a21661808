"""The parts of a network that cannot be made anonymous, and those that a user has to decide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.networks import tensors
from orchestrator.networks.roles import Role, StoredTensor, roles

if TYPE_CHECKING:
    import onnx

ONNX = ("", "ai.onnx")
"""The names of ONNX's own domain."""
_WORDS = frozenset({
    "activations", "approximate", "auto_pad", "coordinate_transformation_mode", "direction", "equation",
    "keep_aspect_ratio_policy", "mode", "nearest_mode", "padding_mode", "reduction", "round", "rounding",
})  # fmt: skip
"""Attributes of ONNX's operators whose texts decide what is computed."""
_TEXTS = frozenset(
    b"NOTSET SAME_UPPER SAME_LOWER VALID constant reflect edge wrap nearest linear cubic bilinear bicubic zeros border "
    b"reflection forward reverse bidirectional half_pixel half_pixel_symmetric pytorch_half_pixel align_corners "
    b"asymmetric tf_crop_and_resize tf_half_pixel_for_nn output_half_pixel round_prefer_floor round_prefer_ceil floor "
    b"ceil stretch not_larger not_smaller none tanh add mul min max avg mean sum DCR CRD Relu Tanh Sigmoid Affine "
    b"LeakyRelu ThresholdedRelu ScaledTanh HardSigmoid Elu Softsign Softplus".split()
)
"""The texts that these may have. One of an equation has letters, commas and an arrow."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The decisions of a user on tensors that cannot be told apart, by name."""

    replaced: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()


def refusals(model: onnx.ModelProto, choices: Choices) -> tuple[str, ...]:
    """Return a line for everything of a network that cannot be made anonymous, or that a user has to decide."""
    stored = roles(model)
    lines = [*_wrong_choices(choices, {each.name: each for each in stored}), *_strange_parts(model)]
    for each in stored:
        if each.role is Role.UNSURE and each.name not in choices.replaced | choices.kept:
            remedy = "--keep it" if each.why == "it holds strings" else "--replace or --keep it"
            lines.append(f"tensor {each.name!r} may be learned or decide what is computed ({each.why}); {remedy}")
    return tuple(lines)


def _wrong_choices(choices: Choices, stored: Mapping[str, StoredTensor]) -> Iterator[str]:
    """Yield a line for every decision that cannot be carried out."""
    for option, names in (("replace", choices.replaced), ("keep", choices.kept)):
        for name in sorted(names - stored.keys()):
            yield f"--{option} {name}: the network stores no such tensor"
    for name in sorted(choices.replaced & choices.kept):
        yield f"--replace {name} and --keep {name}: leave one of them out"
    for name in sorted(choices.replaced & stored.keys()):
        if lacking := _lacks_numbers(stored[name].tensor):
            yield f"--replace {name}: {lacking}; leave it out, or export the network without the tensor"


def _lacks_numbers(tensor: onnx.TensorProto) -> str:
    """Return why no numbers can be drawn in place of a tensor, or an empty text."""
    from onnx import numpy_helper  # noqa: PLC0415

    if tensors.type_name(tensor) == "STRING":
        return "it holds strings, which no numbers can replace"
    return "" if numpy_helper.to_array(tensor).any() else "it holds nothing but zeros, which stay zeros"


def _strange_parts(model: onnx.ModelProto) -> Iterator[str]:
    if len(model.training_info):
        yield "it holds information for training, which may be anything; export it for inference"
    opset = max((each.version for each in model.opset_import if each.domain in ONNX), default=1)
    for node in tensors.nodes(model.graph):
        yield from _strange_node(node, opset)
    for graph in tensors.nested(model.graph):
        for value in (*graph.input, *graph.output):
            if value.type.WhichOneof("value") not in {None, "tensor_type", "sequence_type", "optional_type"}:
                yield f"{value.name!r} is of a type that may hold names; export tensors"
    if len(model.graph.sparse_initializer):
        yield "it stores sparse tensors; export dense ones"


def _strange_node(node: onnx.NodeProto, opset: int) -> Iterator[str]:
    import onnx  # noqa: PLC0415

    if node.domain not in ONNX:
        where = f"operator {node.op_type!r} is one of {node.domain!r}"
        yield f"{where}, whose attributes are not known; export without it"
        return
    try:
        known = onnx.defs.get_schema(node.op_type, opset, "").attributes
    except onnx.defs.SchemaError:
        yield f"operator {node.op_type!r} is none of ONNX's in opset {opset}; export without it"
        return
    if node.op_type == "Constant" and not node.attribute:
        yield f"the constant {node.output[0]!r} has no value; export the network again"
    for attribute in node.attribute:
        named = f"attribute {attribute.name!r} of {node.op_type!r}"
        texts = [*([attribute.s] if attribute.HasField("s") else []), *attribute.strings]
        if attribute.name not in known:
            yield f"{named} is none of ONNX's; export without it"
        elif not all(_is_of_onnx(attribute.name, text) for text in texts):
            yield f"{named} holds a text; export without it"
        elif attribute.HasField("sparse_tensor") or len(attribute.sparse_tensors):
            yield f"{named} is a sparse tensor; export a dense one"
        elif attribute.HasField("tp") or len(attribute.type_protos):
            yield f"{named} holds a type; export without it"
        elif attribute.HasField("t") and node.op_type not in {"Constant", "ConstantOfShape"}:
            yield f"{named} holds a tensor; export it as an input"


def _is_of_onnx(name: str, text: bytes) -> bool:
    """Return true for a text that decides what is computed, and so can tell nothing else."""
    if name == "equation":
        return re.fullmatch(rb"[A-Za-z,.> -]*", text) is not None
    return name in _WORDS and text in _TEXTS
