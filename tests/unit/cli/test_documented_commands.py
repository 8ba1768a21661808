"""Every command that a page shows is one that the program understands, with its options."""

from contextlib import suppress
from typing import Any

import pytest
import typer

from bench.documentation.documented_commands import DocumentedCommand, documented_commands, pages
from orchestrator.cli.program import program

OF_SHELLS = {"--install-completion", "--show-completion"}
"""Options that act at once, and need a shell that calls the program."""
SHOWN = [command for page in pages() for command in documented_commands(page) if not OF_SHELLS & set(command.arguments)]


def test_pages_show_most_commands() -> None:
    assert len(SHOWN) > 100


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: f"{shown.page}:{shown.line[:60]}")
def test_documented_command_is_understood(shown: DocumentedCommand) -> None:
    """The real command line parses it."""
    understood(shown.arguments)


def test_unknown_option_is_found() -> None:
    with pytest.raises(Exception, match="--no-such"):
        understood(("run", "--no-such"))


def understood(arguments: tuple[str, ...]) -> None:
    """Parse arguments as the program does. Raises the error of the command line for any that it does not know."""
    group: Any = typer.main.get_group(program())
    with suppress(typer.Exit):  # of --help and --version
        context = group.make_context("orchestrator", list(arguments))
        command: Any = group
        while hasattr(command, "resolve_command") and (rest := [*context._protected_args, *context.args]):
            name, command, rest = command.resolve_command(context, rest)
            context = command.make_context(name, rest, parent=context)
