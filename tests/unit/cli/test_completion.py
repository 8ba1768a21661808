"""What shells offer, asked as they ask it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

MATRIX = """\
version: 1
systems: {cpu: {cpus: 1}}
frameworks: [noop==1]
models: [lenet, mlp]
"""
PROGRAM = [sys.executable, "-c", "from orchestrator.cli import main; import sys; sys.argv[0] = 'orchestrator'; main()"]


def offered(folder: Path, line: str, shell: str = "bash") -> list[str]:
    """What the program answers to a shell that completes the last word of a line."""
    words = line.split(" ")
    environment = dict(os.environ, _ORCHESTRATOR_COMPLETE=f"complete_{shell}", COMP_WORDS=line)
    environment |= {"COMP_CWORD": str(len(words) - 1), "_TYPER_COMPLETE_ARGS": line}
    environment |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    ended = subprocess.run(PROGRAM, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    return [word.split("\t")[0] for word in ended.stdout.split("\n") if word]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    for name in ("20260101T000000Z-aaaa", "20260102T000000Z-bbbb"):
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / "run.json").write_text("{}")
    return tmp_path


def test_commands_are_offered_in_bash_and_fish(folder: Path) -> None:
    assert "doctor" in offered(folder, "orchestrator do")
    assert "doctor" in offered(folder, "orchestrator do", shell="fish")


def test_in_zsh_too(folder: Path) -> None:
    (line,) = [line for line in offered(folder, "orchestrator do", shell="zsh") if "doctor" in line]

    assert line


def test_runs_are_offered_newest_first(folder: Path) -> None:
    assert offered(folder, "orchestrator report 2026") == ["20260102T000000Z-bbbb", "20260101T000000Z-aaaa"]
    assert offered(folder, "orchestrator run --resume l") == ["latest"]


def test_cells_of_the_matrix_are_offered(folder: Path) -> None:
    assert offered(folder, "orchestrator run --select noop-1-cpu/m") == ["noop-1-cpu/mlp-train-b32"]


@pytest.mark.parametrize("line", ["orchestrator run --select x", "orchestrator show 20260101T000000Z-aaaa n"])
def test_a_broken_file_offers_nothing_and_says_nothing(folder: Path, line: str) -> None:
    (folder / "matrix.yaml").write_text("version: [")

    assert offered(folder, line) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_that_a_shell_needs_is_shown(tmp_path: Path, shell: str) -> None:
    environment = dict(os.environ, _ORCHESTRATOR_COMPLETE=f"source_{shell}")
    ended = subprocess.run(PROGRAM, env=environment, capture_output=True, text=True, check=True)

    assert "_ORCHESTRATOR_COMPLETE" in ended.stdout
