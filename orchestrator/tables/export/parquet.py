"""Runs as Parquet, in a folder for each table, with `export.json` that says what is there.

The files of a table are segments, each with the rows of some runs: a file for each of a thousand runs would take most
of the time of a reader. An export adds one segment, which takes over what is left of segments with a changed run, and
all of segments that are not much larger than itself. So there are few segments, and few rows are ever written again.
"""

import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.errors import InputError
from orchestrator.files import open_plain
from orchestrator.results.files.writing import flush, write_atomically
from orchestrator.tables.arrow import arrow_schema, library, record_batch
from orchestrator.tables.columns import SCHEMA_VERSION
from orchestrator.tables.export.changes import Changes, changes
from orchestrator.tables.export.swapping import put_in_place, recovered
from orchestrator.tables.reading import NAMES, TABLES, read_batches
from orchestrator.tables.stored import OpenedRun

STATE = "export.json"
_GROUP_ROWS = 250_000
_MUCH_LARGER = 2


class Segment(BaseModel):
    """One file in the folder of each table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    digests: dict[str, str]
    """Of its runs, by their names."""
    rows: dict[str, int]
    """By table."""


class ParquetState(BaseModel):
    """The segments of an export."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: str = f"results/{SCHEMA_VERSION}"
    segments: tuple[Segment, ...] = ()

    @property
    def digests(self) -> dict[str, str]:
        """Return the digest of every run."""
        return {run: digest for segment in self.segments for run, digest in segment.digests.items()}


@dataclass(frozen=True, slots=True)
class SegmentPlan:
    """The segments that stay, and the runs of others whose rows the new segment takes over."""

    staying: tuple[Segment, ...]
    taken_over: tuple[tuple[Segment, frozenset[str]], ...]


def planned_segments(segments: Iterable[Segment], found: Changes) -> SegmentPlan:
    """Decide which segments stay."""
    unchanged = frozenset(found.unchanged)
    taken_over, clean = [], []
    for segment in segments:
        left = unchanged & segment.digests.keys()
        if len(left) == len(segment.digests):
            clean.append(segment)
        elif left:
            taken_over.append((segment, left))
    size = len(found.stale) + sum(len(left) for _, left in taken_over)
    staying = sorted(clean, key=lambda segment: len(segment.digests), reverse=True)
    while staying and len(staying[-1].digests) <= _MUCH_LARGER * size:
        segment = staying.pop()
        size += len(segment.digests)
        taken_over.append((segment, frozenset(segment.digests)))
    return SegmentPlan(tuple(staying), tuple(taken_over))


def write_parquet(runs: list[OpenedRun], target: Path) -> tuple[Changes, Mapping[str, int]]:
    """Bring a folder of Parquet files in line with the runs. Return what changed, and the rows of each table.

    A new folder is made next to the old one, with links to the files that stay, and takes its place in one step.
    Raises `InputError` if something else is at the target, `OSError` if the folder cannot be written.
    """
    library("pyarrow.parquet")
    beginning = f".{target.name}.new-"
    recovered(target, beginning)
    state = _state(target)
    found = changes(runs, state.digests)
    if found.stale or found.removed or not state.segments:
        new = target.with_name(f"{beginning}{secrets.token_hex(4)}")
        try:
            state = _write_folder(new, target, planned_segments(state.segments, found), found)
            put_in_place(new, target)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
    return found, {table.name: sum(each.rows[table.name] for each in state.segments) for table in TABLES}


def _write_folder(new: Path, old: Path, plan: SegmentPlan, found: Changes) -> ParquetState:
    name = f"{secrets.token_hex(4)}.parquet"
    for table in TABLES:
        (new / table.name).mkdir(parents=True)
        for segment in plan.staying:
            _link(old / table.name / segment.name, new / table.name / segment.name)
    names = [stored.label for stored in found.stale] + [run for _, left in plan.taken_over for run in left]
    rows = _write_segment(new, name, old, plan.taken_over, found.stale)
    segment = Segment(name=name, digests={run: found.digests[run] for run in names}, rows=rows)
    state = ParquetState(segments=(*plan.staying, segment))
    write_atomically(new / STATE, state.model_dump_json(indent=1) + "\n")
    flush(new)  # a power cut must not leave a folder whose files are not on disk
    return state


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
    # The runs of a segment whose files have gone, or that lacks a table, are read again.
    return ParquetState(segments=tuple(each for each in state.segments if _is_whole(target, each)))


def _is_whole(target: Path, segment: Segment) -> bool:
    is_named = Path(segment.name).name == segment.name and segment.rows.keys() == NAMES
    return is_named and all((target / name / segment.name).is_file() for name in NAMES)


def _link(source: Path, place: Path) -> None:
    try:
        place.hardlink_to(source)
    except OSError:  # a file system without links
        shutil.copyfile(source, place)


def _write_segment(
    new: Path,
    name: str,
    old: Path,
    taken_over: Iterable[tuple[Segment, frozenset[str]]],
    stale: Iterable[OpenedRun],
) -> dict[str, int]:
    """Write the new file of every table, also without rows, and return the rows of each."""
    files = {table.name: _TableFile(arrow_schema(table), new / table.name / name) for table in TABLES}
    try:
        for segment, left in taken_over:
            for table_name, file in files.items():
                for batch in _rows_of(old / table_name / segment.name, left):
                    file.write(batch)
        for table_name, rows in read_batches(stale, NAMES):
            files[table_name].write(record_batch(files[table_name].schema, rows))
    finally:
        for file in files.values():
            file.close()
    return {table_name: file.rows for table_name, file in files.items()}


def _rows_of(path: Path, runs: frozenset[str]) -> Iterator[Any]:
    """Yield the rows of some runs of a segment."""
    pa, compute = library("pyarrow"), library("pyarrow.compute")
    wanted = pa.array(sorted(runs), pa.string())
    with library("pyarrow.parquet").ParquetFile(path) as file:
        for batch in file.iter_batches():
            yield batch.filter(compute.is_in(batch.column("run"), value_set=wanted))


class _TableFile:
    """A Parquet file that is written in groups of rows."""

    def __init__(self, schema: Any, path: Path) -> None:
        self.schema, self.rows = schema, 0
        self._writer = library("pyarrow.parquet").ParquetWriter(path, schema, compression="zstd")
        self._batches: list[Any] = []
        self._waiting = 0

    def write(self, batch: Any) -> None:
        """Add rows."""
        self._batches.append(batch)
        self._waiting += batch.num_rows
        if self._waiting >= _GROUP_ROWS:
            self._write_group()

    def _write_group(self) -> None:
        table = library("pyarrow").Table.from_batches(self._batches, self.schema)
        self._writer.write_table(table, row_group_size=_GROUP_ROWS)
        self.rows += table.num_rows
        self._batches, self._waiting = [], 0

    def close(self) -> None:
        """Write what is left."""
        self._write_group()
        self._writer.close()
