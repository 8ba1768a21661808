"""The program: every command, and what becomes of their errors."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from orchestrator import __version__
from orchestrator.cli import build, clean, composition, doctor, export, listing, load, plan, report, returning
from orchestrator.cli import run as run_command
from orchestrator.errors import HostError, OrchestratorError

app = typer.Typer(
    name="orchestrator",
    help="Benchmark deep-learning frameworks against each other, in containers, on your own servers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (plan, build, run_command, report, listing, doctor, clean, export, load, returning):
    module.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
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
        app(args=None if arguments is None else list(arguments))
        sys.stdout.flush()
    except SystemExit as end:
        # Typer puts another stdout there when the reader of ours has gone, as in `| head`: no failure of the command.
        return end.code if isinstance(end.code, int) and sys.stdout is stdout else 0
    except OrchestratorError as error:
        composition.say(str(error))
        return error.exit_code
    except BrokenPipeError:
        # The reader has seen enough. Nothing more may be written to it, not even when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is None:
            composition.say(f"output cannot be written: {error.strerror}")
        else:
            composition.say(f"{error.filename}: cannot be used: {error.strerror}; choose another place")
        return HostError.exit_code
    return 0
