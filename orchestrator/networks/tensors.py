"""The tensors that an ONNX file stores, wherever in its graph they are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx

BATCH = "batch"
"""The name of the first axis of a value where the file has none for it."""
_QUANTISED = ("INT8", "UINT8", "INT4", "UINT4")
_WIDTHS = {
    "FLOAT": 4, "DOUBLE": 8, "FLOAT16": 2, "BFLOAT16": 2, "INT8": 1, "UINT8": 1, "INT16": 2, "UINT16": 2, "INT32": 4,
    "UINT32": 4, "INT64": 8, "UINT64": 8, "BOOL": 1,
}  # fmt: skip
"""Bytes of a value by its type, of those that are stored one by one."""
_REAL = ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16")


def axis(value: onnx.ValueInfoProto, number: int) -> int | str:
    """Return the size of an axis of a value, or the name of one that is dynamic.

    One without a name is called `VALUE.NUMBER`. The first one is that of the batch, in whatever value. Some exporters
    write -1 or 0 for a dynamic axis.
    """
    dim = value.type.tensor_type.shape.dim[number]
    if dim.dim_value > 0:
        return int(dim.dim_value)
    return dim.dim_param or (f"{value.name}.{number}" if number else BATCH)


def every(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    """Yield every tensor of a graph: initial values, attributes of nodes, and those of the graphs within nodes."""
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            for inner in graphs(attribute):
                yield from every(inner)


def graphs(attribute: onnx.AttributeProto) -> Iterator[onnx.GraphProto]:
    """Yield the graphs that an attribute holds, as those of a loop or a condition do."""
    if attribute.HasField("g"):
        yield attribute.g
    yield from attribute.graphs


def location(tensor: onnx.TensorProto) -> str:
    """Return the file that holds the values of a tensor, relative to the ONNX file; empty if the file itself does."""
    return next((each.value for each in tensor.external_data if each.key == "location"), "")


def type_name(tensor: onnx.TensorProto) -> str:
    """Return the name of a tensor's type as ONNX has it, such as `FLOAT`."""
    import onnx  # noqa: PLC0415 - takes a tenth of a second

    name: str = onnx.TensorProto.DataType.Name(tensor.data_type)
    return name


def size(tensor: onnx.TensorProto) -> int:
    """Return the number of values of a tensor."""
    return math.prod(tensor.dims)


def require_values(tensor: onnx.TensorProto) -> None:
    """Raise `ValueError` if a tensor holds another number of values than its shape says."""
    if any(extent < 0 for extent in tensor.dims):
        raise ValueError(f"the tensor {tensor.name!r} has an axis below 0")
    width = _WIDTHS.get(type_name(tensor))
    if width is not None and tensor.HasField("raw_data") and len(tensor.raw_data) != size(tensor) * width:
        raise ValueError(f"the tensor {tensor.name!r} has other values than its shape {list(tensor.dims)} says")


def parameters(model: onnx.ModelProto) -> int:
    """Count the values of the real and the quantised tensors that a file stores, without single numbers.

    A single number is an epsilon or a scale far more often than a weight. The container counts the same way.
    """
    counted = (*_REAL, *_QUANTISED)
    return sum(size(each) for each in every(model.graph) if size(each) > 1 and type_name(each) in counted)


def nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """Yield the nodes of a graph and of those within it."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in graphs(attribute):
                yield from nodes(inner)


def nested(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and those within it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in graphs(attribute):
                yield from nested(inner)
