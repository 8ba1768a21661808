"""The result of a regression test, shown in a format, and as a page in the run's folder."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.output import outputs, speech
from orchestrator.errors import HostError, InputError
from orchestrator.regression.model import Regression
from orchestrator.reporting.formats import HTML, JSON, TABLE, render
from orchestrator.reporting.formats.terminal import shown
from orchestrator.reporting.reports.regression import REGRESSION, write_html
from orchestrator.results.store import Run
from orchestrator.workflows.outputs import chosen_format
from orchestrator.workflows.pages import REGRESSION_FOLDER

Format = Annotated[str | None, outputs.format_option(REGRESSION)]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="PATH", help=outputs.OUTPUT_HELP)]


def check_output(format_: str | None, output: Path | None, *, json: bool) -> str:
    """Return the format to show a test in. Raises `InputError` before anything is measured if there is none."""
    if json and (format_ not in {None, TABLE} or output is not None):
        raise InputError("--json prints JSON on stdout: leave out --format and --output, or --json")
    return chosen_format(REGRESSION, format_, output)


def show(run: Run | None, regression: Regression, format_: str, output: Path | None, *, json: bool) -> None:
    """Show a test. Its page is written into the run's folder, or to `output`."""
    if json:
        sys.stdout.write(render(REGRESSION, regression, JSON))
        _page(run, regression, None)
    elif format_ == HTML:
        page = _page(run, regression, output)
        if page is not None:
            speech.say(f"page: {page}")
    elif format_ == TABLE and output is None:
        console = speech.output(speech.REPORT_WIDTH)
        console.print(shown(REGRESSION, regression))
        page = _page(run, regression, None)
        if page is not None:
            speech.tell(console, f"page: {page}")
    else:
        outputs.deliver(render(REGRESSION, regression, format_), output)


def _page(run: Run | None, regression: Regression, output: Path | None) -> Path | None:
    folder = output or (run.folder / REGRESSION_FOLDER if run else None)
    if folder is None:
        return None
    try:
        return write_html(regression, folder)
    except HostError as error:
        if output is not None:
            raise
        # Results may be read only; the table is worth reading all the same.
        speech.say_error(f"no page: {error}")
        return None
