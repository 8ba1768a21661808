"""Runs as one SQLite file, brought up to date in one transaction, without any further library."""

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from orchestrator.errors import InputError
from orchestrator.tables.columns import SCHEMA_VERSION, ColumnKind, fitting
from orchestrator.tables.export.changes import Changes, changes
from orchestrator.tables.reading import NAMES, TABLES, read_batches
from orchestrator.tables.stored import OpenedRun

APPLICATION = 0x62656E63
"""The number in the head of a file by which it is known as an export."""
_TYPES = {
    ColumnKind.TEXT: "TEXT",
    ColumnKind.INTEGER: "INTEGER",
    ColumnKind.NUMBER: "REAL",
    ColumnKind.TRUTH: "INTEGER",
    ColumnKind.MOMENT: "TEXT",
    ColumnKind.JSON: "TEXT",
}
_BY_NAME = {table.name: table for table in TABLES}
_DESCRIBED = "columns"
_STATE = "exported_runs"


def write_sqlite(runs: list[OpenedRun], target: Path) -> tuple[Changes, Mapping[str, int]]:
    """Bring a SQLite file in line with the runs. Return what changed, and the rows of each table.

    Everything happens in one transaction, so that a reader and a program that was killed leave the old state or the
    new one. Raises `InputError` if something else is at the target, `OSError` if the file cannot be written.
    """
    if target.is_symlink() or (target.exists() and not target.is_file()):
        raise _refusal(target)
    try:
        with closing(sqlite3.connect(target, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                _prepare(connection, target)
                found = changes(runs, dict(connection.execute(f"SELECT run, digest FROM {_STATE}")))  # noqa: S608 -- our own name
                _remove(connection, [*found.removed, *(stored.label for stored in found.stale)])
                for stored in found.stale:
                    _write_run(connection, stored, found.digests[stored.label])
                connection.execute("COMMIT")
            except BaseException:
                connection.rollback()
                raise
            counted = {name: _count(connection, name) for name in _BY_NAME}
    except sqlite3.DatabaseError as error:
        if "not a database" in str(error):
            raise _refusal(target) from error
        raise OSError(getattr(error, "sqlite_errorcode", 1), str(error), str(target)) from error
    return found, counted


def _refusal(target: Path) -> InputError:
    return InputError(f"-o {target}: is no export of results; choose another place")


def _prepare(connection: sqlite3.Connection, target: Path) -> None:
    """Make the tables in a new file, and anew where they have other columns. Raises `InputError` for another's file."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    if names and application != APPLICATION:
        raise _refusal(target)
    described = [tuple(row) for row in connection.execute(f"SELECT * FROM {_DESCRIBED}")] if names else []  # noqa: S608 -- our own name
    if described == _description():
        return
    for name in names:
        connection.execute(f'DROP TABLE "{name}"')
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute(
        f"CREATE TABLE {_DESCRIBED} (table_name TEXT, column_name TEXT, kind TEXT, unit TEXT, description TEXT)"
    )
    connection.executemany(f"INSERT INTO {_DESCRIBED} VALUES (?, ?, ?, ?, ?)", _description())  # noqa: S608 -- our own name
    connection.execute(f"CREATE TABLE {_STATE} (run TEXT PRIMARY KEY, digest TEXT NOT NULL)")
    for table in TABLES:
        columns = ", ".join(f'"{column.name}" {_TYPES[column.kind]}' for column in table.columns)
        connection.execute(f"CREATE TABLE {table.name} ({columns})")
        keys = "run, cell" if any(column.name == "cell" for column in table.columns) else "run"
        connection.execute(f"CREATE INDEX {table.name}_by_run ON {table.name} ({keys})")


def _description() -> list[tuple[str, str, str, str, str]]:
    return [
        (table.name, column.name, str(column.kind), column.unit, column.description)
        for table in TABLES
        for column in table.columns
    ]


def _remove(connection: sqlite3.Connection, runs: Iterable[str]) -> None:
    names = [(run,) for run in runs]
    for name in (*_BY_NAME, _STATE):
        connection.executemany(f"DELETE FROM {name} WHERE run = ?", names)  # noqa: S608 -- our own names


def _write_run(connection: sqlite3.Connection, stored: OpenedRun, digest: str) -> None:
    for name, rows in read_batches([stored], NAMES):
        places = ", ".join("?" * len(_BY_NAME[name].columns))
        connection.executemany(
            f"INSERT INTO {name} VALUES ({places})",  # noqa: S608 -- our own names
            (tuple([_plain(value) for value in row]) for row in rows),
        )
    connection.execute(f"INSERT INTO {_STATE} VALUES (?, ?)", (stored.label, digest))  # noqa: S608 -- our own name


def _plain(value: Any) -> Any:
    """Return a value as SQLite holds it: moments as text, enumerations as their text."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    return fitting(value)


def _count(connection: sqlite3.Connection, name: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {name}").fetchone()  # noqa: S608 -- our own name
    return int(count)
