"""A cache of what a results folder holds: SQLite in the user's cache folder, brought up to date whenever it is read.

It never lies beside the results, which may be on NFS. Every use happens under one file lock; a broken, older or newer
cache is thrown away and made again; where the cache folder cannot be used, it is made in memory.
"""

import hashlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock

_T = TypeVar("_T")
_UNENCODABLE = re.compile(r"[\ud800-\udfff\\]")
"""Half characters, which stand for the bytes of names that are not UTF-8; and what marks them in the database."""
_MARKED = re.compile(r"\\(?:\\|u([0-9a-f]{4}))")


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


class _Connection(sqlite3.Connection):
    """A connection that takes and gives any text, also names of files that are not UTF-8."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> sqlite3.Cursor:  # type: ignore[override]
        """Execute one statement."""
        return super().execute(sql, tuple(map(_stored, parameters)))

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> sqlite3.Cursor:  # type: ignore[override]
        """Execute one statement for each row."""
        return super().executemany(sql, (tuple(map(_stored, row)) for row in parameters))


def _stored(value: Any) -> Any:
    """Mark in a text what UTF-8 cannot hold; other values are given back as they are."""
    if not isinstance(value, str) or not _UNENCODABLE.search(value):
        return value
    return _UNENCODABLE.sub(lambda found: "\\\\" if found[0] == "\\" else f"\\u{ord(found[0]):04x}", value)


def _restored(stored: bytes) -> str:
    """Return the text that was stored."""
    text = stored.decode()
    return _MARKED.sub(lambda found: chr(int(found[1], 16)) if found[1] else "\\", text) if "\\" in text else text


def _refreshed(kind: Cache, path: Path, results: Path, query: Callable[[sqlite3.Connection], _T]) -> _T:
    with closing(sqlite3.connect(path, factory=_Connection)) as connection:
        connection.text_factory = _restored
        connection.execute("PRAGMA foreign_keys = ON")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, kind.version):
            raise sqlite3.DatabaseError(f"{kind.name} version {version}")
        if version == 0:
            connection.executescript(f"{kind.schema} PRAGMA user_version = {kind.version};")
        with connection:
            kind.refresh(connection, results)
        return query(connection)
