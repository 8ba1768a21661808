"""Commands that read results say what of a merge is missing, and why a run cannot be read."""

import json
from pathlib import Path

import pytest

from orchestrator.results.store import Run
from tests.envelopes import data_of
from tests.unit.bundles.returns.returning_runs import OTHER, RUN, a_run, content
from tests.unit.cli.conftest import Program
from tests.unit.cli.stored_runs import stored_run

READERS = (("runs",), ("show",), ("report",), ("report", "--all"), ("history",), ("collect", "--all"))
STAGING = ".merging-0123456789abcdef"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A merge of two runs that was killed after the first got its name."""
    results = tmp_path / "results"
    stored_run(results, "20260101T000000Z-0000")
    stored_run(results, RUN)
    stored_run(results / STAGING, OTHER)
    for run in (results / RUN, results / STAGING / OTHER):
        (run / ".merged").touch()
    (results / ".merging.json").write_text(json.dumps({"staging": STAGING, "runs": [RUN, OTHER]}))
    return results


@pytest.mark.parametrize("arguments", READERS, ids=" ".join)
def test_hidden_runs_are_counted(command: Program, results: Path, arguments: tuple[str, ...]) -> None:
    assert results.is_dir()

    code, shown, said = command(*arguments)

    assert code == 0
    notice = "2 runs of an interrupted merge are hidden; the next merge of any file completes it"
    assert said.splitlines().count(notice) == 1
    assert RUN not in shown


def test_a_folder_of_hidden_runs_alone_says_so(command: Program, results: Path) -> None:
    (results / "20260101T000000Z-0000").rename(results.parent / "elsewhere")

    code, _, said = command("show")

    assert code == 2
    assert said.splitlines()[0].startswith("2 runs of an interrupted merge are hidden")


@pytest.mark.parametrize("name", [RUN, RUN[:-1]])
@pytest.mark.parametrize(
    "arguments", [("run", "--resume"), ("regress", "--resume"), ("show",), ("report",)], ids=" ".join
)
def test_a_hidden_run_is_named_as_such(command: Program, results: Path, arguments: tuple[str, ...], name: str) -> None:
    assert results.is_dir()

    code, _, said = command(*arguments, name)

    assert code == 2
    assert said.splitlines()[-1] == (
        f"results: {RUN} is hidden by an interrupted merge; merge its file again, or any other, to complete it"
    )


def test_a_hidden_run_alone_is_named(command: Program, results: Path) -> None:
    (results / "20260101T000000Z-0000").rename(results.parent / "elsewhere")

    code, _, said = command("run", "--resume", RUN)

    assert code == 2
    assert f"{RUN} is hidden by an interrupted merge" in said


@pytest.mark.parametrize("arguments", READERS, ids=" ".join)
def test_an_unreadable_journal_is_told(command: Program, results: Path, arguments: tuple[str, ...]) -> None:
    (results / ".merging.json").write_text('{"staging":')

    code, _, said = command(*arguments)

    assert code == 0
    assert "results/.merging.json: is not the journal of a merge: some runs of that merge may be missing here" in said


def test_runs_without_a_merge_journal_are_kept(command: Program, results: Path, tmp_path: Path) -> None:
    """The refusal says to move the unreadable journal away; a later merge must not remove what it spoke of."""
    a_run(tmp_path / "far", "20260103T000000Z-ffff")
    assert command("collect", "--all", "--results", "far")[0] == 0
    journal = results / ".merging.json"
    journal.write_text('{"staging":')
    staged = content(results / STAGING)

    code, _, refused = command("merge", "results.tar.zst")
    assert code == 3
    assert f"move it away; results/{STAGING} with its 1 run is kept" in refused
    journal.unlink()
    code, _, said = command("merge", "results.tar.zst")

    assert code == 0
    assert content(results / STAGING) == staged
    assert (
        f"kept: results/{STAGING} has 1 run of an interrupted merge; merge its file again, then remove the folder"
        in said.splitlines()
    )
    assert data_of(command("merge", "results.tar.zst", "--json")[1])["kept"] == [f"results/{STAGING}"]


def test_show_says_why_a_run_cannot_be_read(command: Program, tmp_path: Path) -> None:
    run = stored_run(tmp_path / "results", RUN)
    (run.folder / "run.json").write_text("{")

    code, shown, said = command("show")

    assert (code, "torch-2.13.0-cpu/lenet-train-b200" in shown) == (0, True)
    assert f"results/{RUN}/run.json: not a run record" in said


@pytest.mark.parametrize("arguments", [("show",), ("show", "--json"), ("show", RUN, "a/b")], ids=" ".join)
def test_showing_only_unreadable_runs_is_an_error(command: Program, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """To show nothing that can be read is an error."""
    run = Run(tmp_path / "results" / RUN)
    run.folder.mkdir(parents=True)
    (run.folder / "run.json").write_text("{")

    code, shown, said = command(*arguments)

    assert (code, shown, len(said.splitlines())) == (2, "", 1)
    assert f"results/{RUN}/run.json: not a run record" in said
