"""The attributes of a network's operators, all of which stay in its anonymous form."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.networks import tensors

if TYPE_CHECKING:
    import onnx


@dataclass(frozen=True, slots=True, order=True)
class KeptAttribute:
    """One value of an attribute of an operator."""

    operator: str
    name: str
    value: str
    nodes: int
    """The number of nodes that have it."""


def kept_attributes(graph: onnx.GraphProto) -> tuple[KeptAttribute, ...]:
    """Return every value of every attribute in a graph, without the tensors of constants and the graphs in nodes."""
    counted = Counter(
        (node.op_type, attribute.name, _text(attribute))
        for node in tensors.nodes(graph)
        for attribute in node.attribute
        if node.op_type != "Constant" and not any(tensors.graphs(attribute))
    )
    return tuple(sorted(KeptAttribute(*what, nodes) for what, nodes in counted.items()))


def _text(attribute: onnx.AttributeProto) -> str:
    """Return the value of an attribute in one line."""
    import onnx  # noqa: PLC0415
    from onnx import numpy_helper  # noqa: PLC0415

    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value).ravel().tolist()
    values = value if isinstance(value, list) else [value]
    return ", ".join(_one(each) for each in values)


def _one(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return f"{value:.7g}" if isinstance(value, float) else str(value)
