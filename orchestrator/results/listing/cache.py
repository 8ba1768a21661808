"""A cache of a results folder, as a SQLite file in the user's cache folder.

It never lies next to the results, which may be on NFS. Every use happens under one file lock. A broken, older or newer
cache is thrown away and made again. If the cache folder cannot be used, the cache is made in memory.
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
"""Half characters, which stand for the bytes of names that are not UTF-8, and the character that marks them."""
_MARKED = re.compile(r"\\(?:\\|u([0-9a-f]{4}))")


@dataclass(frozen=True, slots=True)
class Cache:
    """The tables of a cache."""

    name: str
    """The beginning of the names of its files."""
    version: int
    schema: str

    def use(self, results: Path, folder: Path, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Do some work in one transaction on the cache of a results folder, and return its value."""
        key = hashlib.sha256(os.fsencode(results.resolve())).hexdigest()[:16]
        path = folder / f"{self.name}-{key}.sqlite"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(path.with_suffix(".lock")):
                try:
                    return self._use_file(path, work)
                except sqlite3.DatabaseError:
                    for part in (path, path.with_name(f"{path.name}-journal")):
                        part.unlink(missing_ok=True)
                    return self._use_file(path, work)
        except (OSError, sqlite3.DatabaseError):
            return self._use_file(Path(":memory:"), work)

    def _use_file(self, path: Path, work: Callable[[sqlite3.Connection], _T]) -> _T:
        with closing(sqlite3.connect(path, factory=_Connection)) as connection:
            connection.text_factory = _restored
            connection.execute("PRAGMA foreign_keys = ON")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version not in (0, self.version):
                raise sqlite3.DatabaseError(f"{self.name} version {version}")
            if version == 0:
                connection.executescript(f"{self.schema} PRAGMA user_version = {self.version};")
            with connection:
                return work(connection)


class _Connection(sqlite3.Connection):
    """A connection that stores any text, also names of files that are not UTF-8."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> sqlite3.Cursor:  # type: ignore[override]
        """Execute one statement."""
        return super().execute(sql, tuple(map(_stored, parameters)))

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> sqlite3.Cursor:  # type: ignore[override]
        """Execute one statement for each row."""
        return super().executemany(sql, (tuple(map(_stored, row)) for row in parameters))


def _stored(value: Any) -> Any:
    """Mark the characters of a text that UTF-8 cannot hold, and return other values as they are."""
    if not isinstance(value, str) or not _UNENCODABLE.search(value):
        return value
    return _UNENCODABLE.sub(lambda match: "\\\\" if match[0] == "\\" else f"\\u{ord(match[0]):04x}", value)


def _restored(stored: bytes) -> str:
    """Return the text that was stored."""
    text = stored.decode()
    return _MARKED.sub(lambda match: chr(int(match[1], 16)) if match[1] else "\\", text) if "\\" in text else text
