"""The format of a report: asked for by name, or named by the ending of the file that `-o` names."""

import sys
from pathlib import Path
from typing import Any

import typer

from orchestrator.errors import InputError
from orchestrator.reporting.document import Content, Kind
from orchestrator.reporting.formats import FORMATS, HTML, TABLE, formats_of
from orchestrator.results.writing import write_atomically

FORMAT_HELP = "How to show it; by default what the ending of -o says, else a table."
OUTPUT_HELP = "Write there; a folder for html."
ENDINGS = {ending: each.name for each in FORMATS for ending in each.endings}
"""The ending of a file and the format that it names; a file of any other ending may hold any format."""


def format_option(kind: Kind[Content]) -> Any:
    """Return the option `--format` of a command that shows reports of this kind."""
    names = formats_of(kind)

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


def named_by(output: Path | None) -> str | None:
    """Return the format that the ending of `-o` names, None if there is none or a folder is there."""
    return ENDINGS.get(output.suffix.lower()) if output is not None and not output.is_dir() else None


def chosen(kind: Kind[Content], given: str | None, output: Path | None, option: str = "--format") -> str:
    """Return the format asked for, or the one that the ending of `-o` names; `option` is what asked for it.

    Raises `InputError` if the two contradict each other, or if nothing can be written to `-o`.
    """
    named = named_by(output)
    if output is not None and named is not None:
        _check_ending(formats_of(kind), given, output, named, option)
    name = given or named or TABLE
    if output is not None and name != HTML:
        check_file(output)
    return name


def check_file(output: Path) -> None:
    """Raise `InputError` if a file cannot be made at `output`."""
    if output.is_dir():
        raise InputError(f"-o {output}: is a folder; name a file in it")
    folder = output.parent
    if folder.is_dir():
        return
    if folder.exists() or folder.is_symlink():
        raise InputError(f"-o {output}: {folder} is no folder; choose another place")
    raise InputError(f"-o {output}: there is no folder {folder}; create it first: mkdir -p {folder}")


def _check_ending(formats: tuple[str, ...], given: str | None, output: Path, named: str, option: str) -> None:
    if given is not None and given != named:
        raise InputError(f"-o {output}: its ending says {named}, not {given}: drop {option}, or rename the file")
    if named not in formats:
        raise InputError(f"-o {output}: this command writes no {named}; there is {', '.join(formats)}")
    if named == HTML:
        raise InputError(
            f"-o {output}: a page is a folder with {output.stem}/index.html in it; "
            f"write --format html -o {output.with_suffix('')}"
        )


def deliver(content: str, output: Path | None) -> None:
    """Write a text to a file, or to stdout if there is none."""
    if output is None:
        sys.stdout.write(content)
    else:
        write_atomically(output, content)
