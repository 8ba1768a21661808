"""The values that the inputs of a network are drawn from, checked against the types of the inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

KINDS = {
    "FLOAT": "float32", "DOUBLE": "float64", "FLOAT16": "float16", "INT8": "int8", "UINT8": "uint8",
    "INT16": "int16", "UINT16": "uint16", "INT32": "int32", "UINT32": "uint32", "INT64": "int64", "UINT64": "uint64",
    "BOOL": "bool",
}  # fmt: skip
"""Types of inputs that can be drawn, as ONNX and as NumPy name them."""
_REAL = ("float16", "float32", "float64")


@dataclass(frozen=True, slots=True)
class Drawn:
    """The values of an input, as a matrix asks for them."""

    below: int | None = None
    value: float | None = None


def is_real(kind: str) -> bool:
    """Return true for a type of real numbers, as NumPy has it."""
    return kind in _REAL


def problems(kind: str, drawn: Drawn) -> Iterator[str]:
    """Yield each reason that an input of a type, as NumPy has it, cannot have such values."""
    if drawn.value is not None and not math.isfinite(drawn.value):
        yield f"takes a number as `value`, not {drawn.value:g}"
    elif is_real(kind):
        if drawn.below is not None:
            yield "takes real numbers; `below` is of whole ones"
    else:
        yield from _problems_of_whole(kind, drawn)


def _problems_of_whole(kind: str, drawn: Drawn) -> Iterator[str]:
    least, largest = _range(kind)
    if drawn.below is not None and not 1 <= drawn.below <= largest + 1:
        yield f"takes {kind}; `below` is from 1 to {largest + 1}, not {drawn.below}"
    if drawn.value is not None and (drawn.value != int(drawn.value) or not least <= drawn.value <= largest):
        yield f"takes {kind}, whole numbers from {least} to {largest}; `value` is {drawn.value:g}"


def _range(kind: str) -> tuple[int, int]:
    """Return the least and the largest number of a type of whole numbers, or of truth values."""
    if kind == "bool":
        return 0, 1
    is_signed, bits = not kind.startswith("u"), int(kind.lstrip("uint"))
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)
