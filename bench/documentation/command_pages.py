"""Reference pages of the commands, made from the options that the program parses."""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import typer

from bench.documentation.cells import cell, code
from orchestrator.cli import program

FOLDER = "reference/commands"
GROUPS = {
    "measure": "Measure", "look": "Look at results", "compare": "Compare", "ship": "Carry", "host": "The host",
}  # fmt: skip
_EVERYWHERE = {"quiet", "verbose", "color", "help"}
_EVERY_COMMAND = """\
## Options of every command

They stand before the name of the command or after it.

| option | what it does |
|---|---|
| `-q`, `--quiet` | only errors on stderr: no progress, no notices |
| `-v`, `--verbose` | every event on stderr in a line with its time, phases inside a repeat too |
| `--color auto\\|always\\|never` | `auto`: on a terminal unless `NO_COLOR` is set, and everywhere with `FORCE_COLOR` |
| `--help` | the options of a command, with examples |

[Exit codes](exit-codes.md) are the same for all commands. With `--json`, stdout holds one document
[in an envelope](../report.md#for-programs), and stderr only lines of JSON.
"""


def pages() -> Mapping[str, str]:
    """Return the text of a page for each command, and of one that lists them, by path."""
    group: Any = typer.main.get_group(program.program())
    context = group.make_context("orchestrator", ["plan"], resilient_parsing=True)
    texts = {"reference/commands.md": _index()}
    for name in program.COMMANDS:
        _, command, _ = group.resolve_command(context, [name])
        texts[f"{FOLDER}/{name}.md"] = "\n".join(_page(name, command, context))
    return texts


def _index() -> str:
    lines = ["# Commands", "", "`orchestrator --help` lists the same. The help of each command ends with examples.", ""]
    for group, names in groupby(program.COMMANDS, lambda name: program.COMMANDS[name][0].partition(".")[0]):
        lines += [f"## {GROUPS.get(group, group.capitalize())}", "", "| command | what it does |", "|---|---|"]
        lines += [f"| [`{name}`](commands/{name}.md) | {cell(program.COMMANDS[name][1])} |" for name in names]
        lines.append("")
    return "\n".join([*lines, _EVERY_COMMAND])


def _page(name: str, command: Any, parent: Any, depth: str = "") -> Iterator[str]:
    context = typer.Context(command, parent=parent, info_name=name)
    if not depth:
        yield f"# orchestrator {name}\n"
    yield f"{_prose(command.help or program.COMMANDS[name][1])}\n"
    yield f"```text\n{context.command_path} {' '.join(command.collect_usage_pieces(context))}\n```\n"
    arguments: list[tuple[str, str]] = []
    options: list[tuple[str, str]] = []
    for each in command.get_params(context):
        record = each.get_help_record(context)
        if record and each.name not in _EVERYWHERE:
            (options if record[0].startswith("-") else arguments).append(record)
    for title, rows in (("argument", arguments), ("option", options)):
        if rows:
            yield f"| {title} | what it does |\n|---|---|"
            yield "\n".join(f"| {code(opts)} | {cell(text)} |" for opts, text in rows) + "\n"
    if command.epilog:
        lines = [line.strip() for line in re.sub("\b", "", command.epilog).strip().splitlines()[1:]]
        yield "Examples:\n\n```sh\n" + "\n".join(line for line in lines if line) + "\n```\n"
    for below, sub in getattr(command, "commands", {}).items():
        yield f"## {name} {below}\n"
        yield from _page(below, sub, context, depth="below")


def _prose(text: str) -> str:
    return " ".join(text.replace("\b", "").split())
