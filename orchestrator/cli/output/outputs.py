"""The options that say how a report is shown and where it goes, and the showing of it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.output import github, speech
from orchestrator.errors import InputError
from orchestrator.reporting.formats import FORMATS, HTML, JSON, TABLE, render

if TYPE_CHECKING:
    from rich.console import Console

    from orchestrator.regression.model import Regression
    from orchestrator.reporting.document import Content, Kind
    from orchestrator.workflows.outputs import WrittenPage


def format_option(*missing: str) -> Any:
    """Return the option `--format` of a command whose kind of report lacks these fields of `Kind`."""
    names = tuple(each.name for each in FORMATS if each.view not in missing)

    def known(name: str | None) -> str | None:
        if name is not None and name not in names:
            listed = ", ".join(repr(each) for each in names)
            raise typer.BadParameter(f"{name!r} is not one of {listed}.")
        return name

    return typer.Option(
        "--format",
        help="How to show it; by default what the ending of -o says, else a table.",
        metavar=f"<{'|'.join(names)}>",
        callback=known,
        autocompletion=lambda: list(names),
    )


def wanted_format(kind: "Kind[Any]", format_: str | None, output: Path | None, *, json: bool) -> str:
    """Return the format that `--json`, `--format` or the ending of `-o` names; `--json` means `--format json`.

    Raises `InputError` if two of them contradict each other, or if nothing can be written to `-o`.
    """
    from orchestrator.workflows.outputs import chosen_format

    if json and format_ not in {None, JSON}:
        raise InputError(f"--json and --format {format_} ask for two formats: leave one out")
    options = " and ".join(name for name, value in (("--json", json), ("--format", format_)) if value)
    return chosen_format(kind, JSON if json else format_, output, options)


def named_format(kind: "Kind[Any]", format_: str | None, output: Path | None, *, json: bool) -> str | None:
    """Return the format that an option or the ending of `-o` names, or None if nothing names one."""
    from orchestrator.workflows.outputs import named_by

    is_named = json or format_ is not None or named_by(output) is not None
    return wanted_format(kind, format_, output, json=json) if is_named else None


Format = Annotated[str | None, format_option()]
RegressionFormat = Annotated[str | None, format_option("traces")]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="PATH", help="Write there; a folder for html.")]


def print_table(
    kind: "Kind[Content]", value: "Content", width: int = speech.REPORT_WIDTH, *, soft_wrap: bool = False
) -> "Console":
    """Print a report as a table, and return the console for what follows it."""
    from orchestrator.reporting.formats.terminal import shown

    console = speech.output(width)
    console.print(shown(kind, value), soft_wrap=soft_wrap)
    return console


def show(kind: "Kind[Content]", value: "Content", page: "WrittenPage") -> None:
    """Print a report as a table, and say where its page is or why there is none."""
    console = print_table(kind, value)
    if page.path is not None:
        speech.tell(console, f"page: {page.path}")
    _say_problem(page)


def show_regression(regression: "Regression", page: "WrittenPage", format_: str, *, is_written: bool) -> None:
    """Show a regression test, or say where its page is. One that was written to a file is not shown."""
    from orchestrator.reporting.reports.regression.report import REGRESSION

    if format_ == HTML:
        if page.path is not None:
            speech.say(f"page: {page.path}")
        _say_problem(page)
    elif format_ == TABLE and not is_written:
        show(REGRESSION, regression, page)
    else:
        github.add_summary(format_, lambda: render(REGRESSION, regression, "md"))
        if not is_written:
            sys.stdout.write(render(REGRESSION, regression, format_))
        if format_ == JSON:
            _say_problem(page)


def _say_problem(page: "WrittenPage") -> None:
    """Say why there is no page. Results may be read only, and are worth reading all the same."""
    if page.problem:
        speech.say_error(f"no page: {page.problem}")
