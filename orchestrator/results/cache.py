"""A cache of what a results folder holds: SQLite in the user's cache folder, brought up to date whenever it is read.

It never lies beside the results, which may be on NFS. Every use happens under one file lock; a broken, older or newer
cache is thrown away and made again; where the cache folder cannot be used, it is made in memory.
"""

import hashlib
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from filelock import FileLock

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Cache:
    """One kind of cache."""

    name: str
    """Of its files."""
    version: int
    schema: str
    refresh: Callable[[sqlite3.Connection, Path], None]
    """Brings it up to date from the files below a results folder."""


def read(kind: Cache, results: Path, folder: Path, query: Callable[[sqlite3.Connection], _T]) -> _T:
    """Bring the cache of a results folder up to date, and ask it."""
    key = hashlib.sha256(os.fsencode(results.resolve())).hexdigest()[:16]
    path = folder / f"{kind.name}-{key}.sqlite"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f"{kind.name}-{key}.lock"):
            try:
                return _refreshed(kind, path, results, query)
            except sqlite3.DatabaseError:
                for part in (path, path.with_name(f"{path.name}-journal")):
                    part.unlink(missing_ok=True)
                return _refreshed(kind, path, results, query)
    except (OSError, sqlite3.DatabaseError):
        return _refreshed(kind, Path(":memory:"), results, query)


def _refreshed(kind: Cache, path: Path, results: Path, query: Callable[[sqlite3.Connection], _T]) -> _T:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, kind.version):
            raise sqlite3.DatabaseError(f"{kind.name} version {version}")
        if version == 0:
            connection.executescript(f"{kind.schema} PRAGMA user_version = {kind.version};")
        with connection:
            kind.refresh(connection, results)
        return query(connection)
