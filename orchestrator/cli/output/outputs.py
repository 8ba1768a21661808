"""The options that say how a report is shown and where it goes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from orchestrator.errors import InputError
from orchestrator.reporting.formats import FORMATS, JSON

if TYPE_CHECKING:
    from orchestrator.reporting.document import Kind

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


def wanted_format(kind: "Kind[Any]", format_: str | None, output: Path | None, *, json: bool) -> str:
    """Return the format that `--json`, `--format` or the ending of `-o` names; `--json` means `--format json`.

    Raises `InputError` if two of them contradict each other, or if nothing can be written to `-o`.
    """
    from orchestrator.workflows.outputs import chosen_format

    if json and format_ not in {None, JSON}:
        raise InputError(f"--json and --format {format_} ask for two formats: leave one out")
    options = " and ".join(name for name, value in (("--json", json), ("--format", format_)) if value)
    return chosen_format(kind, JSON if json else format_, output, options)
