"""The result of a regression test, in the format asked for."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.output import outputs, speech
from orchestrator.reporting.formats import HTML, JSON, TABLE, render

if TYPE_CHECKING:
    from orchestrator.regression.model import Regression
    from orchestrator.workflows.pages import WrittenPage

Format = Annotated[str | None, outputs.format_option()]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="PATH", help=outputs.OUTPUT_HELP)]


def show(regression: "Regression", page: "WrittenPage", format_: str, *, is_written: bool) -> None:
    """Show a test, or say where its page is. One that was written to a file is not shown."""
    from orchestrator.reporting.formats.terminal import shown
    from orchestrator.reporting.reports.regression import REGRESSION

    if format_ == HTML:
        if page.path is not None:
            speech.say(f"page: {page.path}")
        _say_problem(page)
    elif format_ == TABLE and not is_written:
        console = speech.output(speech.REPORT_WIDTH)
        console.print(shown(REGRESSION, regression))
        if page.path is not None:
            speech.tell(console, f"page: {page.path}")
        _say_problem(page)
    else:
        if not is_written:
            sys.stdout.write(render(REGRESSION, regression, format_))
        if format_ == JSON:
            _say_problem(page)


def _say_problem(page: "WrittenPage") -> None:
    """Say why there is no page. Results may be read only, and the verdicts are worth reading all the same."""
    if page.problem:
        speech.say_error(f"no page: {page.problem}")
