"""Exports of all runs: what they hold, what is read again, and what a failure leaves."""

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator import api
from orchestrator.tables import reading
from orchestrator.tables.export import swapping
from orchestrator.tables.reading import NAMES, TABLES, read_batches
from orchestrator.tables.stored import stored_runs
from tests.unit.cli.stored_runs import stored_run
from tests.unit.reporting import synthetic as s
from tests.unit.tables.stored_results import corpus_runs

HOST = api.Host({})
FORMATS = list(api.TablesFormat)
KILLED = """
import os, sys
from pathlib import Path
from orchestrator import api
from orchestrator.tables import reading
read = reading.result_source
left = int(sys.argv[3])
def killing(*arguments):
    global left
    left -= 1
    if left < 0:
        os._exit(9)
    return read(*arguments)
reading.result_source = killing
api.export_tables(api.TablesOptions(results=Path(sys.argv[1]), output=Path(sys.argv[2])), api.Host({}))
"""


def output(folder: Path, format_: api.TablesFormat) -> Path:
    return folder / ("all.sqlite" if format_ is api.TablesFormat.SQLITE else "all")


def export(results: Path, target: Path) -> api.TablesResult:
    return api.export_tables(api.TablesOptions(results=results, output=target), HOST)


def held(target: Path) -> dict[str, list[dict[str, Any]]]:
    """Return every row of an export, in the order of its keys."""
    tables = {}
    for table in TABLES:
        if target.is_dir():
            rows = pq.read_table(target / table.name).to_pylist()
        else:
            with closing(sqlite3.connect(target)) as connection:
                connection.row_factory = sqlite3.Row
                rows = [dict(row) for row in connection.execute(f"SELECT * FROM {table.name}")]
        tables[table.name] = sorted(rows, key=repr)
    return tables


