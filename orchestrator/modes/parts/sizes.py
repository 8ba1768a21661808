"""The sizes of models, whose axes a matrix may set by name or one by one."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final

from pydantic import Field

AXES: Final[Mapping[str, str]] = MappingProxyType({
    "width": "Features of a step.",
    "depth": "Layers that are alike.",
    "heads": "Heads of an attention.",
    "shared_heads": "Heads of keys and values, which heads of queries share.",
    "sequence": "Steps of a sequence.",
    "vocabulary": "Tokens that there are.",
})  # fmt: skip
"""Axes that a model may have, with what each is."""
SIZE: Final = "size"
"""The key of a size in a matrix."""
OwnSize = Annotated[str, Field(exclude_if=lambda size: not size)]
"""The size of a cell's model with the axes that differ from it, such as `tiny-sequence=64`. Most models have none."""


def size_text(size: str, changed: Mapping[str, int]) -> str:
    """Return what a cell's id says of its size."""
    return size + "".join(f"-{axis}={value}" for axis, value in changed.items())


def named_size(text: str) -> str:
    """Return the name of the size in such a text."""
    return text.partition("-")[0]
