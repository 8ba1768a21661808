"""Columns and tables: their names, kinds, units and descriptions, and how a row is made of stored values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import Any

from pydantic_core import to_json

SCHEMA_VERSION = 1
"""Of all tables. It rises when a column goes or changes its meaning; a new column leaves it as it is."""
_UNITS = {
    "_s": "s",
    "_bytes": "B",
    "_hz": "Hz",
    "_c": "°C",
    "_j": "J",
    "_w": "W",
    "_percent": "%",
}
"""The unit that the end of a name tells, as in the files of a run."""

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class ColumnKind(StrEnum):
    """The kind of the values of a column."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    TRUTH = "boolean"
    MOMENT = "timestamp"
    """A moment in UTC, to the microsecond."""
    JSON = "JSON text"


@dataclass(frozen=True)
class TableColumn:
    """A column of a table."""

    name: str
    kind: ColumnKind
    description: str
    source: str | Callable[[Any], Any]
    """The path of the value in the source of a row, such as `result.phases.import_s`, or a function of that source."""
    given_unit: str | None = None
    """The unit, if the end of the name does not tell it."""

    @property
    def unit(self) -> str:
        """Return the unit of its values, or an empty text."""
        if self.given_unit is not None:
            return self.given_unit
        if self.kind not in {ColumnKind.INTEGER, ColumnKind.NUMBER}:
            return ""
        return next((unit for end, unit in _UNITS.items() if self.name.endswith(end)), "")

    @cached_property
    def take(self) -> Callable[[Any], Any]:
        """Return the function from the source of a row to its value, None where there is none."""
        get = _getter(self.source) if isinstance(self.source, str) else self.source
        convert = _CONVERSIONS.get(self.kind)
        if convert is None:
            return get

        def take(source: Any) -> Any:
            value = get(source)
            return None if value is None else convert(value)

        return take


@dataclass(frozen=True)
class TableSchema:
    """A table with its columns."""

    name: str
    description: str
    columns: tuple[TableColumn, ...]

    def row(self, source: Any) -> tuple[Any, ...]:
        """Return a row of plain values."""
        return tuple([take(source) for take in self._takes])

    @cached_property
    def _takes(self) -> Sequence[Callable[[Any], Any]]:
        return [column.take for column in self.columns]


def _getter(path: str) -> Callable[[Any], Any]:
    """Return a function that follows a path, to None where a part of it is None."""
    parts = path.split(".")
    if len(parts) == 1:
        return attrgetter(path)

    def follow(source: Any) -> Any:
        for part in parts:
            source = getattr(source, part)
            if source is None:
                return None
        return source

    return follow


def fitting(value: Any) -> Any:
    """Return a value that a table can hold: half characters spelled out, and None for a number that is too big."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        return None
    return value


def moment(text: str) -> datetime | None:
    """Return a moment of ISO 8601, in UTC unless it says otherwise, or None if it is none."""
    try:
        read = datetime.fromisoformat(text)
        return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _json(value: Any) -> str:
    return to_json(value, by_alias=True, inf_nan_mode="null", serialize_unknown=True).decode()


_CONVERSIONS: dict[ColumnKind, Callable[[Any], Any]] = {
    ColumnKind.NUMBER: float,
    ColumnKind.MOMENT: moment,
    ColumnKind.JSON: _json,
}
