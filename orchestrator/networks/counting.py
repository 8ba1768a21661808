"""The multiply-adds of a graph, from the shapes that ONNX infers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from orchestrator.networks import tensors

if TYPE_CHECKING:
    import onnx

_SMALL = 4096
"""Values up to which a tensor may decide a shape, so that it is kept for the inference of shapes."""
_ONNX = ("", "ai.onnx")
_CONTROL = ("If", "Loop", "Scan")
_UNCOUNTED = ("Attention", "DeformConv")
"""Operators that multiply, and are not counted here."""
Shape = tuple[int, ...] | None
_Shapes = Sequence[Shape]


def multiply_adds(model: onnx.ModelProto, sizes: Mapping[str, int]) -> int | None:
    """Count the multiply-adds of a forward pass, in convolutions and matrix products alone.

    `sizes` are those of the dynamic axes by name. Returns None where the graph does not tell: in operators that are
    not ONNX's own, in loops and conditions, and where no shape can be inferred.
    """
    try:
        return _counted(inlined(model), sizes)
    except Exception:  # what ONNX cannot infer, engines may run; each release says it in its own way
        return None


def _counted(flat: onnx.ModelProto, sizes: Mapping[str, int]) -> int | None:
    if any(node.domain not in _ONNX or node.op_type in (*_CONTROL, *_UNCOUNTED) for node in flat.graph.node):
        return None
    shapes = inferred(flat, sizes)
    total = 0
    for node in flat.graph.node:
        counted = _COUNTED.get(node.op_type)
        if counted:
            taken = [shapes.get(name) for name in node.input]
            total += counted(node, taken, [shapes.get(name) for name in node.output])
    return total


def inferred(model: onnx.ModelProto, sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the values of a graph, as far as they can be inferred."""
    import onnx  # noqa: PLC0415 - takes a tenth of a second

    known = onnx.shape_inference.infer_shapes(_with_sizes(_light(model), sizes), data_prop=True)
    values = (*known.graph.input, *known.graph.value_info, *known.graph.output)
    shapes = {value.name: _shape(value) for value in values}
    shapes.update((each.name, tuple(each.dims)) for each in model.graph.initializer)
    return {name: shape for name, shape in shapes.items() if shape is not None}


def inlined(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model with its own functions put in the place of their calls."""
    import onnx.inliner  # noqa: PLC0415

    return onnx.inliner.inline_local_functions(model) if model.functions else model


def _light(model: onnx.ModelProto) -> onnx.ModelProto:
    """Copy a model without the values of its large tensors, which become inputs of the same shape."""
    import onnx  # noqa: PLC0415

    light = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import)
    graph, own = light.graph, model.graph
    graph.name = "shapes"
    graph.node.extend(own.node)
    graph.output.extend(own.output)
    held = {each.name for each in own.initializer}
    graph.input.extend(value for value in own.input if value.name not in held)
    for each in own.initializer:
        if tensors.size(each) > _SMALL or tensors.location(each):
            graph.input.append(onnx.helper.make_tensor_value_info(each.name, each.data_type, list(each.dims)))
        else:
            graph.initializer.append(each)
    return light


def _with_sizes(model: onnx.ModelProto, sizes: Mapping[str, int]) -> onnx.ModelProto:
    for value in model.graph.input:
        for number, dim in enumerate(value.type.tensor_type.shape.dim):
            name = tensors.axis(value, number)
            if isinstance(name, str) and name in sizes:
                dim.dim_value = sizes[name]
    return model


def _shape(value: onnx.ValueInfoProto) -> Shape:
    kind = value.type.tensor_type
    if not kind.HasField("shape") or not all(dim.HasField("dim_value") for dim in kind.shape.dim):
        return None
    return tuple(dim.dim_value for dim in kind.shape.dim)


def _convolution(weight: int) -> Callable[[onnx.NodeProto, _Shapes, _Shapes], int]:
    """Return what counts a convolution whose weight is the input of that number."""
    return lambda _node, taken, given: math.prod(_known(given[0])) * math.prod(_known(taken[weight])[1:])


def _transposed(_node: onnx.NodeProto, taken: _Shapes, _given: _Shapes) -> int:
    return math.prod(_known(taken[0])) * math.prod(_known(taken[1])[1:])


def _gemm(node: onnx.NodeProto, taken: _Shapes, given: _Shapes) -> int:
    rows, columns = _known(taken[0])
    turned = any(each.name == "transA" and each.i for each in node.attribute)
    return math.prod(_known(given[0])) * (rows if turned else columns)


def _product(_node: onnx.NodeProto, taken: _Shapes, given: _Shapes) -> int:
    return math.prod(_known(given[0])) * _known(taken[0])[-1]


def _recurrent(_node: onnx.NodeProto, taken: _Shapes, _given: _Shapes) -> int:
    steps = math.prod(_known(taken[0])[:2])
    return steps * (math.prod(_known(taken[1])) + math.prod(_known(taken[2])))


def _einsum(node: onnx.NodeProto, taken: _Shapes, _given: _Shapes) -> int:
    """Count a contraction by the product of all its indices. Raises `KeyError` for one with an ellipsis."""
    equation = next(each.s.decode() for each in node.attribute if each.name == "equation").replace(" ", "")
    if "." in equation:
        raise KeyError(equation)
    operands = equation.partition("->")[0].split(",")
    if len(operands) < 2:
        return 0
    extents = {
        letter: extent
        for letters, shape in zip(operands, taken, strict=True)
        for letter, extent in zip(letters, _known(shape), strict=True)
    }
    return math.prod(extents.values()) * (len(operands) - 1)


def _known(shape: Shape) -> tuple[int, ...]:
    if shape is None:
        raise TypeError("no shape is known")
    return shape


_COUNTED: Mapping[str, Callable[[onnx.NodeProto, _Shapes, _Shapes], int]] = {
    "Conv": _convolution(1),
    "ConvInteger": _convolution(1),
    "QLinearConv": _convolution(3),
    "ConvTranspose": _transposed,
    "Gemm": _gemm,
    "MatMul": _product,
    "MatMulInteger": _product,
    "QLinearMatMul": _product,
    "LSTM": _recurrent,
    "GRU": _recurrent,
    "RNN": _recurrent,
    "Einsum": _einsum,
}
