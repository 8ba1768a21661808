"""Rows as Arrow, with pyarrow, which only an extra installs."""

import importlib
from collections.abc import Sequence
from typing import Any

from orchestrator.errors import InputError
from orchestrator.tables.columns import SCHEMA_VERSION, ColumnKind, TableSchema, fitting


def library(name: str, remedy: str = "install it: pip install pyarrow") -> Any:
    """Import a library that only an extra installs. Raises `InputError` with the remedy if it is not there."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"{name} is not installed, and results as data need it; {remedy}") from error


def arrow_schema(table: TableSchema) -> Any:
    """Return the `pyarrow.Schema` of a table, each field with its unit and description as metadata."""
    pa = library("pyarrow")
    types = {
        ColumnKind.TEXT: pa.string(),
        ColumnKind.INTEGER: pa.int64(),
        ColumnKind.NUMBER: pa.float64(),
        ColumnKind.TRUTH: pa.bool_(),
        ColumnKind.MOMENT: pa.timestamp("us", tz="UTC"),
        ColumnKind.JSON: pa.string(),
    }
    return pa.schema(
        [
            pa.field(
                column.name,
                types[column.kind],
                metadata={"kind": str(column.kind), "unit": column.unit, "description": column.description},
            )
            for column in table.columns
        ],
        metadata={"table": table.name, "description": table.description, "schema": f"results/{SCHEMA_VERSION}"},
    )


def record_batch(schema: Any, rows: Sequence[tuple[Any, ...]]) -> Any:
    """Return rows as a `pyarrow.RecordBatch`."""
    pa = library("pyarrow")
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [_array(pa, values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(pa: Any, values: Sequence[Any], type_: Any) -> Any:
    try:
        return pa.array(values, type_)
    except (UnicodeEncodeError, OverflowError, pa.ArrowInvalid):
        # Names of files need not be UTF-8, and a record from elsewhere may hold any whole number.
        return pa.array([fitting(value) for value in values], type_)
