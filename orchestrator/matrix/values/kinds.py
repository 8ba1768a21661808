"""Kinds of values in a matrix file, with their part of the JSON Schema, and the patterns of names.

The patterns also bind plans from elsewhere.
"""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    StrictInt,
    WrapValidator,
)
from pydantic import WithJsonSchema as Schema
from pydantic_core import CoreSchema, core_schema

from orchestrator import limits, modes
from orchestrator.domain import Mode, OptionValue
from orchestrator.matrix.model import parse_pin, pin_key, release_key
from orchestrator.matrix.values import units
from orchestrator.modes.parts.frontier import FRONTIER
from orchestrator.modes.parts.largest_batch import MAX, BatchSize

MAX_WORD = 100
WORD = r"^[A-Za-z0-9][A-Za-z0-9._+-]*$"
SYSTEM_NAME = r"^[a-z0-9][a-z0-9_.-]{0,39}$"
DISTRIBUTION = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"
METRIC = r"^[A-Za-z][A-Za-z0-9_.-]{0,59}$"
DATASET = r"^[a-z][a-z0-9_-]{0,39}$"
INPUT = r"^[a-z][a-z0-9_]{0,39}$"
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]{0,254}$"
PYTHON = r"^[23]\.[0-9]{1,2}$"
CUDA = r"^[0-9]{1,2}\.[0-9]{1,2}$"
IMAGE = r"^[A-Za-z0-9\[][A-Za-z0-9._:/@+\[\]-]{0,511}$"
"""An image as engines name it: by repository, tag, digest or id."""
UNIT = r"^[^\x00-\x1f\x7f-\x9f]{1,100}$"
ARGUMENT = r"^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*$"
"""An argument may hold several lines."""
MAX_PATTERN = 1000
"""Characters of a regular expression."""
MAX_TEXT = 32_768
"""Characters of an argument, or of the value of an environment variable."""
MAX_ARGUMENTS = 1000

Item = TypeVar("Item")
MODEL_MODES = tuple(Mode(name) for name in modes.OF_MODELS)
if TYPE_CHECKING:
    ModelMode = Mode
else:
    ModelMode = Literal[MODEL_MODES]


def _as_it_is(value: object) -> Hashable:
    return type(value), value


@dataclass(frozen=True)
class _AxisForm:
    """One value or a list of distinct values, where a list is an axis of the matrix."""

    identity: Callable[[Any], Hashable] = _as_it_is
    """Return a key that two values share if they mean the same."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        items = core_schema.no_info_before_validator_function(_listed, handler(source))
        return core_schema.no_info_after_validator_function(self._distinct, items)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        listed = handler(schema)
        return {"anyOf": [listed.get("items", {}), {**listed, "minItems": 1, "uniqueItems": True}]}

    def _distinct(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if not values:
            raise ValueError("is an empty list, which leaves nothing to run; name a value or drop the key")
        seen: dict[Hashable, Any] = {}
        for value in values:
            key = self.identity(value)
            if key in seen:
                raise ValueError(_repeated(seen[key], value))
            seen[key] = value
        return values


def _repeated(first: object, value: object) -> str:
    if first == value:
        return f"lists {shown(value)} twice"
    return f"lists {shown(first)} and {shown(value)}, which are the same release; keep one"


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


Axis = Annotated[tuple[Item, ...], _AxisForm()]
Versions = Annotated[tuple[Item, ...], _AxisForm(release_key)]
Pins = Annotated[tuple[Item, ...], _AxisForm(pin_key)]


def _written(value: object) -> object:
    """Return the text that a number was written as, or any other value unchanged."""
    return getattr(value, "text", value)


def _scalar(value: object) -> OptionValue:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        if isinstance(value, bool):
            return value
        raise ValueError(f"{shown(value)} is no single value such as true, 2 or a word")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{shown(value)} is no number that a framework can be given; a word stands in quotes")
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    return value


def shown(value: object) -> str:
    """Return any value as a message quotes it, short and on one line."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, Enum):
        value = value.value
    text = repr(getattr(value, "text", value)) if isinstance(value, str) else str(getattr(value, "text", value))
    if isinstance(value, bool):
        text = text.lower()
    return text if len(text) <= 60 else text[:57] + "…"


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    is_complete = parts.scheme == "file" or (parts.scheme in {"http", "https"} and parts.netloc)
    if not is_complete or len(text.split()) != 1:
        # The message does not quote the text, which may hold a password.
        raise ValueError("is no URL; write one such as https://pypi.org/simple")
    return text


