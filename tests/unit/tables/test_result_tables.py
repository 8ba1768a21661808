"""Tables in Arrow, as a notebook has them."""

import os
import sys
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pytest

from orchestrator import api
from orchestrator.results.store import Run
from orchestrator.tables import lazy
from orchestrator.tables.reading import TABLES
from tests.unit.cli.stored_runs import stored_run
from tests.unit.reporting import synthetic as s
from tests.unit.tables.stored_results import corpus_runs


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> api.ResultTables:
    return api.results(corpus_runs(tmp_path_factory.mktemp("corpus")))


@pytest.mark.parametrize("name", [table.name for table in TABLES])
def test_a_table_is_the_same_everywhere(tables: api.ResultTables, name: str) -> None:
    arrow = tables[name].to_arrow()
    frame, polar = tables[name].to_pandas(), tables[name].to_polars()

    assert arrow.schema.equals(tables[name].schema, check_metadata=True)
    assert list(frame.columns) == polar.columns == arrow.column_names
    assert len(frame) == polar.height == arrow.num_rows
    assert polar.to_arrow().cast(arrow.schema).to_pylist() == arrow.to_pylist()
    if name not in {"gpu_blocks", "telemetry"}:
        assert arrow.num_rows, "the corpus has some"


def test_fields_say_what_they_hold(tables: api.ResultTables) -> None:
    schema = tables.repeats.schema

    assert schema.field("import_s").metadata[b"unit"] == b"s"
    assert schema.field("throughput").metadata[b"unit"] == b"samples/s"
    assert schema.field("started_at").type == pa.timestamp("us", tz="UTC")
    assert schema.metadata[b"schema"] == b"results/1"
    assert all(field.metadata[b"description"] for table in tables for field in table.schema)


def test_other_libraries_read_a_table_as_it_is(tables: api.ResultTables) -> None:
    repeats = tables.repeats  # DuckDB finds it by its name

    counted = duckdb.sql("SELECT count(*) FROM repeats").fetchall()

    assert counted == [(repeats.to_arrow().num_rows,)]
    assert polars.DataFrame(tables.cells).height == tables.cells.to_arrow().num_rows


def test_batches_are_never_the_whole(tables: api.ResultTables, monkeypatch: pytest.MonkeyPatch) -> None:
    from orchestrator.tables import reading

    monkeypatch.setattr(reading, "BATCH_ROWS", 1000)
    batches = list(tables.latencies.batches())

    assert max(batch.num_rows for batch in batches) < 2000
    assert len(batches) > 3


def test_nothing_is_read_before_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored_run(tmp_path)
    opened: list[str] = []
    for name in ("record", "result", "outcome"):
        monkeypatch.setattr(Run, name, _noting(getattr(Run, name), name, opened))

    tables = api.results(tmp_path)
    assert opened == []
    assert tables.runs.to_arrow().num_rows == 1
    assert set(opened) == {"record"}
    assert tables.outcomes.to_arrow().num_rows == 1
    assert set(opened) == {"record", "outcome"}
    tables.latencies.to_arrow()
    assert "result" in opened


def _noting(method: Any, name: str, opened: list[str]) -> Any:
    def noting(*arguments: Any, **named: Any) -> Any:
        opened.append(name)
        return method(*arguments, **named)

    return noting


@pytest.mark.parametrize(
    ("library", "remedy"),
    [
        ("pyarrow", "pip install pyarrow"),
        ("pandas", "pip install pandas"),
        ("polars", "pip install polars"),
    ],
)
def test_a_missing_library_has_a_remedy(
    library: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored_run(tmp_path)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(api.InputError, match="is not installed") as raised:
        _converted(tmp_path, library)

    assert str(raised.value).startswith(f"{library} is not installed")
    assert str(raised.value).endswith(remedy)


def _converted(results: Path, library: str) -> object:
    table = api.results(results).runs
    return table.to_pandas() if library == "pandas" else table.to_polars()


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(api.InputError, match="no such folder; `orchestrator run` makes one"):
        api.results(tmp_path / "nowhere")


def test_an_unknown_table_is_none(tables: api.ResultTables) -> None:
    with pytest.raises(KeyError):
        tables["to_arrow"]
    assert [table.name for table in tables] == [table.name for table in TABLES]
    assert set(lazy.ResultTables.__annotations__) == {table.name for table in TABLES}


def test_names_that_are_no_text_are_spelled_out(tmp_path: Path) -> None:
    stored_run(tmp_path / "results")
    odd = os.fsdecode(b"20260102T030405Z-\xff")
    (tmp_path / "results" / "20260102T030405Z-abcd").rename(tmp_path / "results" / odd)

    (row,) = api.results(tmp_path / "results").runs.to_arrow().to_pylist()

    assert row["run"] == "20260102T030405Z-\\udcff"
    assert row["matrix"]


def test_a_number_beyond_all_bounds_is_null(tmp_path: Path) -> None:
    run = stored_run(tmp_path, cells=(s.cell(s.TORCH, repeats=1),))
    record = run.record()
    run.write_record(record.model_copy(update={"host": {**record.host, "cpus": 2**70, "cores": 2}}))

    (row,) = api.results(tmp_path).runs.to_arrow().to_pylist()

    assert (row["host_cpus"], row["host_cores"]) == (None, 2)
