"""The role of each tensor that a network stores: learned, deciding what is computed, or not to be told apart.

A role follows from where the operators of ONNX take the tensor, and where that leaves it open, from its values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from orchestrator.networks import tensors
from orchestrator.networks.usual_numbers import DIGITS, MASKS, is_usual

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import onnx


class Role(StrEnum):
    """The fate of a stored tensor in a network without what is learned."""

    LEARNED = "learned"
    """It is replaced by numbers by chance."""
    DECIDING = "deciding"
    """It decides a shape or a computation, and stays."""
    UNSURE = "unsure"
    """It may be either."""


@dataclass(frozen=True, slots=True)
class Use:
    """A place that takes a tensor: the number of an input of an operator."""

    operator: str
    position: int
    of_stored: bool = False
    """True for indices into a table that is stored too, which may be a code of what is learned."""

    def __str__(self) -> str:
        """Return the use in words, such as `input 1 of Conv`."""
        return f"input {self.position} of {self.operator}"


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A stored tensor with its role."""

    name: str
    tensor: onnx.TensorProto
    role: Role
    why: str
    """In a few words."""


SINGLE_NUMBER = "a single number"
_PASSED_ON = frozenset({
    "Identity", "Cast", "CastLike", "Transpose", "Squeeze", "Unsqueeze", "Reshape", "Flatten", "Expand", "Slice",
    "Split", "Tile", "Pad", "Concat", "QuantizeLinear", "DequantizeLinear",
})  # fmt: skip
"""Operators that hand the values of their first input on; `Concat` those of all."""
_LEARNED: Mapping[str, tuple[int, ...]] = {
    "Conv": (1, 2), "ConvTranspose": (1, 2), "DeformConv": (1, 3), "Gemm": (0, 1, 2), "MatMul": (0, 1), "Einsum":
    (0, 1), "BatchNormalization": (1, 2, 3, 4), "InstanceNormalization": (1, 2), "LayerNormalization": (1, 2),
    "GroupNormalization": (1, 2), "RMSNormalization": (1,), "LSTM": (1, 2, 3, 5, 6, 7), "GRU": (1, 2, 3, 5), "RNN":
    (1, 2, 3, 5), "PRelu": (1,), "Attention": (0, 1, 2), "ConvInteger": (1,), "MatMulInteger": (0, 1),
    "QLinearConv": (1, 3, 4, 5, 6, 8), "QLinearMatMul": (0, 1, 3, 4, 6),
}  # fmt: skip
"""Inputs of operators that hold weights, or scales and zero points that come from weights."""
_QUANTISING: Mapping[str, tuple[int, ...]] = {"QuantizeLinear": (1, 2), "DequantizeLinear": (1, 2)}
_DECIDING: Mapping[str, tuple[int, ...]] = {
    "Reshape": (1,), "Slice": (1, 2, 3, 4), "Squeeze": (1,), "Unsqueeze": (1,), "Expand": (1,), "Tile": (1,), "Pad":
    (1, 2, 3), "Resize": (1, 2, 3), "Upsample": (1,), "Gather": (1,), "GatherElements": (1,), "GatherND": (1,),
    "ScatterND": (1,), "ScatterElements": (1,), "TopK": (1,), "Split": (1,), "Range": (0, 1, 2), "ConstantOfShape":
    (0,), "OneHot": (1, 2), "Clip": (1, 2), "ReduceSum": (1,), "ReduceMean": (1,), "ReduceMax": (1,), "ReduceMin":
    (1,), "ReduceProd": (1,), "ReduceL1": (1,), "ReduceL2": (1,), "ReduceSumSquare": (1,), "ReduceLogSum": (1,),
    "ReduceLogSumExp": (1,), "CumSum": (1,), "Dropout": (1, 2), "Trilu": (1,), "Loop": (0, 1), "If": (0,), "LSTM":
    (4,), "GRU": (4,), "RNN": (4,), "NonMaxSuppression": (2, 3, 4), "CenterCropPad": (1,), "AffineGrid": (1,),
    "BatchNormalization": (), "DFT": (1, 2), "RotaryEmbedding": (3,),
}  # fmt: skip
"""Inputs of operators that decide a shape, an axis, an index or a bound."""
_ELEMENTWISE = frozenset({
    "Add", "Sub", "Mul", "Div", "Pow", "Where", "Min", "Max", "Mean", "Sum", "Mod", "Equal", "Greater",
    "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "Not", "Neg", "Sqrt", "Exp", "Abs", "Reciprocal",
    "Sigmoid", "Tanh", "Softmax", "Softplus", "Relu", "Erf", "Cos", "Sin", "BitShift", "BitwiseAnd", "Floor",
    "Ceil", "Round",
})  # fmt: skip
"""Operators that take learned values, such as a bias, and others, such as a mask, at the same place."""
_NOTHING = -100.0
"""The largest number that a softmax is given for what is masked."""
_UNLEARNED = (0, 1, 128)
"""Single numbers that no training yields: weights before it, and the zero points of what is symmetrical."""
_FEWEST = 3
"""Different values up to which a tensor of more values may be a code, such as weights of −1, 0 and 1."""
_FEW = 16
"""Whole numbers up to which a tensor is taken for axes or sizes, wherever it is used."""