def _pin(text: str) -> str:
    parse_pin(text)
    return " ".join(text.split())


_TEXT_OR_NUMBER = {"type": ["string", "number"]}

Text = Annotated[str, BeforeValidator(_written)]
Url = Annotated[Text, AfterValidator(_url)]
Word = Annotated[Text, Field(pattern=WORD, max_length=MAX_WORD)]
VersionText = Annotated[Word, Schema({**_TEXT_OR_NUMBER, "examples": ["1.9.1"]})]
PythonText = Annotated[Text, Field(pattern=PYTHON), Schema({**_TEXT_OR_NUMBER, "examples": ["3.11"]})]
CudaText = Annotated[Text, Field(pattern=CUDA)]
ImageText = Annotated[Text, Field(min_length=1, max_length=512, pattern=IMAGE)]
PinText = Annotated[
    Text, AfterValidator(_pin), Schema({"type": "string", "examples": ["mxnet==1.9.1", "keras-mxnet on mxnet<1.6"]})
]
Scalar = Annotated[OptionValue, BeforeValidator(_scalar), Schema({"type": ["boolean", "integer", "number", "string"]})]
Positive = Annotated[StrictInt, Field(ge=1, le=limits.MAX_COUNT)]


def _or_max(value: object, number: Callable[[object], int]) -> BatchSize:
    return MAX if value == MAX else number(value)


def _or_frontier(value: object, batch: Callable[[object], BatchSize]) -> BatchSize:
    return FRONTIER if value == FRONTIER else batch(value)


def _unchanged(size: BatchSize) -> BatchSize:
    return size


if TYPE_CHECKING:
    Batch = BatchSize
else:
    Batch = Annotated[
        Positive,
        WrapValidator(_or_max),
        PlainSerializer(_unchanged),
        Schema({"anyOf": [{"type": "integer", "minimum": 1, "maximum": limits.MAX_COUNT}, {"const": MAX}]}),
    ]
if TYPE_CHECKING:
    ModelBatch = BatchSize
else:
    ModelBatch = Annotated[
        Positive,
        WrapValidator(_or_max),
        WrapValidator(_or_frontier),
        PlainSerializer(_unchanged),
        Schema({"anyOf": [
            {"type": "integer", "minimum": 1, "maximum": limits.MAX_COUNT}, {"const": MAX}, {"const": FRONTIER},
        ]}),
    ]  # fmt: skip
Seconds = Annotated[
    float,
    BeforeValidator(units.duration_s),
    Schema({
        "anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": "^[0-9][0-9.hms ]*$"}],
        "examples": ["90s", "10m", "1h30m", 600],
    }),
]  # fmt: skip


def _size_schema(least: int) -> dict[str, Any]:
    forms = [{"type": "integer", "minimum": least}, {"type": "string", "pattern": "^[0-9.]+ *[kmgtKMGT]([iI]?[bB])?$"}]
    return {"anyOf": forms, "examples": ["8g", "512m"]}


Bytes = Annotated[int, BeforeValidator(units.size_bytes), Schema(_size_schema(limits.MIN_BYTES))]
OutputBytes = Annotated[int, BeforeValidator(units.output_bytes), Schema(_size_schema(limits.MIN_OUTPUT_BYTES))]
