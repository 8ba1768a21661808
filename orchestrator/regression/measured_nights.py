"""Every cell of every run below a results folder as one night of its history, through a cache of the files."""

import math
import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.analysis import RepeatMeasurement, repeat_measurement
from orchestrator.domain import Cell, Status
from orchestrator.errors import InputError
from orchestrator.regression.history import CellNight, release_text, tracked_id
from orchestrator.regression.metrics import METRICS
from orchestrator.results.cache import Cache, read
from orchestrator.results.contract import RunRecord
from orchestrator.results.plans import plan_from_json
from orchestrator.results.store import InvalidResultError, Run

_VERSION = 1
_SCHEMA = """
CREATE TABLE run (name TEXT PRIMARY KEY, stamp TEXT NOT NULL, created_at TEXT NOT NULL, host TEXT NOT NULL);
CREATE TABLE cell (
    run TEXT NOT NULL REFERENCES run(name) ON DELETE CASCADE, cell_id TEXT NOT NULL, tracked TEXT NOT NULL,
    pair TEXT NOT NULL, release TEXT NOT NULL, epochs INTEGER NOT NULL, stamp TEXT NOT NULL, conditions TEXT NOT NULL,
    PRIMARY KEY (run, cell_id)
);
CREATE TABLE figure (
    run TEXT NOT NULL, cell_id TEXT NOT NULL, metric TEXT NOT NULL, value REAL NOT NULL, repeats INTEGER NOT NULL,
    PRIMARY KEY (run, cell_id, metric),
    FOREIGN KEY (run, cell_id) REFERENCES cell(run, cell_id) ON DELETE CASCADE
);
"""


def measured_nights(results: Path, cache: Path) -> tuple[CellNight, ...]:
    """Read the history of a results folder; what was read before, and has not changed, is not read again."""
    return read(Cache("history", _VERSION, _SCHEMA, _refresh), results, cache, _query)


def _query(connection: sqlite3.Connection) -> tuple[CellNight, ...]:
    figures: dict[tuple[str, str], list[tuple[str, float, int]]] = {}
    for run, cell_id, metric, value, repeats in connection.execute(
        "SELECT run, cell_id, metric, value, repeats FROM figure"
    ):
        figures.setdefault((run, cell_id), []).append((metric, value, repeats))
    rows = connection.execute(
        "SELECT run.name, created_at, host, conditions, cell_id, tracked, pair, release "
        "FROM cell JOIN run ON run.name = cell.run"
    )
    return tuple(
        CellNight(run, created_at, host, conditions, cell_id, tracked, pair, release, tuple(figures[run, cell_id]))
        for run, created_at, host, conditions, cell_id, tracked, pair, release in rows
        if (run, cell_id) in figures
    )


def _refresh(connection: sqlite3.Connection, results: Path) -> None:
    known = dict(connection.execute("SELECT name, stamp FROM run"))
    present = dict(_stamps(results))
    connection.executemany("DELETE FROM run WHERE name = ?", [(name,) for name in known.keys() - present.keys()])
    for name, stamp in present.items():
        run = Run(results / name)
        if known.get(name) != stamp:
            _refresh_run(connection, run, stamp)
        cells = connection.execute("SELECT cell_id, epochs, stamp FROM cell WHERE run = ?", (name,)).fetchall()
        for cell_id, epochs, before in cells:
            found = _cell_stamp(run, cell_id)
            if found != before:
                _refresh_cell(connection, run, cell_id, found, in_epochs=bool(epochs))


def _stamps(results: Path) -> Iterator[tuple[str, str]]:
    for entry in os.scandir(results) if results.is_dir() else ():
        try:
            stat = (Path(entry) / "run.json").stat()
        except OSError:
            continue
        yield entry.name, f"{stat.st_mtime_ns} {stat.st_size}"


def _refresh_run(connection: sqlite3.Connection, run: Run, stamp: str) -> None:
    """The cells of a run anew; a record that cannot be read has none."""
    try:
        record: RunRecord | None = run.record()
        cells = [cell for cell in plan_from_json(record.plan).cells if cell.script is None] if record else []
    except InputError:
        record, cells = None, []
    connection.execute("DELETE FROM run WHERE name = ?", (run.name,))
    created_at, host = (record.created_at, str(record.host.get("hostname") or "")) if record else ("", "")
    connection.execute("INSERT INTO run VALUES (?, ?, ?, ?)", (run.name, stamp, created_at, host))
    connection.executemany(
        "INSERT OR REPLACE INTO cell VALUES (?, ?, ?, ?, ?, ?, '', '')",
        [(run.name, *_columns(cell)) for cell in cells],
    )


def _columns(cell: Cell) -> tuple[object, ...]:
    pair = f"{cell.system.name}/{cell.id.partition('/')[2]}"
    return cell.id, tracked_id(cell), pair, release_text(cell), int(cell.duration.epochs is not None)


def _cell_stamp(run: Run, cell_id: str) -> str:
    """What tells whether a repeat has come or changed since."""
    count = newest = 0
    try:
        entries = list(os.scandir(run.folder / cell_id))
    except OSError:
        return ""
    for entry in entries:
        try:
            stat = os.stat(f"{entry.path}/outcome.json")  # noqa: PTH116 -- a `Path` for each takes far longer
        except OSError:
            continue
        count, newest = count + 1, max(newest, stat.st_mtime_ns)
    return f"{count} {newest}" if count else ""


@dataclass(frozen=True, slots=True)
class _Repeat:
    measurement: RepeatMeasurement
    conditions: str


def _refresh_cell(connection: sqlite3.Connection, run: Run, cell_id: str, stamp: str, *, in_epochs: bool) -> None:
    repeats = list(_repeats(run, cell_id, in_epochs=in_epochs))
    # Those that were measured as the last one was: means over two ways of measuring say nothing.
    conditions = repeats[-1].conditions if repeats else ""
    alike = [repeat.measurement for repeat in repeats if repeat.conditions == conditions]
    connection.execute(
        "UPDATE cell SET stamp = ?, conditions = ? WHERE run = ? AND cell_id = ?",
        (stamp, conditions, run.name, cell_id),
    )
    connection.execute("DELETE FROM figure WHERE run = ? AND cell_id = ?", (run.name, cell_id))
    connection.executemany(
        "INSERT INTO figure VALUES (?, ?, ?, ?, ?)", [(run.name, cell_id, *row) for row in _figures(alike)]
    )


def _repeats(run: Run, cell_id: str, *, in_epochs: bool) -> Iterator[_Repeat]:
    """The repeats that ended `ok` and can be read, in order."""
    try:
        names = [entry.name for entry in os.scandir(run.folder / cell_id)]
    except OSError:
        return
    for number in sorted(int(name) for name in names if name.isdecimal()):
        outcome = run.outcome(cell_id, number)
        if outcome is None or outcome.status is not Status.OK:
            continue
        try:
            result = run.result(outcome)
            if result is not None:
                conditions = (
                    f"measurement_version {result.measurement_version}, {result.facts.get('cpu') or 'CPU unknown'}"
                )
                yield _Repeat(repeat_measurement(result, outcome.create_s, in_epochs=in_epochs), conditions)
        except (InvalidResultError, ValueError):
            continue


def _figures(repeats: Sequence[RepeatMeasurement]) -> Iterator[tuple[str, float, int]]:
    """The geometric mean of every metric over the repeats that have it."""
    for metric in METRICS:
        if metric.take is None:
            continue
        found = [value for value in map(metric.take, repeats) if value is not None and value > 0]
        if found:
            yield metric.name, math.exp(math.fsum(map(math.log, found)) / len(found)), len(found)
