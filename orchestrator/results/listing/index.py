"""An index of many runs, brought up to date from their files whenever it is read.

A file is read again only if its stamp (modification time and size) has changed. Values that cost more, such as those of
a history, are stored by the stamps of all files they come from.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

from orchestrator.domain import Outcome, Status
from orchestrator.errors import InputError
from orchestrator.results.listing.cache import Cache
from orchestrator.results.listing.derived import Derivation
from orchestrator.results.listing.stamps import stamped_outcomes, stamped_runs
from orchestrator.results.store import OUTCOME_FIELDS, OUTCOME_VALUES, PartRun, Run

_VERSION = 9
_SCHEMA = """
CREATE TABLE run (
    name TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL,
    created_at TEXT NOT NULL, matrix TEXT NOT NULL, runtime TEXT NOT NULL, host TEXT NOT NULL,
    cells INTEGER NOT NULL, planned INTEGER NOT NULL, skips INTEGER NOT NULL, problem TEXT NOT NULL
);
CREATE TABLE outcome (
    run TEXT NOT NULL REFERENCES run(name) ON DELETE CASCADE, path TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, started_s REAL,
    cell_id TEXT NOT NULL, repeat INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL, log TEXT,
    attempts INTEGER NOT NULL, started_at TEXT NOT NULL, wall_s REAL NOT NULL, create_s REAL,
    exit_code INTEGER, image_id TEXT, idle_wait_s REAL, busy TEXT NOT NULL, disturbed_blocks INTEGER,
    disturbance TEXT NOT NULL, remeasured INTEGER NOT NULL, not_remeasured TEXT NOT NULL,
    log_omitted_bytes INTEGER NOT NULL, ran_on TEXT NOT NULL, beside TEXT NOT NULL,
    PRIMARY KEY (run, path)
);
CREATE TABLE planned (
    run TEXT NOT NULL REFERENCES run(name) ON DELETE CASCADE, cell_id TEXT NOT NULL, repeats INTEGER NOT NULL,
    PRIMARY KEY (run, cell_id)
);
CREATE VIEW planned_outcome AS  -- every outcome of a run whose plan cannot be read
    SELECT outcome.* FROM outcome LEFT JOIN planned USING (run, cell_id)
    WHERE coalesce(repeat < repeats, NOT EXISTS (SELECT 1 FROM planned AS any_cell WHERE any_cell.run = outcome.run));
CREATE TABLE derived (
    run TEXT NOT NULL REFERENCES run(name) ON DELETE CASCADE, kind TEXT NOT NULL, cell_id TEXT NOT NULL,
    stamp TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (run, kind, cell_id)
);
"""
_CACHE = Cache("results", _VERSION, _SCHEMA)
_RUN_FIELDS = ("created_at", "matrix", "runtime", "host", "cells", "planned", "skips", "problem")
_STORE_RUN = (
    f"INSERT INTO run (name, mtime_ns, size, {', '.join(_RUN_FIELDS)}) VALUES (?, ?, ?{', ?' * len(_RUN_FIELDS)}) "  # noqa: S608 -- names of our own fields
    f"ON CONFLICT (name) DO UPDATE SET mtime_ns = excluded.mtime_ns, size = excluded.size, "
    + ", ".join(f"{name} = excluded.{name}" for name in _RUN_FIELDS)
)
_STORE_OUTCOME = (
    f"INSERT OR REPLACE INTO outcome (run, path, mtime_ns, size, started_s, {', '.join(OUTCOME_FIELDS)}) "  # noqa: S608 -- names of our own fields
    f"VALUES (?, ?, ?, ?, ?{', ?' * len(OUTCOME_FIELDS)})"
)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run in a list of runs."""

    name: str
    created_at: str
    """ISO 8601, UTC."""
    matrix: str
    runtime: str
    host: str
    cells: int
    planned: int
    """Cells × repeats."""
    skips: int
    counts: tuple[tuple[Status, int], ...]
    """Outcomes recorded so far, in the order of `Status`; statuses without one left out."""
    wall_s: float | None
    """From the start of the first repeat to the end of the last; None where nothing was launched."""
    problem: str = ""
    """The reason that `run.json` could not be read; then only the name and the counts are known."""

    @property
    def pending(self) -> int:
        """Return the number of planned repeats without an outcome, which may come or were lost in a kill."""
        return max(0, self.planned - sum(count for _, count in self.counts))


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """The recorded outcomes of one run."""

    outcomes: tuple[Outcome, ...]
    """By cell and repeat."""
    problem: str
    """The reason that `run.json` could not be read, or nothing."""


def summaries(results: Path, cache: Path) -> tuple[RunSummary, ...]:
    """Every run below `results` but those of parts, oldest first, through an index in the folder `cache`."""
    return _read(results, cache, _summaries)


