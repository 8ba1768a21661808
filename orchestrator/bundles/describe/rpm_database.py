"""A reader of RPM databases (`rpmdb.sqlite`) that does not need RPM.

A header is two big-endian counts, an index with sixteen bytes for each entry, and the data that the index points into.
Source: RPM's file format, https://rpm-software-management.github.io/rpm/manual/format_header.html.
"""

import contextlib
import sqlite3
import struct

_COUNTS, _ENTRY, _INTEGER = struct.Struct(">II"), struct.Struct(">IIII"), struct.Struct(">I")
_TAGS = {1000: "name", 1001: "version", 1002: "release", 1003: "epoch", 1014: "license", 1022: "arch"}
_INT32, _STRING, _I18N = 4, 6, 9
_MOST_PACKAGES = 100_000
_MAGIC = b"SQLite format 3\0"
_WAL, _ROLLBACK = b"\2\2", b"\1\1"
"""Marks of a database with and without a log in a second file. In memory there is no second file."""


class UnreadableError(ValueError):
    """A database that cannot be read."""


def packages(database: bytes) -> list[dict[str, str]]:
    """Return the installed packages with `name`, `version`, `release`, `epoch`, `license` and `arch`, as far as known.

    Raises `UnreadableError` if any package cannot be read.
    """
    if not database.startswith(_MAGIC):
        raise UnreadableError("no database of SQLite")
    if database[18:20] == _WAL:
        database = database[:18] + _ROLLBACK + database[20:]
    try:
        with contextlib.closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(database)
            # A view of that name could run any computation.
            if connection.execute("SELECT type FROM sqlite_master WHERE name = 'Packages'").fetchall() != [("table",)]:
                raise UnreadableError("no table of packages")
            rows = connection.execute("SELECT blob FROM Packages ORDER BY hnum LIMIT ?", (_MOST_PACKAGES,)).fetchall()
    # SQLite may describe a damaged database with bytes that are no text.
    except (sqlite3.Error, MemoryError, UnicodeDecodeError) as error:
        raise UnreadableError(str(error)) from None
    entries = [_package(blob) for (blob,) in rows]
    # RPM stores the keys of signers as if they were packages.
    return [entry for entry in entries if entry["name"] != "gpg-pubkey"]


def _package(header: object) -> dict[str, str]:
    if not isinstance(header, bytes):
        raise UnreadableError("a package is no header")
    try:
        entries, size = _COUNTS.unpack_from(header)
        data = header[_COUNTS.size + entries * _ENTRY.size :]
        fields = {
            _TAGS[tag]: _value(kind, data, offset)
            for tag, kind, offset, _ in _ENTRY.iter_unpack(header[_COUNTS.size : len(header) - len(data)])
            if tag in _TAGS
        }
    except struct.error as error:
        raise UnreadableError(str(error)) from None
    if len(data) != size or not (fields.get("name") and fields.get("version")):
        raise UnreadableError("a package has no name, or is cut short")
    return fields


def _value(kind: int, data: bytes, offset: int) -> str:
    if kind == _INT32:
        return str(_INTEGER.unpack_from(data, offset)[0])
    if kind not in {_STRING, _I18N}:
        raise UnreadableError(f"a field of type {kind}")
    end = data.find(b"\0", offset)
    if not 0 <= offset <= end:
        raise UnreadableError("a text has no end")
    return data[offset:end].decode("utf-8", "replace")
