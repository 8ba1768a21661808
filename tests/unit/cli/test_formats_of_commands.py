"""Every command that shows reports, on stored runs, in every format that there is."""

import csv
import io
import re
from pathlib import Path

import pytest

from orchestrator.cli.program import COMMANDS as COMMANDS_OF_PROGRAM
from orchestrator.reporting.formats import FORMATS, HTML, formats_of
from orchestrator.reporting.reports.history.report import HISTORY
from orchestrator.reporting.reports.regression.report import REGRESSION
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.side_by_side.report import SIDE_BY_SIDE
from orchestrator.workflows import outputs
from orchestrator.workflows.outputs import WrittenPage, write_to
from tests.unit.cli.conftest import Program
from tests.unit.cli.stored_runs import stored_run
from tests.unit.reporting.reports.test_regression_report import EVERY

ONE, OTHER = "20260102T030405Z-aaaa", "20260103T030405Z-bbbb"
COMMANDS = {
    "report": (RUN, ("report", ONE)),
    "report --all": (SIDE_BY_SIDE, ("report", "--all")),
    "compare": (REGRESSION, ("compare", ONE, OTHER)),
    "history": (HISTORY, ("history", "--metric", "all")),
}
NAMES = [each.name for each in FORMATS]


@pytest.fixture(autouse=True)
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    for name in (ONE, OTHER):
        stored_run(folder, name)
    return folder


def test_every_command_with_a_format_is_walked(command: Program) -> None:
    shows = {name for name in COMMANDS_OF_PROGRAM if re.search(r"^ +--format ", command(name, "-h")[1], re.MULTILINE)}

    assert shows == {name.split()[0] for name in COMMANDS} | {"regress"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command_line", COMMANDS)
def test_every_command_in_every_format(command: Program, command_line: str, name: str, tmp_path: Path) -> None:
    kind, arguments = COMMANDS[command_line]
    code, out, error = command(*arguments, "--format", name, "-o", "out")

    if name not in formats_of(kind):
        assert (code, out) == (2, "")
        assert f"'{name}' is not one of" in error
        return
    assert (code, out) == (0, ""), error
    written = tmp_path / "out"
    text = (written / "index.html" if name == HTML else written).read_text()
    assert "lenet-train-b200" in text
    if name in {"csv", "tsv"}:
        assert list(csv.DictReader(io.StringIO(text), delimiter="," if name == "csv" else "\t"))


@pytest.mark.parametrize("name", formats_of(REGRESSION))
def test_regress_writes_every_format(name: str, tmp_path: Path) -> None:
    """It writes its test by the function that `compare` uses."""
    write_to(tmp_path / "out", EVERY, name, WrittenPage())

    written = tmp_path / "out"
    assert (written / "index.html" if name == HTML else written).read_text()


@pytest.mark.parametrize("command_line", COMMANDS)
def test_the_ending_names_the_format_everywhere(command: Program, command_line: str, tmp_path: Path) -> None:
    kind, arguments = COMMANDS[command_line]
    for ending, name in outputs.ENDINGS.items():
        if name == HTML or name not in formats_of(kind):
            continue
        assert command(*arguments, "-o", f"by-ending{ending}")[0] == 0
        assert command(*arguments, "--format", name, "-o", "by-name")[0] == 0
        assert (tmp_path / f"by-ending{ending}").read_text() == (tmp_path / "by-name").read_text()


def test_history_writes_pages_only_where_asked(command: Program, results: Path) -> None:
    """As on the terminal by default; a format of text has none."""
    assert command("history", "--format", "tsv")[0] == 0
    assert not (results / "history").exists()

    code, out, error = command("history", "--format", "html")
    assert (code, out, error) == (0, "", "page: results/history/index.html\n")
    assert (results / "history" / "index.html").exists()


def test_history_on_the_terminal_is_its_table(command: Program) -> None:
    _, printed, _ = command("history")
    _, table, _ = command("history", "--format", "table")

    assert printed == table
    assert printed.endswith("page: results/history/index.html\n")