def expected(results: Path, target: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the files themselves, as the format of an export holds them."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in NAMES}
    for name, some in read_batches(stored_runs(results), NAMES):
        columns = [column.name for column in next(table for table in TABLES if table.name == name).columns]
        rows[name] += [dict(zip(columns, row, strict=True)) for row in some]
    if not target.is_dir():
        moments = [each for of in rows.values() for each in of]
        for row in moments:
            row.update({k: v.isoformat(timespec="microseconds") for k, v in row.items() if hasattr(v, "isoformat")})
            row.update({k: int(v) for k, v in row.items() if isinstance(v, bool)})
    return {name: sorted(map(_plain, of), key=repr) for name, of in rows.items()}


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, str) else value for name, value in row.items()}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus_runs(tmp_path_factory.mktemp("corpus"))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two runs of two repeats each."""
    for number in range(2):
        stored_run(tmp_path / "results", f"2026010{number + 2}T030405Z-abcd", (s.cell(s.TORCH, repeats=2),))
    return tmp_path / "results"


@pytest.mark.parametrize("format_", FORMATS)
def test_an_export_holds_what_the_files_say(format_: api.TablesFormat, corpus: Path, tmp_path: Path) -> None:
    target = output(tmp_path, format_)

    result = export(corpus, target)

    assert held(target) == expected(corpus, target)
    assert result.format is format_
    assert {name: len(rows) for name, rows in held(target).items()} == dict(result.rows)
    assert sum(result.rows.values()) > 1000


def test_columns_are_described_in_sqlite_too(results: Path, tmp_path: Path) -> None:
    export(results, tmp_path / "all.db")

    with closing(sqlite3.connect(tmp_path / "all.db")) as connection:
        (unit,) = connection.execute(
            "SELECT unit FROM columns WHERE table_name = 'repeats' AND column_name = 'import_s'"
        ).fetchone()
        names = ", ".join(column.name for table in TABLES for column in table.columns if table.name == "parity")
        assert connection.execute(f"SELECT {names} FROM parity").fetchall() == [], "no name needs quotes"
    assert unit == "s"


def test_parquet_files_say_what_they_hold(results: Path, tmp_path: Path) -> None:
    export(results, tmp_path / "all")

    for table in api.results(results):
        for file in (tmp_path / "all" / table.name).iterdir():
            assert pq.read_schema(file).equals(table.schema, check_metadata=True)


@pytest.mark.parametrize("format_", FORMATS)
def test_only_changed_runs_are_read_again(
    format_: api.TablesFormat, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = output(tmp_path, format_)
    first = export(results, target)
    read: list[str] = []
    monkeypatch.setattr(reading, "_read_run", _noting(reading._read_run, read))

    assert export(results, target).unchanged == first.read
    assert read == []
    stored_run(results, "20260109T030405Z-abcd")
    assert export(results, target).read == ("20260109T030405Z-abcd",)
    assert read == ["20260109T030405Z-abcd"]
    assert held(target) == expected(results, target)


def _noting(method: Callable[..., Any], read: list[str]) -> Callable[..., Any]:
    def noting(stored: Any, wanted: frozenset[str]) -> Iterator[Any]:
        read.append(stored.name)
        return method(stored, wanted)

    return noting


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("change", ["outcome", "result", "record", "environments", "repeat", "parity"])
def test_a_changed_file_is_noticed(format_: api.TablesFormat, change: str, results: Path, tmp_path: Path) -> None:
    target = output(tmp_path, format_)
    export(results, target)
    first, _ = stored_runs(results)
    place = first.run.repeat_folder(next(iter(first.cells)), 0)
    match change:
        case "outcome":
            text = (place / "outcome.json").read_text()
            (place / "outcome.json").write_text(text.replace("12.5", "13.5"))
        case "result":
            (place / "result.json").write_text("{}")
        case "record":
            record = first.run.record()
            first.run.write_record(record.model_copy(update={"runtime": "venv"}))
        case "environments":
            first.run.write_environments(())
        case "repeat":
            shutil.rmtree(place)
        case "parity":
            (first.run.folder / "parity/torch/lenet").mkdir(parents=True)
            (first.run.folder / "parity/torch/lenet/outcome.json").write_text("{}")

    assert export(results, target).read == (first.name,)
    assert held(target) == expected(results, target)


@pytest.mark.parametrize("format_", FORMATS)
def test_a_removed_run_goes(format_: api.TablesFormat, results: Path, tmp_path: Path) -> None:
    target = output(tmp_path, format_)
    first, second = export(results, target).read
    shutil.rmtree(results / first)

    result = export(results, target)

    assert (result.read, result.unchanged, result.removed) == ((), (second,), (first,))
    assert {row["run"] for rows in held(target).values() for row in rows} == {second}
    assert held(target) == expected(results, target)


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("after", [0, 3])
def test_a_killed_export_leaves_the_old_state(
    format_: api.TablesFormat, after: int, results: Path, tmp_path: Path
) -> None:
    target = output(tmp_path, format_)
    export(results, target)
    before = held(target)
    for number in range(2):
        stored_run(results, f"2026011{number}T030405Z-abcd", (s.cell(s.TORCH, repeats=2),))

    ended = subprocess.run([sys.executable, "-c", KILLED, results, target, str(after)], check=False)

    assert ended.returncode == 9
    assert held(target) == before
    export(results, target)
    assert held(target) == expected(results, target)
    left = {path.name for path in tmp_path.iterdir()} - {"results", target.name, f".{target.name}.lock"}
    assert left == set()


def test_a_first_export_that_was_killed_leaves_nothing(results: Path, tmp_path: Path) -> None:
    target = tmp_path / "all"
    subprocess.run([sys.executable, "-c", KILLED, results, target, "1"], check=False)

    assert not target.exists()
    export(results, target)
    assert held(target) == expected(results, target)


def test_readers_see_no_moment_without_an_export(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old folder and the new one change places in one step, and an open folder stays what it was."""
    target = tmp_path / "all"
    export(results, target)
    before = os.open(target, os.O_DIRECTORY)
    renamed: list[Path] = []
    monkeypatch.setattr(Path, "rename", lambda self, to: renamed.append(self))
    stored_run(results, "20260109T030405Z-abcd")

    export(results, target)

    assert renamed == []
    assert os.fstat(before).st_ino != target.stat().st_ino
    os.close(before)


