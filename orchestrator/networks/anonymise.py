"""A network without what is learned and without a name: the same operators and shapes, with numbers by chance.

What it writes is made anew of the parts that are known to hold nothing, so that nothing is forgotten that a later
version of ONNX may add to a file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.networks import axes, counting, tensors
from orchestrator.networks.attributes import KeptAttribute, kept_attributes
from orchestrator.networks.drawing import replacement
from orchestrator.networks.refusals import ONNX, Choices
from orchestrator.networks.roles import Role, StoredTensor, roles

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import onnx

_AS_NUMBERS = {"value_float": "float32", "value_floats": "float32", "value_int": "int64", "value_ints": "int64"}
"""Attributes of a constant that are numbers and no tensor, with the type that they stand for."""
_OURS = re.compile(r"|(input|output|axis)_[0-9]+|[vn][0-9]+|network|inner|batch")
"""Names that are given here, which a network may have had before."""


@dataclass(frozen=True, slots=True)
class Anonymised:
    """A network that may leave the house, and what was done to it."""

    model: onnx.ModelProto
    replaced: tuple[StoredTensor, ...]
    kept: tuple[StoredTensor, ...]
    inputs: Mapping[str, str]
    """Former name of each input → its name now."""
    outputs: Mapping[str, str]
    axes: Mapping[str, str]
    """Former name of each dynamic axis → its name now."""
    attributes: tuple[KeptAttribute, ...] = ()
    """All attributes of operators, which stay."""
    renamed: tuple[str, ...] = ()
    """Names now of what was replaced."""

    def axis(self, name: str) -> str:
        """Return the name now of a dynamic axis, which is one without a name as `INPUT.NUMBER`."""
        value, _, number = name.rpartition(".")
        return self.axes.get(name) or (f"{self.inputs[value]}.{number}" if value in self.inputs else name)


def prepared(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a network that is easier to read, and computes the same.

    Its own functions are put in the place of their calls, every constant is a tensor, and no two values have one name.
    """
    import onnx  # noqa: PLC0415
    from onnx import numpy_helper  # noqa: PLC0415

    flat = onnx.ModelProto()
    flat.CopyFrom(counting.inlined(model))
    for node in tensors.nodes(flat.graph):
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name in _AS_NUMBERS:
            kind = _AS_NUMBERS[node.attribute[0].name]
            given = node.attribute[0]
            values = {"value_float": given.f, "value_int": given.i}.get(given.name, given.floats or given.ints)
            made = numpy_helper.from_array(_array(values, kind))
            given.Clear()
            given.name, given.type = "value", given.TENSOR
            given.t.CopyFrom(made)
    _tell_names_apart(flat.graph, {}, set())
    return flat


def _tell_names_apart(graph: onnx.GraphProto, outside: Mapping[str, str], taken: set[str]) -> None:
    """Give a value another name if one of another graph has it, as values of both branches of a condition may."""
    known = dict(outside)
    own = [*(each.name for each in graph.input), *(each.name for each in graph.initializer)]
    for name in dict.fromkeys([*own, *(name for node in graph.node for name in node.output)]):
        known[name] = name
        while name and known[name] in taken:
            known[name] += "'"
    taken.update(known.values())
    for value in (*graph.input, *graph.initializer, *graph.output, *graph.value_info):
        value.name = known.get(value.name, value.name)
    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = [known.get(name, name) for name in names]
        for attribute in node.attribute:
            for inner in tensors.graphs(attribute):
                _tell_names_apart(inner, known, taken)


def _array(values: object, kind: str) -> npt.NDArray[np.generic]:
    """Return numbers as an array of a type."""
    import numpy as np  # noqa: PLC0415

    return np.array(values if isinstance(values, (int, float)) else list(values), kind)  # type: ignore[call-overload]


def anonymised(model: onnx.ModelProto, choices: Choices, seed: int) -> Anonymised:
    """Return a network for which `refusals` has nothing to say, without what is learned and without its names."""
    return _Writer(model, choices, seed).written()


