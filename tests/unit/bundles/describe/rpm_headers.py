"""RPM databases of a few packages, as `rpm` 4.18 writes them."""

import sqlite3
import struct
from collections.abc import Mapping, Sequence
from contextlib import closing

TAGS = {"name": 1000, "version": 1001, "release": 1002, "epoch": 1003, "license": 1014, "arch": 1022}


def header(package: Mapping[str, str | int]) -> bytes:
    """Return the header of one package, with two counts, an index and the data."""
    index, data = b"", b"\0" * 3
    for name, value in package.items():
        packed = struct.pack(">I", value) if isinstance(value, int) else value.encode() + b"\0"
        index += struct.pack(">IIII", TAGS[name], 4 if isinstance(value, int) else 6, len(data), 1)
        data += packed
    return struct.pack(">II", len(package), len(data)) + index + data


def database(headers: Sequence[bytes], table: str = "Packages") -> bytes:
    """Return a database that states that it has a log."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE '{table}' (hnum INTEGER PRIMARY KEY AUTOINCREMENT, blob BLOB NOT NULL)")
        connection.executemany(f"INSERT INTO '{table}' (blob) VALUES (?)", [(one,) for one in headers])
        connection.commit()
        content = connection.serialize()
    return content[:18] + b"\2\2" + content[20:]
