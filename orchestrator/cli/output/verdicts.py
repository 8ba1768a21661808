"""The result of a regression test, in the format asked for."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.output import outputs, speech
from orchestrator.errors import InputError
from orchestrator.reporting.formats import HTML, JSON, TABLE, render

if TYPE_CHECKING:
    from orchestrator.regression.model import Regression
    from orchestrator.workflows.pages import WrittenPage

Format = Annotated[str | None, outputs.format_option()]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="PATH", help=outputs.OUTPUT_HELP)]


def check_output(format_: str | None, output: Path | None, *, json: bool) -> str:
    """Return the format to show a test in; raise `InputError`, before anything is measured, if there is none."""
    from orchestrator.reporting.reports.regression import REGRESSION
    from orchestrator.workflows.outputs import chosen_format

    if json and (format_ not in {None, TABLE} or output is not None):
        raise InputError("--json prints JSON on stdout: leave out --format and --output, or --json")
    return chosen_format(REGRESSION, format_, output)


def show(regression: "Regression", page: "WrittenPage", format_: str, output: Path | None, *, json: bool) -> None:
    """Show a test. Its page goes to the place asked for, if the format is HTML."""
    from orchestrator.reporting.formats.terminal import shown
    from orchestrator.reporting.reports.regression import REGRESSION, write_html

    if json:
        sys.stdout.write(render(REGRESSION, regression, JSON))
        _say_problem(page)
    elif format_ == HTML:
        path = write_html(regression, output) if output is not None else page.path
        if path is not None:
            speech.say(f"page: {path}")
        else:
            _say_problem(page)
    elif format_ == TABLE and output is None:
        console = speech.output(speech.REPORT_WIDTH)
        console.print(shown(REGRESSION, regression))
        if page.path is not None:
            speech.tell(console, f"page: {page.path}")
        _say_problem(page)
    else:
        outputs.deliver(render(REGRESSION, regression, format_), output)


def _say_problem(page: "WrittenPage") -> None:
    """Say why there is no page. Results may be read only, and the verdicts are worth reading all the same."""
    if page.problem:
        speech.say_error(f"no page: {page.problem}")