def planned_cells(results: Path, cache: Path) -> dict[str, tuple[str, ...]]:
    """Return the ids of the planned cells by run, through the index.

    Runs of parts are left out, and runs whose plan cannot be read.
    """

    def query(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
        rows = connection.execute("SELECT run, cell_id FROM planned WHERE instr(run, '/') = 0 ORDER BY run, cell_id")
        return {run: tuple(cell for _, cell in of_run) for run, of_run in groupby(rows, itemgetter(0))}

    return _read(results, cache, query)


def recorded(results: Path, cache: Path, runs: Sequence[str]) -> tuple[RecordedRun, ...]:
    """Return what was recorded of some runs, in their order, through one reading of the index."""

    def query(connection: sqlite3.Connection) -> tuple[RecordedRun, ...]:
        return tuple(_recorded(connection, run) for run in runs)

    return _read(results, cache, query)


def latest_with(results: Path, cache: Path, cell_id: str) -> str | None:
    """Return the name of the latest run that holds an outcome of a cell, or None. It may be the run of a part."""

    def query(connection: sqlite3.Connection) -> str | None:
        row = connection.execute("SELECT max(run) FROM planned_outcome WHERE cell_id = ?", (cell_id,)).fetchone()
        return row[0] if row else None

    return _read(results, cache, query)


def derived(results: Path, cache: Path, kind: Derivation) -> tuple[str, ...]:
    """Return the text of this kind of every cell that has one, by run."""

    def query(connection: sqlite3.Connection) -> tuple[str, ...]:
        rows = connection.execute(
            "SELECT value FROM derived WHERE kind = ? AND value != '' ORDER BY run, cell_id", (kind.name,)
        )
        return tuple(value for (value,) in rows)

    return _read(results, cache, query, kind)


def _read(results: Path, cache: Path, query: Callable[[sqlite3.Connection], _T], kind: Derivation | None = None) -> _T:
    def work(connection: sqlite3.Connection) -> _T:
        _refresh(connection, results, kind)
        return query(connection)

    return _CACHE.use(results, cache, work)


def _refresh(connection: sqlite3.Connection, results: Path, kind: Derivation | None) -> None:
    known = {name: (mtime, size) for name, mtime, size in connection.execute("SELECT name, mtime_ns, size FROM run")}
    present = dict(stamped_runs(results))
    connection.executemany("DELETE FROM run WHERE name = ?", [(name,) for name in known.keys() - present.keys()])
    for name, stamp in present.items():
        run = PartRun(results / name) if "/" in name else Run(results / name)
        if known.get(name) != stamp:
            connection.execute(_STORE_RUN, (name, *stamp, *_run_columns(run)))
            connection.execute("DELETE FROM planned WHERE run = ?", (name,))
            connection.executemany("INSERT INTO planned VALUES (?, ?, ?)", _planned(run))
        _refresh_outcomes(connection, run)
        if kind:
            kind.refresh(connection, run)


def _refresh_outcomes(connection: sqlite3.Connection, run: Run) -> None:
    rows = connection.execute("SELECT path, mtime_ns, size FROM outcome WHERE run = ?", (run.name,))
    known = {path: (mtime, size) for path, mtime, size in rows}
    seen = set()
    for cell_id, repeat, stamp in stamped_outcomes(run.folder):
        path = f"{cell_id}/{repeat}"
        outcome = None if known.get(path) == stamp else run.outcome(cell_id, repeat)
        if outcome is not None:
            row = (run.name, path, *stamp, _seconds(outcome.started_at), *OUTCOME_VALUES(outcome))
            connection.execute(_STORE_OUTCOME, row)
        if outcome is not None or known.get(path) == stamp:
            seen.add(path)
    gone = [(run.name, path) for path in known.keys() - seen]
    connection.executemany("DELETE FROM outcome WHERE run = ? AND path = ?", gone)


def _run_columns(run: Run) -> tuple[Any, ...]:
    try:
        record, plan = run.record(), run.plan()
    except InputError as error:
        return ("", "", "", "", 0, 0, 0, str(error))
    planned = sum(cell.repeats for cell in plan.cells)
    host = str(record.host.get("hostname", ""))
    return (record.created_at, plan.name, record.runtime, host, len(plan.cells), planned, len(plan.skips), "")


def _planned(run: Run) -> list[tuple[str, str, int]]:
    """Return the repeats of each cell of a plan, or nothing if it cannot be read."""
    try:
        return [(run.name, cell.id, cell.repeats) for cell in run.plan().cells]
    except InputError:
        return []


def _summaries(connection: sqlite3.Connection) -> tuple[RunSummary, ...]:
    counts: dict[str, dict[str, int]] = {}
    counted = "SELECT run, status, count(*) FROM planned_outcome GROUP BY run, status"
    for run, status, count in connection.execute(counted):
        counts.setdefault(run, {})[status] = count
    rows = connection.execute(
        "SELECT name, created_at, matrix, runtime, host, cells, planned, skips, problem, "
        "max(started_s + outcome.wall_s) - min(started_s) FROM run LEFT JOIN outcome ON outcome.run = run.name "
        "WHERE instr(run.name, '/') = 0 GROUP BY run.name ORDER BY run.name"
    )
    return tuple(
        RunSummary(
            *(name, created_at, matrix, runtime, host, cells, planned, skips),
            tuple((status, counts[name][status]) for status in Status if status in counts.get(name, {})),
            wall_s,
            problem,
        )
        for name, created_at, matrix, runtime, host, cells, planned, skips, problem, wall_s in rows
    )


def _recorded(connection: sqlite3.Connection, run: str) -> RecordedRun:
    rows = connection.execute(
        f"SELECT {', '.join(OUTCOME_FIELDS)} FROM planned_outcome WHERE run = ? ORDER BY cell_id, repeat",  # noqa: S608 -- names of our own fields
        (run,),
    )
    outcomes = tuple(_outcome(row) for row in rows)
    problem = connection.execute("SELECT problem FROM run WHERE name = ?", (run,)).fetchone()
    return RecordedRun(outcomes, problem[0] if problem else "")


def _outcome(row: tuple[Any, ...]) -> Outcome:
    values = dict(zip(OUTCOME_FIELDS, row, strict=True))
    return Outcome(**values | {"status": Status(values["status"])})


def _seconds(started_at: str) -> float | None:
    try:
        return datetime.fromisoformat(started_at).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
