"""The commands that pages show, taken apart as a shell would."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.records import ROOT

_BLOCK = re.compile(
    r"^## (?P<section>[^\n]+)$|^ *```(?P<language>sh|console|bash)\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL
)
_PROGRAM = re.compile(r"(?:.*/)?orchestrator")


@dataclass(frozen=True, slots=True)
class ShellBlock:
    """A block of a page that a shell runs."""

    section: str
    """The heading of second level above it, or an empty text."""
    script: str


@dataclass(frozen=True, slots=True)
class DocumentedCommand:
    """A call of the program on a page."""

    page: str
    line: str
    arguments: tuple[str, ...]
    section: str = ""


def pages() -> list[Path]:
    """Return the pages that are kept in the repository, with those beside the code."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(page: Path) -> Iterator[ShellBlock]:
    """Yield the blocks for shells of a page; of a console's, the lines that are typed."""
    section = ""
    for found in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        if found["section"]:
            section = found["section"]
            continue
        lines = found["text"].splitlines(keepends=True)
        if found["language"] == "console":
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        yield ShellBlock(section, "".join(lines))


def documented_commands(page: Path) -> Iterator[DocumentedCommand]:
    """Yield every call of the program in the blocks for shells of a page."""
    for block in blocks_of(page):
        for line, call in calls_in(block.script):
            yield DocumentedCommand(str(page.relative_to(ROOT)), line, call, block.section)


def calls_in(script: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the calls of the program in the text of a block: the line, and the arguments."""
    text = re.sub(r"<<'(\w+)'.*?^\1$", "", script, flags=re.MULTILINE | re.DOTALL)
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        for call in _calls(line):
            yield line.strip(), call


def _calls(line: str) -> Iterator[tuple[str, ...]]:
    lexer = shlex.shlex(line.replace("$(", " ; "), posix=True, punctuation_chars=";|&<>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    call: list[str] = []
    for word in [*lexer, ";"]:
        if set(word) <= set(";|&<>"):
            yield from _of_program(call[:-1] if call and call[-1].isdigit() and ">" in word else call)
            call = []
        else:
            call.append(word)


def _of_program(call: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield the arguments of a call of the program, behind variables and the name of a Python."""
    words = [word.rstrip(")") if word.endswith(")") and "(" not in word else word for word in call]
    while words and re.fullmatch(r"\w+=.*", words[0]):
        words = words[1:]
    if words and _PROGRAM.fullmatch(words[0]):
        yield tuple(words[1:])