class _Writer:
    """A network as it is written anew."""

    def __init__(self, model: onnx.ModelProto, choices: Choices, seed: int) -> None:
        self._model, self._seed = model, seed
        self._stored = roles(model)
        self._replaced = {each.name for each in self._stored if _is_replaced(each, choices)}
        self._names: dict[str, str] = {"": ""}
        self._axes: dict[str, str] = {}
        self._ordinals: dict[bytes, int] = {}
        self._count = 0

    def written(self) -> Anonymised:
        import onnx  # noqa: PLC0415 - takes a tenth of a second

        graph = self._model.graph
        held = {each.name for each in graph.initializer}
        inputs = [value.name for value in graph.input if value.name not in held]
        for kind, names in (("input", inputs), ("output", [value.name for value in graph.output])):
            self._names.update((name, f"{kind}_{number}") for number, name in enumerate(names))
        made = onnx.helper.make_model(self._graph(graph, "network"), opset_imports=self._opsets())
        made.ir_version = self._model.ir_version
        made.producer_name = ""
        return Anonymised(
            model=made,
            replaced=tuple(each for each in self._stored if each.name in self._replaced),
            kept=tuple(each for each in self._stored if each.name not in self._replaced),
            inputs={name: self._names[name] for name in inputs},
            outputs={value.name: self._names[value.name] for value in graph.output},
            axes=dict(self._axes),
            attributes=kept_attributes(self._model.graph),
            renamed=tuple(self._names[each.name] for each in self._stored if each.name in self._replaced),
        )

    def _opsets(self) -> Sequence[onnx.OperatorSetIdProto]:
        import onnx  # noqa: PLC0415

        return [onnx.helper.make_opsetid("", each.version) for each in self._model.opset_import if each.domain in ONNX]

    def _name(self, name: str) -> str:
        if name not in self._names:
            self._names[name] = f"v{len(self._names)}"
        return self._names[name]

    def _graph(self, graph: onnx.GraphProto, name: str) -> onnx.GraphProto:
        import onnx  # noqa: PLC0415

        return onnx.helper.make_graph(
            [self._node(node) for node in graph.node],
            name,
            [self._value(value) for value in graph.input],
            [self._value(value) for value in graph.output],
            [self._tensor(each, each.name) for each in graph.initializer],
        )

    def _value(self, value: onnx.ValueInfoProto) -> onnx.ValueInfoProto:
        import onnx  # noqa: PLC0415

        kind = onnx.TypeProto()
        kind.CopyFrom(value.type)
        self._rename_axes(kind)
        return onnx.helper.make_value_info(self._name(value.name), kind)

    def _rename_axes(self, kind: onnx.TypeProto) -> None:
        """Rename the dynamic axes of a type, and drop what else it may say in words."""
        kind.ClearField("denotation")
        inner = kind.WhichOneof("value")
        if inner in {"sequence_type", "optional_type"}:
            self._rename_axes(getattr(kind, inner).elem_type)
        elif inner == "tensor_type":
            for dim in kind.tensor_type.shape.dim:
                dim.ClearField("denotation")
                if dim.dim_param:
                    dim.dim_param = self._axes.setdefault(dim.dim_param, self._axis(dim.dim_param))

    def _axis(self, name: str) -> str:
        """Return another name of an axis. That of the batch is kept, as it says which axis is the batch."""
        is_batch = axes.is_called_batch(name) and tensors.BATCH not in self._axes.values()
        return tensors.BATCH if is_batch else f"axis_{len(self._axes)}"

    def _node(self, node: onnx.NodeProto) -> onnx.NodeProto:
        import onnx  # noqa: PLC0415

        made = onnx.NodeProto(op_type=node.op_type, name=f"n{self._count}")
        self._count += 1
        made.input.extend(map(self._name, node.input))
        made.output.extend(map(self._name, node.output))
        of_constant = node.output[0] if node.op_type == "Constant" else None
        made.attribute.extend(self._attribute(each, of_constant) for each in node.attribute)
        return made

    def _attribute(self, attribute: onnx.AttributeProto, of_constant: str | None) -> onnx.AttributeProto:
        import onnx  # noqa: PLC0415

        made = onnx.AttributeProto(name=attribute.name, type=attribute.type)
        for field in ("f", "i", "s"):
            if attribute.HasField(field):
                setattr(made, field, getattr(attribute, field))
        for field in ("floats", "ints", "strings"):
            getattr(made, field).extend(getattr(attribute, field))
        if attribute.HasField("t"):
            made.t.CopyFrom(self._tensor(attribute.t, of_constant))
        made.tensors.extend(self._tensor(each, None) for each in attribute.tensors)
        if attribute.HasField("g"):
            made.g.CopyFrom(self._graph(attribute.g, "inner"))
        made.graphs.extend(self._graph(each, "inner") for each in attribute.graphs)
        return made

    def _ordinal(self, values: npt.NDArray[np.generic]) -> int:
        """Return a number of a tensor by its place among those that are replaced; equal tensors have one.

        Numbers that were drawn by the content itself would let others who guess it prove the guess.
        """
        content = hashlib.sha256(f"{values.dtype} {values.shape} ".encode() + values.tobytes()).digest()
        return self._ordinals.setdefault(content, len(self._ordinals))

    def _tensor(self, tensor: onnx.TensorProto, name: str | None) -> onnx.TensorProto:
        """Write a tensor anew: by chance where it is learned, else with its values alone."""
        from onnx import numpy_helper  # noqa: PLC0415

        values = numpy_helper.to_array(tensor)
        if name in self._replaced:
            values = replacement(values, self._seed, self._ordinal(values))
        made = numpy_helper.from_array(values, self._name(name) if name else "")
        if made.data_type != tensor.data_type:  # of a type that NumPy does not have
            made.data_type = tensor.data_type
        return made


