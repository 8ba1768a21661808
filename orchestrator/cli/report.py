"""`report`: a run as a table, a text, or a page."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from orchestrator import reporting
from orchestrator.cli import composition
from orchestrator.cli.options import DEFAULT_RESULTS, Results, RunName
from orchestrator.errors import HostError, InputError
from orchestrator.results.store import Run, write_atomically

PAGE_FOLDER = "report"
REPORT_WIDTH = 120
"""Columns of the table where no terminal has its own."""


class Format(StrEnum):
    """What a report can be."""

    TABLE = "table"
    MARKDOWN = "md"
    CSV = "csv"
    JSON = "json"
    JUNIT = "junit"
    HTML = "html"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)


def report(
    run: RunName = "",
    results: Results = DEFAULT_RESULTS,
    format_: Annotated[Format, typer.Option("--format", help="How to show it.")] = Format.TABLE,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PATH", help="Write there (a folder for html).")
    ] = None,
) -> None:
    """Show a run again, from its files."""
    if output is not None and output.is_dir() and format_ is not Format.HTML:
        raise InputError(f"-o {output}: is a folder; name a file in it")
    found = composition.find_run(results, run)
    content = reporting.report(found)
    if format_ is Format.HTML:
        composition.say(f"page: {reporting.write_html(content, output or found.folder / PAGE_FOLDER, found.folder)}")
    elif format_ is Format.TABLE and output is None:
        show(found, content)
    else:
        text = table_text(content) if format_ is Format.TABLE else reporting.FORMATS[format_](content)
        if output is None:
            sys.stdout.write(text)
        else:
            write_atomically(output, text)


def show(run: Run, content: reporting.Report) -> None:
    """Print the table, write the page into the run's folder, and say where it is."""
    console = composition.output(REPORT_WIDTH)
    console.print(reporting.table(content))
    try:
        page = reporting.write_html(content, run.folder / PAGE_FOLDER, run.folder)
    except HostError as error:
        # A colleague's results may be read only; their table is worth reading all the same.
        composition.say(f"no page: {error}")
    else:
        console.print(f"page: {page}", soft_wrap=True)


def table_text(content: reporting.Report) -> str:
    """The table as plain text, 120 columns wide."""
    console = composition.output(REPORT_WIDTH)
    console.width = REPORT_WIDTH
    with console.capture() as captured:
        console.print(reporting.table(content))
    return captured.get()
