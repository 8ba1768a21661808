"""What a regression test came to: shown in the form that was asked for, and as a page in the run's folder."""

import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli import speech
from orchestrator.cli.report import REPORT_WIDTH
from orchestrator.errors import HostError, InputError
from orchestrator.regression import Regression
from orchestrator.reporting.regressions_as_html import write_html
from orchestrator.reporting.regressions_as_text import json_text, junit_text, markdown, table, table_text
from orchestrator.results.store import Run, write_atomically

PAGE_FOLDER = "regression"


class FormatName(StrEnum):
    """What a verdict can be shown as."""

    TABLE = "table"
    MARKDOWN = "md"
    JSON = "json"
    JUNIT = "junit"
    HTML = "html"


Format = Annotated[FormatName, typer.Option("--format", help="How to show it.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="PATH", help="Write there (a folder for html).")]
_TEXTS: Mapping[FormatName, Callable[[Regression], str]] = {
    FormatName.MARKDOWN: markdown,
    FormatName.JSON: json_text,
    FormatName.JUNIT: junit_text,
}


def check_output(format_: FormatName, output: Path | None, *, json: bool) -> None:
    """Raise `InputError` where what was asked for cannot be shown so, before anything is measured."""
    if json and (format_ is not FormatName.TABLE or output is not None):
        raise InputError("--json prints JSON on stdout: leave out --format and --output, or --json")
    if output is not None and output.is_dir() and format_ is not FormatName.HTML:
        raise InputError(f"-o {output}: is a folder; name a file in it")


def show(run: Run | None, found: Regression, format_: FormatName, output: Path | None, *, json: bool) -> None:
    """Show it; a page is written into the run's folder, or where it was asked for."""
    if json:
        sys.stdout.write(json_text(found))
        _page(run, found, None)
        return
    if format_ is FormatName.HTML:
        page = _page(run, found, output)
        if page is not None:
            speech.say(f"page: {page}")
        return
    if format_ is FormatName.TABLE and output is None:
        console = speech.output(REPORT_WIDTH)
        console.print(table(found))
        page = _page(run, found, None)
        if page is not None:
            speech.tell(console, f"page: {page}")
        return
    text = table_text(found) if format_ is FormatName.TABLE else _TEXTS[format_](found)
    if output is None:
        sys.stdout.write(text)
    else:
        write_atomically(output, text)


def _page(run: Run | None, found: Regression, output: Path | None) -> Path | None:
    folder = output or (run.folder / PAGE_FOLDER if run else None)
    if folder is None:
        return None
    try:
        return write_html(found, folder)
    except HostError as error:
        if output is not None:
            raise
        # Results may be read only; the table is worth reading all the same.
        speech.say(f"no page: {error}")
        return None
