"""`report`: a run, or several beside each other, as a table, a text, or a page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli import composition, outputs, speech
from orchestrator.cli.completion import run_names
from orchestrator.cli.options import DEFAULT_RESULTS, EveryRun, Json, Results
from orchestrator.errors import HostError, InputError
from orchestrator.reporting.findings.gather import report as read_report
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import HTML, JSON, TABLE, render
from orchestrator.reporting.formats.terminal import shown
from orchestrator.reporting.reports.beside import side_by_side
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.run.page import write_html
from orchestrator.reporting.reports.side_by_side import SIDE_BY_SIDE
from orchestrator.reporting.reports.side_by_side import write_html as write_side_by_side
from orchestrator.results.store import Run

PAGE_FOLDER = "report"
SEVERAL_FOLDER = "side-by-side"
"""In the results folder: the page of several runs."""


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
    format_: Annotated[str | None, outputs.format_option(RUN)] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="PATH", help=outputs.OUTPUT_HELP)] = None,
    json: Json = False,
) -> None:
    """Show a run again from its files, or several side by side, such as those of different hosts."""
    asked = " and ".join(name for name, given in (("--json", json), ("--format", format_)) if given)
    shown_as = outputs.chosen(RUN, _asked(format_, json=json), output, asked)
    composition.tell_of_hidden(results)
    several = composition.find_runs(results, runs or (), every=every)
    if len(several) > 1:
        show_several(several, results, shown_as, output)
        return
    run = several[0]
    content = read_report(run)
    if shown_as == HTML:
        speech.say(f"page: {write_html(content, output or run.folder / PAGE_FOLDER, run.folder)}")
    elif shown_as == TABLE and output is None:
        show(run, content)
    else:
        outputs.deliver(render(RUN, content, shown_as), output)


def _asked(format_: str | None, *, json: bool) -> str | None:
    """Return the format of `--format`, or of `--json`, which means the same as `--format json`."""
    if json and format_ not in {None, JSON}:
        raise InputError(f"--json and --format {format_} ask for two formats: leave one out")
    return JSON if json else format_


def show_several(runs: Sequence[Run], results: Path, format_: str, output: Path | None) -> None:
    """Show runs side by side; a page links to a page of each, which is made with it."""
    reports = [read_report(run) for run in runs]
    content = side_by_side(reports)
    if format_ == HTML:
        pages = [_page(run, report) for run, report in zip(runs, reports, strict=True)]
        speech.say(f"page: {write_side_by_side(content, output or results / SEVERAL_FOLDER, pages)}")
    elif format_ == TABLE and output is None:
        speech.output(speech.REPORT_WIDTH).print(shown(SIDE_BY_SIDE, content))
    else:
        outputs.deliver(render(SIDE_BY_SIDE, content, format_), output)


def _page(run: Run, content: Report) -> Path | None:
    """Write a run's own page, and return its path; None where its folder cannot be written."""
    try:
        return write_html(content, run.folder / PAGE_FOLDER, run.folder)
    except HostError as error:
        speech.say(f"no page: {error}")
        return None


def show(run: Run, content: Report) -> None:
    """Print the table, write the page into the run's folder, and say where it is."""
    console = speech.output(speech.REPORT_WIDTH)
    console.print(shown(RUN, content))
    # A colleague's results may be read only; their table is worth reading all the same.
    page = _page(run, content)
    if page is not None:
        speech.tell(console, f"page: {page}")
