import contextlib
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.bundles.describe.rpm_database import UnreadableError, packages
from tests.unit.bundles.describe.rpm_headers import database, header

BASH = {"name": "bash", "version": "5.1.8", "release": "9.el9", "license": "GPLv3+", "arch": "x86_64"}
SHADOW = BASH | {"name": "shadow-utils", "epoch": 2}
WHOLE = database([header(BASH), header(SHADOW)])


def test_every_package_is_there_with_its_header() -> None:
    """Every package is there with what its header says."""
    assert packages(WHOLE) == [BASH, SHADOW | {"epoch": "2"}]


def test_keys_of_signers_are_no_packages() -> None:
    key = {"name": "gpg-pubkey", "version": "fd431d51", "release": "4ae0493b"}

    assert packages(database([header(key), header(BASH)])) == [BASH]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 4096,
        WHOLE[:5000],
        database([], table="packages of another kind"),
        database([b""]),
        database([header(BASH)[:-1]]),
        database([header({"version": "1"})]),
        database([header(BASH), header({"name": "", "version": "1"})]),
    ],
    ids=["empty", "zeros", "cut", "another table", "no header", "cut header", "no name", "empty name"],
)
def test_partly_readable_database_is_not_read(content: bytes) -> None:
    """A database that cannot be read whole is not read at all."""
    with pytest.raises(UnreadableError):
        packages(content)


def test_view_instead_of_the_table_is_refused() -> None:
    """A view in place of the table is not queried."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE VIEW Packages AS WITH RECURSIVE n(hnum) AS (SELECT 1 UNION ALL SELECT hnum FROM n) "
            "SELECT hnum, hnum AS blob FROM n"
        )
        content = connection.serialize()

    with pytest.raises(UnreadableError, match="no table of packages"):
        packages(content)


@given(st.data())
def test_whatever_is_damaged_is_packages_or_is_told(data: st.DataObject) -> None:
    damaged = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))

    with contextlib.suppress(UnreadableError):
        assert all(package["name"] for package in packages(bytes(damaged)))


@given(st.binary(max_size=400))
def test_any_header_is_a_package_or_is_told(content: bytes) -> None:
    with contextlib.suppress(UnreadableError):
        assert all(package["name"] for package in packages(database([content])))
