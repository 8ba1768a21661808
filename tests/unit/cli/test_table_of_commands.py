"""The table of commands: it names all of them, and the program needs no more to list them."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from orchestrator.cli import main
from orchestrator.cli.program import COMMANDS


@pytest.mark.parametrize("module", sorted({module for module, _ in COMMANDS.values()}))
def test_table_names_every_command_of_a_module(module: str) -> None:
    app = typer.Typer()
    importlib.import_module(f"orchestrator.cli.{module}").register(app)

    registered = {str(one.name) for one in (*app.registered_commands, *app.registered_groups)}

    assert registered == {name for name, (other, _) in COMMANDS.items() if other == module}


@pytest.mark.parametrize("width", ["60", "80", "200"])
def test_help_lists_every_command_in_its_group(
    width: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    with pytest.raises(SystemExit):
        main(["--help"])

    text = capsys.readouterr().out
    shown: dict[str, str] = {}
    for group in ("Measure", "Look", "Compare", "Ship", "Host"):
        lines = text.partition(f"\n{group}:\n")[2].partition("\n\n")[0].splitlines()
        names = [line.split()[0] for line in lines if line[2] != " "]
        assert names == [name for name, (module, _) in COMMANDS.items() if module.startswith(f"{group.lower()}.")]
        shown |= dict.fromkeys(names, group)
    assert list(shown) == list(COMMANDS)
    assert "..." not in text.partition("\nMeasure:\n")[2]
    assert all(help_ in " ".join(text.split()) for _, help_ in COMMANDS.values())


@pytest.mark.parametrize("name", COMMANDS)
def test_short_help_fits_one_line(name: str) -> None:
    assert len(f"  {max(COMMANDS, key=len)}  {COMMANDS[name][1]}") <= 78


def test_unknown_command_gets_a_close_match(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["reprot"])

    assert ended.value.code == 2
    assert "Did you mean 'report'" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["reprot"]], ids=" ".join)
def test_nothing_heavy_loads_before_a_command_is_named(arguments: list[str], tmp_path: Path) -> None:
    """A shell asks for the names of commands at every key."""
    script = (
        "import sys\nfrom orchestrator.cli.program import run\nrun(sys.argv[1:])\n"
        "heavy = {'numpy', 'rich', 'yaml', 'jinja2', 'docker', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    command = [sys.executable, "-c", script, *arguments]

    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stderr
