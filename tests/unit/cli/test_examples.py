"""The examples at the end of every command's help."""

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from orchestrator.cli.program import COMMANDS, program
from tests.unit.cli.conftest import Program

PROGRAM: Any = typer.main.get_command(program())
TOP = PROGRAM.make_context("orchestrator", ["schema"])
BELOW = ("data export", "nightly accept", "nightly ack", "nightly status")


def _loaded(words: list[str]) -> tuple[Any, list[str]]:
    """Return the command that a line names, and what follows its name."""
    name, command, rest = PROGRAM.resolve_command(TOP, words)
    if rest[:1] and rest[0] in getattr(command, "commands", {}):
        return command.commands[rest[0]], rest[1:]
    assert name == words[0]
    return command, rest


def _examples(name: str) -> list[str]:
    command, _ = _loaded(name.split())
    return [line.strip() for line in (command.epilog or "").splitlines() if line.startswith("  ")]


def _every() -> Iterator[Any]:
    for name in (*COMMANDS, *BELOW):
        yield from (pytest.param(name, line, id=line) for line in _examples(name))


@pytest.mark.parametrize("name", [*COMMANDS, *BELOW])
def test_every_command_ends_with_its_examples(name: str, command: Program) -> None:
    code, out, _ = command(*name.split(), "--help")

    shown = [line.strip() for line in out.partition("\nExamples:\n")[2].splitlines() or out.splitlines()]
    assert code == 0
    assert 1 <= len(_examples(name)) <= 2
    assert shown[-len(_examples(name)) :] == _examples(name)
    assert all(line.startswith(f"orchestrator {name} ") for line in _examples(name))


@pytest.mark.parametrize(("name", "line"), list(_every()))
def test_every_example_can_be_parsed(name: str, line: str) -> None:
    _, *words = shlex.split(line)
    command, rest = _loaded(words)

    context = command.make_context(name, rest, parent=TOP)

    assert any(context.get_parameter_source(each).name == "COMMANDLINE" for each in context.params)
    assert context.args == []


def test_a_rotten_example_would_not_pass() -> None:
    command, rest = _loaded(["regress", "--basline", "mxnet==1.5.1"])

    with pytest.raises(Exception, match="No such option"):
        command.make_context("regress", rest, parent=TOP)
