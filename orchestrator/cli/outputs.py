"""The file that `-o` names, and the format that its ending names."""

from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from orchestrator.errors import InputError

FORMAT_HELP = "How to show it; by default what the ending of -o says, else a table."
OUTPUT_HELP = "Write there; a folder for html."
TABLE = "table"
HTML = "html"
ENDINGS = {
    ".md": "md",
    ".markdown": "md",
    ".csv": "csv",
    ".json": "json",
    ".xml": "junit",
    ".html": HTML,
    ".htm": HTML,
}
"""The ending of a file and the format that it names; a file of any other ending may hold any format."""

_Format = TypeVar("_Format", bound=StrEnum)


def chosen(formats: type[_Format], given: _Format | None, output: Path | None, option: str = "--format") -> _Format:
    """Return the format asked for, or the one that the ending of `-o` names; `option` is what asked for it.

    Raises `InputError` if the two contradict each other, or if nothing can be written to `-o`.
    """
    named = ENDINGS.get(output.suffix.lower()) if output is not None and not output.is_dir() else None
    if output is not None and named is not None:
        _check_ending(formats, given, output, named, option)
    found = given or formats(named or TABLE)
    if output is not None and found.value != HTML:
        check_file(output)
    return found


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


def _check_ending(formats: type[_Format], given: _Format | None, output: Path, named: str, option: str) -> None:
    if given is not None and given.value != named:
        raise InputError(f"-o {output}: its ending says {named}, not {given.value}: drop {option}, or rename the file")
    if named not in {each.value for each in formats}:
        there = ", ".join(each.value for each in formats)
        raise InputError(f"-o {output}: this command writes no {named}; there is {there}")
    if named == HTML:
        raise InputError(
            f"-o {output}: a page is a folder with {output.stem}/index.html in it; "
            f"write --format html -o {output.with_suffix('')}"
        )
