"""The options that say how a report is shown and where it goes."""

import sys
from pathlib import Path
from typing import Any

import typer

from orchestrator.reporting.formats import FORMATS

FORMAT_HELP = "How to show it; by default what the ending of -o says, else a table."
OUTPUT_HELP = "Write there; a folder for html."


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
        help=FORMAT_HELP,
        metavar=f"<{'|'.join(names)}>",
        callback=known,
        autocompletion=lambda: list(names),
    )


def deliver(content: str, output: Path | None) -> None:
    """Write a text to a file, or to stdout if there is none."""
    from orchestrator.results.writing import write_atomically

    if output is None:
        sys.stdout.write(content)
    else:
        write_atomically(output, content)
