"""Combinations of `-o`, `--format` and `--json`, and the refusals of impossible ones."""

import csv
import json
from pathlib import Path

import pytest

from orchestrator.reporting.formats import formats_of
from orchestrator.reporting.reports.history.report import HISTORY
from tests.envelopes import data_of
from tests.unit.cli.conftest import Program
from tests.unit.cli.stored_runs import stored_run


@pytest.fixture
def run(tmp_path: Path) -> str:
    return stored_run(tmp_path / "results").name


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("rep.md", "# example"),
        ("rep.csv", "run,cell,"),
        ("rep.tsv", "run\tcell\t"),
        ("REP.JSON", '{\n "schema"'),
        ("rep.xml", "<testsuites"),
    ],
)
def test_the_ending_names_the_format(command: Program, run: str, tmp_path: Path, name: str, beginning: str) -> None:
    code, _, error = command("report", run, "-o", name)

    assert (code, error) == (0, "")
    assert (tmp_path / name).read_text().startswith(beginning)


def test_other_endings_hold_a_table(command: Program, run: str, tmp_path: Path) -> None:
    assert command("report", run, "-o", "rep.txt")[0] == 0
    assert command("report", run, "--format", "csv", "-o", "figures.out")[0] == 0

    assert "planned repeat" in (tmp_path / "rep.txt").read_text()
    assert list(csv.DictReader((tmp_path / "figures.out").read_text().splitlines()))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-o", "rep.md", "--format", "csv"), "its ending says md, not csv: drop --format, or rename the file"),
        (("-o", "rep.md", "--json"), "its ending says md, not json: drop --json, or rename the file"),
        (("-o", "rep.md", "--json", "--format", "json"), "not json: drop --json and --format, or rename the file"),
        (("--json", "--format", "csv"), "--json and --format csv ask for two formats"),
        (("-o", "rep.html"), "--format html -o rep"),
        (("-o", "x/y.csv"), "there is no folder x; create it first: mkdir -p x"),
        (("-o", "matrix/y.csv"), "matrix is no folder"),
        (("-o", "results"), "is a folder; name a file in it"),
    ],
)
def test_what_cannot_be_written_is_refused(
    command: Program, run: str, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "matrix").write_text("")
    before = sorted(tmp_path.rglob("*"))

    code, out, error = command("report", run, *arguments)

    assert (code, out) == (2, "")
    assert said in error
    assert len(error.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_missing_folder_is_named_by_every_command(command: Program, run: str) -> None:
    """Before anything is measured or packed: `regress` and `compare` too."""
    for arguments in (("collect", run, "-o", "x/y.tar.zst"), ("compare", run, "-o", "x/y.md"),
                      ("regress", "--baseline", "noop==1", "--candidate", "noop==1", "-o", "x/y.md")):  # fmt: skip
        code, _, error = command(*arguments)

        assert (code, "mkdir -p x" in error) == (2, True), error


def test_history_refuses_a_format_that_it_lacks(command: Program, run: str) -> None:
    code, _, error = command("history", "-o", "y.xml")

    assert (code, run in error) == (2, False)
    assert f"writes no junit; there is {', '.join(formats_of(HISTORY))}" in error


@pytest.mark.parametrize("arguments", [("report",), ("compare", "A"), ("history",)])
def test_a_mistyped_format_gets_its_close_match(command: Program, arguments: tuple[str, ...]) -> None:
    code, out, error = command(*arguments, "--format", "jsn")

    assert (code, out) == (2, "")
    assert "'jsn' is not one of 'table', " in error
    assert "did you mean 'json'?" in error


def test_json_of_report_is_that_of_its_format(command: Program, run: str, tmp_path: Path) -> None:
    code, out, _ = command("report", run, "--json")
    command("report", run, "--json", "-o", "rep.json")

    assert code == 0
    assert data_of(out) == data_of(command("report", run, "--format", "json")[1])
    assert data_of((tmp_path / "rep.json").read_text())["run"] == run


COMMANDS = (("report",), ("history",), ("compare", "20260102", "20260103"))


@pytest.fixture
def runs(tmp_path: Path) -> None:
    for name in ("20260102T030405Z-aaaa", "20260103T030405Z-bbbb"):
        stored_run(tmp_path / "results", name)


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda words: words[0])
def test_json_means_the_format(command: Program, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """On stdout, and in a file whatever its name is."""
    printed = command(*arguments, "--json")
    for options in (("--json",), ("--format", "json"), ()):
        code, out, error = command(*arguments, *options, "-o", "x.json")

        assert (code, out, error) == (0, "", "")
        assert (tmp_path / "x.json").read_text() == printed[1]
    assert command(*arguments, "--format", "json") == printed
    assert printed[0] == 0
    assert not (tmp_path / "results" / "history").exists()


REGRESS = ("regress", "--baseline", "noop==1", "--candidate", "noop==1")


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("arguments", [*COMMANDS, REGRESS], ids=lambda words: words[0])
def test_json_in_another_file_is_refused(command: Program, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    for options, said in (
        (("--json", "-o", "x.csv"), "-o x.csv: its ending says csv, not json: drop --json, or rename the file"),
        (("--json", "--format", "csv"), "--json and --format csv ask for two formats: leave one out"),
    ):
        code, out, error = command(*arguments, *options)

        assert (code, out, json.loads(error)["message"]) == (2, "", said)
    assert not (tmp_path / "x.csv").exists()


def test_a_mistyped_choice_gets_its_close_match(command: Program) -> None:
    code, _, error = command("run", "--runtime", "dokcer")

    assert code == 2
    assert "Value error" not in error
    assert "'dokcer' is not one of 'auto', 'docker', 'venv', 'host'; did you mean 'docker'?" in error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("plan", "--limit", "x"), "Invalid value for '--limit': 'x' is no whole number"),
        (("plan", "--limit", "1.5"), "Invalid value for '--limit': '1.5' is no whole number"),
        (("plan", "--limit", "0"), "Invalid value for '--limit': should be at least 1, not '0'"),
        (("history", "--min-effect", "x"), "Invalid value for '--min-effect': 'x' is no number"),
        (("history", "--min-effect", "2"), "Invalid value for '--min-effect': should be at most 1, not '2'"),
        (("plan", "--limit", "9" * 5000), "is no whole number that this program can read"),
    ],
)
def test_a_mistyped_number_is_said_in_plain_words(command: Program, arguments: tuple[str, ...], said: str) -> None:
    code, out, error = command(*arguments)

    assert (code, out) == (2, "")
    assert said in error
    assert "Input should" not in error
    assert len(error) < 300
