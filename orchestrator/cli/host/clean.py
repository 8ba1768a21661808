"""The command `clean`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import Json, examples
from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from orchestrator.workflows.host.clean import SurplusItem


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("clean", epilog=examples("orchestrator clean --keep-last 1", "orchestrator clean --yes"))(clean)


def clean(
    keep_last: Annotated[
        int, typer.Option("--keep-last", min=0, metavar="N", help="Newest contents to keep of each image.")
    ] = option_values.KEEP_LAST,
    yes: Annotated[bool, typer.Option("--yes", help="Remove it; without this, only say what would go.")] = False,
    json: Json = False,
) -> None:
    """Show what of ours takes disk and can be made again, and remove it with --yes; results stay."""
    from orchestrator.workflows.documents.host import surplus_document
    from orchestrator.workflows.host import clean as workflow
    from orchestrator.workflows.host.clean import CleanOptions

    result = workflow.clean(CleanOptions(keep_last=keep_last, remove=yes), this_host())
    if json:
        speech.print_document(surplus_document(result, removed=yes))
    else:
        _show(result.surplus, result.engine_problem)


def _show(items: "Sequence[SurplusItem]", problem: str) -> None:
    from rich.table import Table
    from rich.text import Text

    console = speech.output(speech.REPORT_WIDTH)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("what", "name", "made", "frees", ""):
        table.add_column(column, overflow="fold", justify="right" if column == "frees" else "left")
    for item in items:
        done = {None: "", True: "removed", False: "in use, left"}[item.removed]
        table.add_row(*map(Text, (item.kind, item.name, item.created, f"{item.frees_bytes / 1e6:,.0f} MB", done)))
    if items:
        console.print(table)
    if problem:
        speech.say_error(f"images were not looked at: {problem}")
    freed = sum(item.frees_bytes for item in items if item.removed is not False) / 1e9
    dry = any(item.removed is None for item in items)
    verb, hint = ("would free", "; --yes does it") if dry else ("freed", "")
    console.print(Text(f"{verb} about {freed:.1f} GB{hint}" if items else "nothing of ours that could go"))