def roles(model: onnx.ModelProto) -> tuple[StoredTensor, ...]:
    """Return every stored tensor of a model with its role, in the order of the file."""
    from onnx import numpy_helper  # noqa: PLC0415 - takes a tenth of a second

    uses = _Uses(model.graph, frozenset(name for name, _ in _named(model.graph)))
    found = []
    for name, tensor in _named(model.graph):
        if tensors.type_name(tensor) == "STRING":
            found.append(StoredTensor(name, tensor, Role.UNSURE, "it holds strings"))
            continue
        values = numpy_helper.to_array(tensor) if not tensors.location(tensor) else None
        role, why = _role(tensor, values, tuple(uses.of(name)))
        found.append(StoredTensor(name, tensor, role, why))
    return tuple(found)


def _named(graph: onnx.GraphProto) -> Iterator[tuple[str, onnx.TensorProto]]:
    """Yield the tensors that are values of a graph or of one within it, with their names."""
    for tensor in graph.initializer:
        yield tensor.name, tensor
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.HasField("t"):
                yield node.output[0], attribute.t
            for inner in tensors.graphs(attribute):
                yield from _named(inner)


class _Uses:
    """The places that take each value of a graph. Names are its own over all graphs within it."""

    def __init__(self, graph: onnx.GraphProto, stored: frozenset[str]) -> None:
        self._stored = stored
        self._takers: dict[str, list[tuple[onnx.NodeProto, int]]] = {}
        self._outputs: set[str] = set()
        self._add(graph)

    def _add(self, graph: onnx.GraphProto) -> None:
        self._outputs.update(value.name for value in graph.output)
        for node in graph.node:
            for position, name in enumerate(node.input):
                self._takers.setdefault(name, []).append((node, position))
            for attribute in node.attribute:
                for inner in tensors.graphs(attribute):
                    self._add(inner)

    def of(self, name: str) -> Iterator[Use]:
        """Yield the uses of a value, those of what hands it on in its place."""
        found, waiting = {name}, [name]
        while waiting:
            value = waiting.pop()
            if value in self._outputs:
                yield Use("the output", 0)
            for node, position in self._takers.get(value, ()):
                if node.op_type in _PASSED_ON and (position == 0 or node.op_type == "Concat"):
                    fresh = [output for output in node.output if output not in found]
                    found.update(fresh)
                    waiting += fresh
                else:
                    is_index = node.op_type.startswith("Gather") and position == 1
                    yield Use(node.op_type, position, of_stored=is_index and node.input[0] in self._stored)


