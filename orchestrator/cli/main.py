"""The program: every command, and what becomes of their errors."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from orchestrator import __version__
from orchestrator.cli import build, listing, plan, report, run
from orchestrator.errors import OrchestratorError

app = typer.Typer(
    name="orchestrator",
    help="Benchmark deep-learning frameworks against each other, in containers, on your own servers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (plan, build, run, report, listing):
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit: 0 fine, 1 something failed, 2 bad input, 3 the host cannot, 130 interrupted."""
    try:
        app(args=None if arguments is None else list(arguments))
    except OrchestratorError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(error.exit_code)
