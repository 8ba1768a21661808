"""Facts a container reports, which are any JSON within generous bounds."""

import math
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator
from pydantic_core import to_json

MOST_BYTES = 2**20
MOST_VALUES = 10_000
MOST_DEPTH = 16


def _bounded(value: Any) -> Any:
    """Refuse facts that are too much to keep in a report, and what a number such as 1e999 becomes."""
    written = to_json(value, inf_nan_mode="constants")
    if len(written) > MOST_BYTES:
        raise ValueError(f"are more than {MOST_BYTES} bytes")
    for number, (inner, depth) in enumerate(_every(value)):
        if number > MOST_VALUES:
            raise ValueError(f"are more than {MOST_VALUES} values")
        if depth > MOST_DEPTH:
            raise ValueError(f"are nested more than {MOST_DEPTH} deep")
        if isinstance(inner, float) and not math.isfinite(inner):
            raise ValueError("holds a number beyond all bounds")
    return value


def _every(value: Any, depth: int = 0) -> Iterator[tuple[Any, int]]:
    """Yield each value with its depth. The caller sees the depth before a value is entered."""
    yield value, depth
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _every(inner, depth + 1)


Facts = Annotated[dict[str, Any], AfterValidator(_bounded)]