def _role(tensor: onnx.TensorProto, values: npt.NDArray[np.generic] | None, uses: tuple[Use, ...]) -> tuple[Role, str]:
    """Return the role of a tensor with the reason, from its uses and, where these leave it open, its values."""
    digits = DIGITS.get(tensors.type_name(tensor), 0)
    is_real = digits > 0
    by_place = _by_place(uses, is_real=is_real)
    if tensors.size(tensor) <= 1 or (values is not None and (values == values.flat[0]).all()):
        is_learned = by_place is not None and by_place[0] is Role.LEARNED
        if by_place and is_learned and values is not None and values.size and values.flat[0] not in _UNLEARNED:
            return by_place
        if (
            by_place is None
            and is_real
            and (values is None or (values.size and not is_usual(float(values.flat[0]), digits)))
        ):
            return Role.UNSURE, f"a number that no usual computation gives, at {uses[0]}"
        return Role.DECIDING, SINGLE_NUMBER if tensors.size(tensor) <= 1 else "all its values are one number"
    if by_place is not None:
        return by_place
    strange = next((use for use in uses if not _is_known(use)), None)
    if strange is not None or values is None:
        return Role.UNSURE, str(strange or uses[0])
    return _by_values(values, uses[0]) if is_real else _by_whole_numbers(values, uses[0])


def _by_place(uses: tuple[Use, ...], *, is_real: bool) -> tuple[Role, str] | None:
    """Return the role that the places of a tensor give it, or None if they leave it open."""
    if not uses:
        return Role.LEARNED, "nothing uses it"
    for use in uses:
        if use.position in (*_LEARNED.get(use.operator, ()), *_QUANTISING.get(use.operator, ())):
            return Role.LEARNED, str(use)
        if is_real and _is_table(use):
            return Role.LEARNED, "a table that is looked up in"
    if all(use.position in _DECIDING.get(use.operator, ()) and not use.of_stored for use in uses):
        return Role.DECIDING, str(uses[0])
    return None


def _is_known(use: Use) -> bool:
    placed = use.position in _DECIDING.get(use.operator, ())
    return placed or use.operator in _ELEMENTWISE or _is_table(use)


def _is_table(use: Use) -> bool:
    return use.operator in {"Gather", "GatherElements", "GatherND"} and use.position == 0


def _by_values(values: npt.NDArray[np.generic], use: Use) -> tuple[Role, str]:
    import numpy as np  # noqa: PLC0415

    distinct = np.unique(values.astype(np.float64))
    masks = [*MASKS, -np.inf, float(np.finfo(np.float32).min), float(np.finfo(np.float16).min)]
    if distinct[0] <= _NOTHING and all(any(value == mask for mask in masks) for value in distinct):
        return Role.DECIDING, "a mask"
    if set(distinct) == {0.0, 1.0} and _is_triangular(values):
        return Role.DECIDING, "a mask"
    if len(distinct) <= _FEWEST < values.size or not np.isfinite(distinct).all():
        return Role.UNSURE, f"{use}, with {len(distinct)} different values"
    return Role.LEARNED, str(use)


def _is_triangular(values: npt.NDArray[np.generic]) -> bool:
    import numpy as np  # noqa: PLC0415

    if values.ndim < 2:
        return False
    return bool((np.tril(values) == values).all() or (np.triu(values) == values).all())


def _by_whole_numbers(values: npt.NDArray[np.generic], use: Use) -> tuple[Role, str]:
    import numpy as np  # noqa: PLC0415

    flat = values.ravel()
    if flat.size <= _FEW:
        return Role.DECIDING, str(use)
    if flat.dtype == bool:  # as a mask of what comes later, or one of weights that were cut off
        return (Role.DECIDING, "a mask") if _is_triangular(values) else (Role.UNSURE, f"a mask at {use}")
    steps = np.unique(np.diff(flat.astype(np.int64)))
    if len(steps) == 1:
        return Role.DECIDING, "a range of numbers"
    return Role.UNSURE, f"whole numbers at {use}"
