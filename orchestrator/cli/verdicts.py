"""What a regression test came to: shown in the form that was asked for, and as a page in the run's folder."""

import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli import outputs, speech
from orchestrator.cli.report import REPORT_WIDTH
from orchestrator.errors import HostError, InputError
from orchestrator.regression.model import Regression
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


Format = Annotated[FormatName | None, typer.Option("--format", help=outputs.FORMAT_HELP)]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="PATH", help=outputs.OUTPUT_HELP)]
_TEXTS: Mapping[FormatName, Callable[[Regression], str]] = {
    FormatName.MARKDOWN: markdown,
    FormatName.JSON: json_text,
    FormatName.JUNIT: junit_text,
}


def check_output(format_: FormatName | None, output: Path | None, *, json: bool) -> FormatName:
    """Return the format to show it in; raise `InputError`, before anything is measured, where that cannot be done."""
    if json and (format_ not in {None, FormatName.TABLE} or output is not None):
        raise InputError("--json prints JSON on stdout: leave out --format and --output, or --json")
    return outputs.chosen(FormatName, format_, output)


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