def _is_replaced(stored: StoredTensor, choices: Choices) -> bool:
    if stored.name in choices.kept:
        return False
    return stored.role is Role.LEARNED or stored.name in choices.replaced


def left(model: onnx.ModelProto, made: Anonymised) -> tuple[str, ...]:
    """Return a line for everything of a network that its anonymous form still holds, which should be nothing."""
    from onnx import numpy_helper  # noqa: PLC0415

    shared = sorted(set(_texts(model)) & set(_texts(made.model)))
    lines = [f"the name {text!r} is left" for text in shared if not _OURS.fullmatch(text)]
    now = {each.name: each.tensor for each in roles(made.model)}
    for each, name in zip(made.replaced, made.renamed, strict=True):
        former, values = numpy_helper.to_array(each.tensor), numpy_helper.to_array(now[name])
        counted = former != 0
        if (former == values)[counted].mean() > (1 + _equal_by_chance(former[counted])) / 2:
            lines.append(f"the values of {each.name!r} are left")
    return tuple(lines)


def _equal_by_chance(values: npt.NDArray[np.generic]) -> float:
    """Return the share of values that would be equal to those of a tensor by chance, if drawn from the same tensor."""
    import numpy as np  # noqa: PLC0415

    _, counts = np.unique(values, return_counts=True)
    return float(((counts / max(1, values.size)) ** 2).sum())


def _texts(model: onnx.ModelProto) -> Iterator[str]:
    """Yield every text of a network, without the words of ONNX itself."""
    yield from (model.producer_name, model.producer_version, model.domain, model.doc_string)
    for entry in model.metadata_props:
        yield from (entry.key, entry.value)
    for graph in tensors.nested(model.graph):
        yield from (graph.name, graph.doc_string)
        yield from (each.name for each in graph.initializer)
        for value in (*graph.input, *graph.output, *graph.value_info):
            yield from (value.name, value.doc_string)
            yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)
        for node in graph.node:
            yield from (node.name, node.doc_string, *node.input, *node.output)
