"""A results folder, or a run in it, whose name is not UTF-8: every command that reads results works on it."""

import os
import sqlite3
from pathlib import Path

import pytest

from orchestrator.reporting.formats import formats_of
from orchestrator.reporting.reports.run import RUN
from orchestrator.results.listing import index
from orchestrator.results.store import Run
from tests.envelopes import data_of
from tests.unit.cli.conftest import Program
from tests.unit.reporting import synthetic as s

pytestmark = pytest.mark.ordinary_user

NAME = "20260102T030405Z-abcd"
ODD = os.fsdecode(b"20260102T030405Z-\xff\xfe")
FOLDER = os.fsdecode(b"r\xe9sultats")


def store(run: Run) -> str:
    """Write a run of one repeat; return the id of its cell."""
    cell = s.cell(s.TORCH, repeats=1)
    run.write_record(s.record(s.plan([cell]), NAME))
    (item,) = s.ok(cell, [50_000.0])
    assert item.result is not None
    run.write_outcome(item.outcome)
    (run.repeat_folder(cell.id, 0) / "result.json").write_text(item.result.model_dump_json(by_alias=True))
    return cell.id


@pytest.fixture(params=[(FOLDER, NAME), ("results", ODD), (FOLDER, ODD)], ids=["folder", "run", "both"])
def run(tmp_path: Path, request: pytest.FixtureRequest) -> Run:
    folder, name = request.param
    made = Run(tmp_path / folder / name)
    store(made)
    store(Run(tmp_path / folder / "20260101T000000Z-0001"))
    # What is wrong with it is told with its path.
    (tmp_path / folder / "broken").mkdir()
    (tmp_path / folder / "broken" / "run.json").write_text("{")
    return made


def test_runs_are_listed(run: Run, command: Program) -> None:
    code, out, _ = command("runs", "--json", "--results", str(run.folder.parent))

    listed = data_of(out)
    assert code == 0
    assert {each["name"] for each in listed} == {run.name, "broken", "20260101T000000Z-0001"}
    assert command("runs", "--results", str(run.folder.parent))[0] == 0
    (problem,) = (each["problem"] for each in listed if each["name"] == "broken")
    assert problem.startswith(f"{run.folder.parent}/broken/run.json: not a run record")


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_run_is_shown(run: Run, command: Program, arguments: tuple[str, ...]) -> None:
    places = ("--results", str(run.folder.parent))
    code, out, _ = command("show", run.name, *arguments, *places)
    cell = next(iter(run.outcomes(run.plan().cells))).cell_id

    assert (code, cell in out) == (0, True)
    assert command("show", run.name, cell, *arguments, *places)[0] == 0


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--by-release",)])
def test_a_history_is_written(run: Run, command: Program, arguments: tuple[str, ...]) -> None:
    code, _, said = command("history", *arguments, "--results", str(run.folder.parent))

    assert code == 0, said


@pytest.mark.parametrize("form", formats_of(RUN))
def test_a_report_is_written(run: Run, command: Program, form: str) -> None:
    code, _, said = command("report", run.name, "--format", form, "--results", str(run.folder.parent))

    assert code == 0, said


def test_a_run_is_collected_or_refused_by_name(run: Run, command: Program, tmp_path: Path) -> None:
    file = str(tmp_path / os.fsdecode(b"r\xff.tar.zst"))
    code, _, said = command("collect", run.name, "--json", "-o", file, "--results", str(run.folder.parent))

    if run.name == ODD:
        assert (code, "rename the folder" in said) == (2, True)
    else:
        assert code == 0, said
        assert command("merge", file, "--results", str(tmp_path / os.fsdecode(b"\xff")))[0] == 0


def test_names_that_differ_in_bytes_alone_stay_apart(tmp_path: Path) -> None:
    names = {os.fsdecode(b"a\xff"), os.fsdecode(b"a\xfe"), "a\\udcff", "a\\\\udcff", "a\\"}
    for name in names:
        store(Run(tmp_path / "results" / name))

    for _ in ("made", "read again"):
        found = index.summaries(tmp_path / "results", tmp_path / "cache")
        assert {summary.name for summary in found} == names
        assert {summary.pending for summary in found} == {0}
    recorded = index.recorded(tmp_path / "results", tmp_path / "cache", sorted(names))
    assert [len(each.outcomes) for each in recorded] == [1] * len(names)
    (cache,) = (tmp_path / "cache").glob("*.sqlite")
    with sqlite3.connect(cache) as connection:
        stored = [name for (name,) in connection.execute("SELECT name FROM run")]
    connection.close()
    assert len(set(stored)) == len(names), "any program can read the cache"
