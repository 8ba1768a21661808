"""The program: every command, and what becomes of their errors."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from orchestrator import __version__
from orchestrator.cli.speech import say
from orchestrator.errors import HostError, OrchestratorError

COMMANDS = {
    "plan": "plan",
    "build": "build",
    "run": "run",
    "report": "report",
    "regress": "regress",
    "bisect": "bisect",
    "compare": "compare",
    **dict.fromkeys(("runs", "show", "models", "frameworks", "schema"), "listing"),
    "doctor": "doctor",
    "clean": "clean",
    "nightly": "nightly",
    "history": "history",
    "export": "export",
    **dict.fromkeys(("verify", "load"), "load"),
    **dict.fromkeys(("collect", "merge"), "returning"),
}
"""Every command, and the module that has it."""


def program(arguments: Sequence[str]) -> typer.Typer:
    """Give the program with the command that these arguments begin with, or with every one where none is named.

    What one command needs can take longer to import than another takes to run.
    """
    named = next((argument for argument in arguments if not argument.startswith("-")), "")
    app = typer.Typer(
        name="orchestrator",
        help="Benchmark deep-learning frameworks against each other, in containers, on your own servers.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_top)
    for module in [COMMANDS[named]] if named in COMMANDS else dict.fromkeys(COMMANDS.values()):
        importlib.import_module(f"orchestrator.cli.{module}").register(app)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


def _top(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    del version


def run(arguments: Sequence[str] | None) -> int:
    """Run one command, `sys.argv` by default, and give its exit status; its errors are told on stderr."""
    stdout = sys.stdout
    try:
        given = sys.argv[1:] if arguments is None else list(arguments)
        program(given)(args=given)
        sys.stdout.flush()
    except SystemExit as end:
        # Typer puts another stdout there when the reader of ours has gone, as in `| head`: no failure of the command.
        return end.code if isinstance(end.code, int) and sys.stdout is stdout else 0
    except OrchestratorError as error:
        say(str(error))
        return error.exit_code
    except BrokenPipeError:
        # The reader has seen enough. Nothing more may be written to it, not even when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is None:
            say(f"output cannot be written: {error.strerror}")
        else:
            say(f"{error.filename}: cannot be used: {error.strerror}; choose another place")
        return HostError.exit_code
    return 0
