"""Runs as Parquet, in a folder for each table with a file for each run, and `export.json` that says what is there."""

import hashlib
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.errors import InputError
from orchestrator.files import open_plain
from orchestrator.results.writing import flush, write_atomically
from orchestrator.tables.arrow import arrow_schema, library, record_batch
from orchestrator.tables.columns import SCHEMA_VERSION
from orchestrator.tables.export.changes import Changes, changes
from orchestrator.tables.export.swapping import put_in_place, recovered
from orchestrator.tables.reading import NAMES, TABLES, read_batches
from orchestrator.tables.stored import StoredRun

STATE = "export.json"
SCHEMA_FILE = "schema.parquet"
"""A file without rows in the folder of each table, so that a query finds the columns before there are any rows."""
_GROUP_BATCHES = 16
"""Batches of a row group."""
_LONGEST_NAME = 200


class ParquetState(BaseModel):
    """The runs of an export, each with its digest and the rows of its tables."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: str = f"results/{SCHEMA_VERSION}"
    digests: dict[str, str] = {}
    rows: dict[str, dict[str, int]] = {}
    """Of each run by table; a table without rows has no file."""


def write_parquet(runs: list[StoredRun], target: Path) -> tuple[Changes, Mapping[str, int]]:
    """Bring a folder of Parquet files in line with the runs. Return what changed, and the rows of each table.

    A new folder is made next to the old one, with links to the files of unchanged runs, and takes its place in one
    step. Raises `InputError` if something else is at the target, `OSError` if the folder cannot be written.
    """
    pq = library("pyarrow.parquet")
    beginning = f".{target.name}.new-"
    recovered(target, beginning)
    state = _state(target)
    found = changes(runs, state.digests)
    rows = {name: state.rows[name] for name in found.unchanged}
    if found.stale or found.removed or not target.exists():
        new = target.with_name(f"{beginning}{secrets.token_hex(4)}")
        try:
            for table in TABLES:
                (new / table.name).mkdir(parents=True)
                pq.write_table(arrow_schema(table).empty_table(), new / table.name / SCHEMA_FILE)
            for name in found.unchanged:
                for table_name in rows[name]:
                    _link(target, new, f"{table_name}/{file_name(name)}")
            for stored in found.stale:
                rows[stored.label] = _write_run(pq, stored, new)
            after = ParquetState(digests=dict(found.digests), rows=rows)
            write_atomically(new / STATE, after.model_dump_json(indent=1) + "\n")
            flush(new)  # a power cut must not leave a folder whose files are not on disk
            put_in_place(new, target)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
    return found, _totals(rows)


def file_name(run: str) -> str:
    """Return the name of the files of a run, in which no character means something to a shell or a query."""
    quoted = quote(run, safe="")
    if len(quoted) > _LONGEST_NAME:
        quoted = f"{quoted[:_LONGEST_NAME]}-{hashlib.sha256(run.encode()).hexdigest()[:16]}"
    return f"{quoted}.parquet"


def _state(target: Path) -> ParquetState:
    """Read the state of an export, empty if there is none. Raises `InputError` if something else is there."""
    if not target.exists() and not target.is_symlink():
        return ParquetState()
    refusal = InputError(f"-o {target}: is no export of results; choose another place")
    if target.is_symlink() or not target.is_dir():
        raise refusal
    try:
        with open_plain(target / STATE) as file:
            state = ParquetState.model_validate_json(file.read())
    except FileNotFoundError:
        if any(target.iterdir()):
            raise refusal from None
        return ParquetState()
    except (OSError, ValidationError):
        raise refusal from None
    # What of its files has gone is written again.
    whole = {name for name, rows in state.rows.items() if name in state.digests and _has_files(target, name, rows)}
    return ParquetState(
        digests={name: digest for name, digest in state.digests.items() if name in whole},
        rows={name: rows for name, rows in state.rows.items() if name in whole},
    )


def _has_files(target: Path, name: str, rows: Mapping[str, int]) -> bool:
    return rows.keys() <= NAMES and all((target / table / file_name(name)).is_file() for table in rows)


def _link(target: Path, new: Path, place: str) -> None:
    try:
        (new / place).hardlink_to(target / place)
    except OSError:  # a file system without links
        shutil.copyfile(target / place, new / place)


def _write_run(pq: Any, stored: StoredRun, folder: Path) -> dict[str, int]:
    """Write the files of one run, and return the rows of each table that has any."""
    writers = {}
    try:
        for table in TABLES:
            writers[table.name] = _TableFile(pq, arrow_schema(table), folder / table.name / file_name(stored.label))
        for name, rows in read_batches([stored], NAMES):
            writers[name].write(rows)
    finally:
        for writer in writers.values():
            writer.close()
    return {name: writer.rows for name, writer in writers.items() if writer.rows}


class _TableFile:
    """A Parquet file that is made with its first row."""

    def __init__(self, pq: Any, schema: Any, path: Path) -> None:
        self._pq, self._schema, self._path = pq, schema, path
        self._writer: Any = None
        self._batches: list[Any] = []
        self.rows = 0

    def write(self, rows: list[tuple[Any, ...]]) -> None:
        """Add rows."""
        self._batches.append(record_batch(self._schema, rows))
        self.rows += len(rows)
        if len(self._batches) >= _GROUP_BATCHES:
            self._write_group()

    def _write_group(self) -> None:
        if self._batches:
            if self._writer is None:
                self._writer = self._pq.ParquetWriter(self._path, self._schema, compression="zstd")
            self._writer.write_table(library("pyarrow").Table.from_batches(self._batches, self._schema))
            self._batches = []

    def close(self) -> None:
        """Write what is left."""
        self._write_group()
        if self._writer is not None:
            self._writer.close()


def _totals(rows: Mapping[str, Mapping[str, int]]) -> Mapping[str, int]:
    totals = dict.fromkeys((table.name for table in TABLES), 0)
    for of_run in rows.values():
        for name, count in of_run.items():
            totals[name] += count
    return totals
