"""`report`: a run, or several beside each other, as a table, a text, or a page."""

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from orchestrator import reporting
from orchestrator.cli import composition, outputs, speech
from orchestrator.cli.completion import run_names
from orchestrator.cli.options import DEFAULT_RESULTS, EveryRun, Json, Results
from orchestrator.errors import HostError, InputError
from orchestrator.results.store import Run, write_atomically

PAGE_FOLDER = "report"
SEVERAL_FOLDER = "side-by-side"
"""In the results folder: the page of several runs."""
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
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            autocompletion=run_names,
            help="A run's name or the beginning of it, the latest by default; of several, each is a column.",
        ),
    ] = None,
    every: EveryRun = False,
    results: Results = DEFAULT_RESULTS,
    format_: Annotated[Format | None, typer.Option("--format", help=outputs.FORMAT_HELP)] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="PATH", help=outputs.OUTPUT_HELP)] = None,
    json: Json = False,
) -> None:
    """Show a run again from its files, or several side by side, such as those of different hosts."""
    asked = " and ".join(name for name, given in (("--json", json), ("--format", format_)) if given)
    shown_as = outputs.chosen(Format, _asked(format_, json=json), output, asked)
    composition.tell_of_hidden(results)
    several = composition.find_runs(results, runs or (), every=every)
    if len(several) > 1:
        show_several(several, results, shown_as, output)
        return
    found = several[0]
    content = reporting.report(found)
    if shown_as is Format.HTML:
        speech.say(f"page: {reporting.write_html(content, output or found.folder / PAGE_FOLDER, found.folder)}")
    elif shown_as is Format.TABLE and output is None:
        show(found, content)
    else:
        text = table_text(content) if shown_as is Format.TABLE else reporting.FORMATS[shown_as](content)
        if output is None:
            sys.stdout.write(text)
        else:
            write_atomically(output, text)


def _asked(format_: Format | None, *, json: bool) -> Format | None:
    """The format of `--format`, or of `--json`, which means the same as `--format json`."""
    if json and format_ not in {None, Format.JSON}:
        raise InputError(f"--json and --format {format_} ask for two formats: leave one out")
    return Format.JSON if json else format_


def show_several(runs: Sequence[Run], results: Path, format_: Format, output: Path | None) -> None:
    """Show runs side by side; a page links to a page of each, which is made with it."""
    reports = [reporting.report(run) for run in runs]
    content = reporting.side_by_side(reports)
    if format_ is Format.HTML:
        pages = [_page(run, report) for run, report in zip(runs, reports, strict=True)]
        place = reporting.write_hosts_html(content, output or results / SEVERAL_FOLDER, pages)
        speech.say(f"page: {place}")
    elif format_ is Format.TABLE and output is None:
        speech.output(REPORT_WIDTH).print(reporting.hosts_table(content))
    else:
        made = _plain(reporting.hosts_table(content)) if format_ is Format.TABLE else None
        text = made if made is not None else reporting.HOSTS_FORMATS[format_](content)
        if output is None:
            sys.stdout.write(text)
        else:
            write_atomically(output, text)


def _page(run: Run, content: reporting.Report) -> Path | None:
    """Write a run's own page, and return its path; None where its folder cannot be written."""
    try:
        return reporting.write_html(content, run.folder / PAGE_FOLDER, run.folder)
    except HostError as error:
        speech.say(f"no page: {error}")
        return None


def show(run: Run, content: reporting.Report) -> None:
    """Print the table, write the page into the run's folder, and say where it is."""
    console = speech.output(REPORT_WIDTH)
    console.print(reporting.table(content))
    # A colleague's results may be read only; their table is worth reading all the same.
    page = _page(run, content)
    if page is not None:
        speech.tell(console, f"page: {page}")


def table_text(content: reporting.Report) -> str:
    """The table as plain text, 120 columns wide."""
    return _plain(reporting.table(content))


def _plain(renderable: RenderableType) -> str:
    console = speech.output(REPORT_WIDTH)
    console.width = REPORT_WIDTH
    with console.capture() as captured:
        console.print(renderable)
    return captured.get()
