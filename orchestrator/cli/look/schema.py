"""The command `schema`."""

from typing import Annotated

import typer

from orchestrator.cli.options import examples
from orchestrator.cli.output import speech
from orchestrator.workflows.option_values import SCHEMAS


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("schema", epilog=examples("orchestrator schema matrix", "orchestrator schema report"))(schema)


def schema(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[NAME]",
            autocompletion=lambda: list(SCHEMAS),
            help=f"Of which file or document: {', '.join(SCHEMAS)}.",
        ),
    ] = "matrix",
) -> None:
    """Print a JSON Schema: of a file, such as matrix.yaml for editors, of what --json prints, of a line of progress."""
    from orchestrator.workflows import schemas as workflow

    speech.print_json(workflow.schema(name))
