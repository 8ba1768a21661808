"""The manual and the completion scripts, made from the same options that `--help` shows.

`make man` writes them into `share/`, from where an installation takes them.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout, suppress
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import Any

import typer

from orchestrator import __version__
from orchestrator.cli.output.pages import PAGES, linked
from orchestrator.cli.parsing import COMPLETE
from orchestrator.cli.program import COMMANDS, program

NAME = "orchestrator"
COMPLETIONS = {
    "bash": f"bash-completion/completions/{NAME}",
    "zsh": f"zsh/site-functions/_{NAME}",
    "fish": f"fish/vendor_completions.d/{NAME}.fish",
}
"""The files below `share` where shells look for them."""
STATUS = (
    ("0", "All is fine."),
    ("1", "Something failed, or got worse."),
    ("2", "The input cannot be right on any host."),
    ("3", "This host cannot do it."),
    ("130", "It was interrupted."),
)
VARIABLES = (
    ("PAGER, NO_PAGER", "The pager of long output on a terminal, and that there is none."),
    ("NO_COLOR, FORCE_COLOR", "No colors, and colors everywhere, unless --color says otherwise."),
    ("ORCHESTRATOR_DOCS", "Address of the documentation, to which errors link; {page} stands for the name of a page."),
    ("ORCHESTRATOR_BASE_IMAGE", "Image to build on, if neither an option nor the matrix names one."),
    ("ORCHESTRATOR_DATA", "Folder with datasets, if neither an option nor the matrix names one."),
    ("ORCHESTRATOR_TOKEN", "What viewers of `serve` have to know, if no option names it."),
    ("ORCHESTRATOR_IDLE_WAIT", "Seconds to wait for an idle host before a cell."),
)
_OPTIONS_OF_ALL = ("quiet", "verbose", "color", "no_pager", "help")


def files() -> Mapping[str, str]:
    """Return every file below `share` with its text."""
    pages = {f"man/man1/{page}.1": text for page, text in _pages()}
    return pages | {path: _completion(shell) for shell, path in COMPLETIONS.items()}


def _pages() -> Iterator[tuple[str, str]]:
    top: Any = typer.main.get_command(program())
    context = top.make_context(NAME, ["schema"])
    yield NAME, _text(_program_lines(top, context))
    for name in COMMANDS:
        _, command, _ = top.resolve_command(context, [name])
        yield from _command_pages(name, command, context)


def _command_pages(name: str, command: Any, parent: Any) -> Iterator[tuple[str, str]]:
    """Yield the page of a command, and those of the commands below it."""
    context = typer.Context(command, info_name=name.rpartition(" ")[2], parent=parent)
    yield f"{NAME}-{name.replace(' ', '-')}", _text(_command_lines(name, command, context))
    for below, each in getattr(command, "commands", {}).items():
        yield from _command_pages(f"{name} {below}", each, context)


def _program_lines(top: Any, context: Any) -> Iterator[str]:
    yield from _head(NAME, "benchmark deep-learning frameworks against each other")
    yield from (".SH SYNOPSIS", rf"\fB{NAME}\fR [\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]")
    yield from (".SH DESCRIPTION", _escaped(top.help))
    for group, names in groupby(COMMANDS, lambda name: COMMANDS[name][0].partition(".")[0]):
        yield f".SS {group.capitalize()}"
        for name in names:
            yield from (".TP", rf"\fB{NAME}\-{name}\fR(1)", _escaped(COMMANDS[name][1]))
    yield from _options("OPTIONS", top.params, context)
    yield from _definitions("EXIT STATUS", STATUS)
    yield from _definitions("ENVIRONMENT", VARIABLES)


def _command_lines(name: str, command: Any, context: Any) -> Iterator[str]:
    short = COMMANDS[name][1] if name in COMMANDS else command.help.partition("\n")[0]
    yield from _head(f"{NAME}-{name.replace(' ', '-')}", short.rstrip("."))
    pieces = " ".join(
        piece.strip("{}").replace("[[", "[").replace("]]", "]") for piece in command.collect_usage_pieces(context)
    )
    yield from (".SH SYNOPSIS", rf"\fB{NAME} {_escaped(name)}\fR {_escaped(pieces)}")
    yield ".SH DESCRIPTION"
    for number, paragraph in enumerate((command.help or short).split("\n\n")):
        yield from (*([".PP"] if number else []), _escaped(" ".join(paragraph.split())))
    below = getattr(command, "commands", {})
    if below:
        yield ".SH COMMANDS"
        for each, of_below in below.items():
            page = rf"\fB{NAME}\-{_escaped(name)}\-{_escaped(each)}\fR(1)"
            yield from (".TP", page, _escaped(of_below.help.partition("\n")[0]))
    own = [each for each in command.params if each.name not in _OPTIONS_OF_ALL]
    yield from _options("ARGUMENTS", [each for each in own if each.param_type_name == "argument"], context)
    yield from _options("OPTIONS", [each for each in own if each.param_type_name == "option"], context)
    examples = re.findall(r"^  (.+)$", command.epilog or "", re.MULTILINE)
    if examples:
        yield from (".SH EXAMPLES", ".nf", *(rf"\fB{_escaped(line)}\fR" for line in examples), ".fi")
    yield from (".SH SEE ALSO", rf"\fB{NAME}\fR(1) has the options of every command and the exit status.", ".PP")
    yield _escaped(f"{linked(PAGES[name.partition(' ')[0]], '')} of the documentation.")


def _head(page: str, title: str) -> Iterator[str]:
    yield f'.TH "{page.upper()}" "1" "" "{NAME} {__version__}" "{NAME}"'
    yield from (".ad l", ".SH NAME", rf"{_escaped(page)} \- {_escaped(title[0].lower() + title[1:])}")


def _options(title: str, options: Any, context: Any) -> Iterator[str]:
    records = [record for option in options if (record := option.get_help_record(context))]
    yield from _definitions(title, [(name.removesuffix(" <str>"), text) for name, text in records])


def _definitions(title: str, rows: Any) -> Iterator[str]:
    if rows:
        yield f".SH {title}"
    for name, text in rows:
        yield from (".TP", rf"\fB{_escaped(name)}\fR", _escaped(" ".join(text.split())))


def _escaped(text: str) -> str:
    """Return text that roff shows as it is, a hyphen as one that can be copied."""
    plain = text.replace("\\", r"\e").replace("-", r"\-").replace("|", r"|\:")  # a list of words may be broken
    spelled = "".join(each if each.isascii() else f"\\[u{ord(each):04X}]" for each in plain)
    return f"\\&{spelled}" if spelled.startswith((".", "'")) else spelled


def _text(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _completion(shell: str) -> str:
    """Return the script that makes a shell complete the program's commands, as the program itself shows it."""
    before, os.environ[COMPLETE] = os.environ.get(COMPLETE), f"source_{shell}"
    try:
        with redirect_stdout(StringIO()) as shown, suppress(SystemExit):
            program()(args=[], prog_name=NAME, complete_var=COMPLETE)
        return f"{shown.getvalue().strip()}\n"
    finally:
        if before is None:
            del os.environ[COMPLETE]
        else:
            os.environ[COMPLETE] = before


def main(folder: Path) -> None:
    """Write all files into a folder, and remove manual pages that are no more."""
    written = files()
    for path in folder.glob("man/man1/*.1"):
        if str(path.relative_to(folder)) not in written:
            path.unlink()
    for name, text in written.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
