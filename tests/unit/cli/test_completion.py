"""The words that shells offer, asked as shells ask."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.cli import main
from tests.unit.cli.stored_runs import stored_run

Offered = Callable[..., list[str]]

MATRIX = """\
version: 1
systems: {cpu: {cpus: 1}}
frameworks: [noop==1]
models: [lenet, mlp]
"""
PROGRAM = [sys.executable, "-c", "from orchestrator.cli import main; import sys; sys.argv[0] = 'orchestrator'; main()"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    for name in ("20260101T000000Z-aaaa", "20260102T000000Z-bbbb"):
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / "run.json").write_text("{}")
    return tmp_path


@pytest.fixture
def offered(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Offered:
    """Return the program's answer to a shell that completes the last word of a line."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["orchestrator"])
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)  # or it is called `python -m pytest`

    def words_offered(line: str, shell: str = "bash") -> list[str]:
        words = line.split(" ")
        asked = {"_ORCHESTRATOR_COMPLETE": f"complete_{shell}", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
        asked |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
        with monkeypatch.context() as environment:
            for name, value in asked.items():
                environment.setenv(name, value)
            with pytest.raises(SystemExit):
                main()
        captured = capsys.readouterr()
        assert captured.err == ""
        return [word.split("\t")[0] for word in captured.out.split("\n") if word]

    return words_offered


def test_commands_are_offered_in_bash_and_fish(offered: Offered) -> None:
    assert "doctor" in offered("orchestrator do")
    assert "doctor" in offered("orchestrator do", shell="fish")


def test_in_zsh_too(offered: Offered) -> None:
    (line,) = [line for line in offered("orchestrator do", shell="zsh") if "doctor" in line]

    assert line


def test_runs_are_offered_newest_first(offered: Offered) -> None:
    assert offered("orchestrator report 2026") == ["20260102T000000Z-bbbb", "20260101T000000Z-aaaa"]
    assert offered("orchestrator run --resume l") == ["latest"]


def test_cells_of_the_matrix_are_offered(offered: Offered) -> None:
    assert offered("orchestrator run --select noop-1-cpu/m") == ["noop-1-cpu/mlp-train-b32"]


@pytest.mark.parametrize("line", ["report 20990101", "show 20990101", "compare 20990101:mxnet==1", "report"])
def test_cells_of_stored_runs_are_offered(line: str, folder: Path, offered: Offered) -> None:
    stored_run(folder / "results", "20990101T000000Z-cccc")

    assert offered(f"orchestrator {line} --select t") == ["torch-2.13.0-cpu/lenet-train-b200"]


def test_options_of_every_command_are_offered(offered: Offered) -> None:
    for line in ("orchestrator", "orchestrator runs", "orchestrator nightly accept"):
        assert {"--quiet", "--verbose", "--color"} <= set(offered(f"{line} --"))
    assert offered("orchestrator runs --color ") == ["auto", "always", "never"]


@pytest.mark.parametrize("line", ["orchestrator run --select x", "orchestrator show 20260101T000000Z-aaaa n"])
def test_a_broken_file_offers_nothing_and_says_nothing(folder: Path, offered: Offered, line: str) -> None:
    (folder / "matrix.yaml").write_text("version: [")

    assert offered(line) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_that_a_shell_needs_is_shown(tmp_path: Path, shell: str) -> None:
    environment = dict(os.environ, _ORCHESTRATOR_COMPLETE=f"source_{shell}")
    ended = subprocess.run(PROGRAM, env=environment, capture_output=True, text=True, check=True)

    assert "_ORCHESTRATOR_COMPLETE" in ended.stdout


def test_a_long_description_is_one_line() -> None:
    """A shell takes every line for a candidate."""
    asked = {"_ORCHESTRATOR_COMPLETE": "complete_fish", "_TYPER_COMPLETE_ARGS": "orchestrator run --"}
    environment = {**os.environ, **asked, "_TYPER_COMPLETE_FISH_ACTION": "get-args", "COLUMNS": "40"}
    ended = subprocess.run(PROGRAM, env=environment, capture_output=True, text=True, check=True)

    lines = ended.stdout.splitlines()
    assert [line for line in lines if not line.startswith("--")] == []
    assert max(map(len, lines)) > 80