def test_a_file_system_without_exchanges_is_enough(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "all"
    export(results, target)
    monkeypatch.setattr(swapping, "_exchanged", lambda *_: False)
    monkeypatch.setattr(Path, "hardlink_to", _unsupported)
    stored_run(results, "20260109T030405Z-abcd")

    export(results, target)

    assert held(target) == expected(results, target)
    # Killed between the two renames: the old state comes back before anything is read.
    target.rename(tmp_path / ".all.new-0123.old")
    (tmp_path / ".all.new-4567").mkdir()
    assert len(export(results, target).unchanged) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == [".all.lock", "all", "results"]


def _unsupported(*_: object) -> None:
    raise OSError(errno.EPERM, "no links here")


def test_a_lost_file_is_written_again(results: Path, tmp_path: Path) -> None:
    target = tmp_path / "all"
    export(results, target)
    for file in (target / "repeats").iterdir():
        file.unlink()

    assert len(export(results, target).read) == 2
    assert held(target) == expected(results, target)


def test_many_exports_leave_few_files(results: Path, tmp_path: Path) -> None:
    """The rows of small segments are taken over, those of large ones stay where they are."""
    target = tmp_path / "all"
    kept = []
    for number in range(12):
        stored_run(results, f"202602{number + 1:02}T030405Z-abcd")
        kept.append({file.name for file in (target / "runs").glob("*")} if target.exists() else set())
        export(results, target)

    assert held(target) == expected(results, target)
    assert len(list((target / "runs").iterdir())) <= 4
    assert any(earlier & later for earlier, later in pairwise(kept[1:])), "a large segment stays"


@pytest.mark.parametrize("name", ["folder", "file", "other.sqlite", "text.sqlite", "link", "state"])
def test_nothing_else_is_overwritten(name: str, results: Path, tmp_path: Path) -> None:
    place = tmp_path / name
    match name:
        case "folder":
            (place / "mine").mkdir(parents=True)
        case "link":
            place.symlink_to(results)
        case "state":
            place.mkdir()
            (place / "export.json").write_text("[]")
        case "other.sqlite":
            with closing(sqlite3.connect(place)) as connection:
                connection.execute("CREATE TABLE mine (x)")
        case _:
            place.write_text("mine, and longer than the head of a file of SQLite would ever be" * 9)

    with pytest.raises(api.InputError, match="is no export of results; choose another place"):
        export(results, place)

    if place.is_file() and not name.endswith("other.sqlite"):
        assert place.read_text().startswith("mine")


def test_an_unwritable_place_is_said(results: Path, tmp_path: Path) -> None:
    with pytest.raises(api.InputError, match="there is no folder"):
        export(results, tmp_path / "nowhere" / "all")
    with pytest.raises(api.InputError, match="no such folder"):
        export(tmp_path / "nowhere", tmp_path / "all")


def test_sqlite_needs_no_other_library(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    assert export(results, tmp_path / "all.sqlite").rows["repeats"] == 4
    with pytest.raises(api.InputError, match="pip install"):
        export(results, tmp_path / "all")


def test_columns_of_an_older_program_are_made_anew(results: Path, tmp_path: Path) -> None:
    target = tmp_path / "all.sqlite"
    export(results, target)
    with closing(sqlite3.connect(target)) as connection, connection:
        connection.execute("DELETE FROM columns WHERE column_name = 'throughput'")
        connection.execute("DROP TABLE repeats")
        connection.execute("CREATE TABLE repeats (run TEXT)")

    assert len(export(results, target).read) == 2
    assert held(target) == expected(results, target)


def test_a_table_without_rows_can_be_queried(results: Path, tmp_path: Path) -> None:
    export(results, tmp_path / "all")

    empty = pq.read_table(tmp_path / "all" / "telemetry")
    assert (empty.num_rows, "power_w" in empty.column_names) == (0, True)
    assert isinstance(empty, pa.Table)


def test_odd_names_of_runs_are_files(tmp_path: Path) -> None:
    results = tmp_path / "results"
    names = [os.fsdecode(b"20260102T030405Z-\xff"), "2026 *?[x]'", "2" * 255]
    for name in names:
        stored_run(results)
        (results / "20260102T030405Z-abcd").rename(results / name)

    export(results, tmp_path / "all")
    again = export(results, tmp_path / "all")

    assert (len(again.unchanged), again.removed) == (3, ())
    assert pq.read_table(tmp_path / "all" / "repeats").num_rows == 3
