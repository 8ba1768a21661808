"""The page of the command line says what the program does."""

import re
from pathlib import Path

from orchestrator.cli import everywhere
from orchestrator.cli.manual import COMPLETIONS, STATUS
from orchestrator.cli.output.pages import ADDRESS
from orchestrator.resources import ROOT
from tests.unit.cli.conftest import Program
from tests.unit.cli.terminals import on_terminal

PAGE = (ROOT / "docs" / "command-line.md").read_text()


def test_every_option_of_all_commands_is_there() -> None:
    rows = re.findall(r"^\| `-(?:\w`, `-)?-([a-z-]+)", PAGE, re.MULTILINE)

    assert sorted(name.replace("-", "_") for name in rows) == sorted(everywhere._NAMES)


def test_every_exit_status_is_there() -> None:
    assert re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE) == [status for status, _ in STATUS]


def test_its_beginnings_run(command: Program) -> None:
    """The one that asks needs a terminal; `test_init.py` has it."""
    lines = re.findall(r"^orchestrator (init .*)$", PAGE, re.MULTILINE)

    assert lines
    for number, line in enumerate(lines):
        assert command(*line.split(), "-f", f"{number}.yaml")[0] == 0


def test_its_error_is_that_of_the_program(tmp_path: Path) -> None:
    (example,) = re.findall(r"```text\n(matrix.yaml:.*?)```", PAGE, re.DOTALL)
    (tmp_path / "matrix.yaml").write_text("version: 1\nframeworks: [nop==1]\nmodels: [lenet]\n")

    assert on_terminal(tmp_path, ("plan",), columns=200, **{ADDRESS: ""})[1] == example


def test_its_files_are_installed() -> None:
    assert f'"$VIRTUAL_ENV/share/{COMPLETIONS["bash"]}"' in PAGE
    assert (ROOT / "share" / COMPLETIONS["bash"]).is_file()
