"""The commands that pages show, taken apart as a shell would."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bench.records import ROOT

_BLOCK = re.compile(
    r"^## (?P<section>[^\n]+)$|^ *```(?P<language>sh|console|bash)\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL
)
_PROGRAM = "orchestrator"
_OF_SHELL = frozenset({"cd", "echo", "export", "set", "source", "test"})
"""Commands of the shell itself, which any run of a block carries out."""
_WITHIN = re.compile(r"\$\(([^()]*)\)")
"""A command whose output is a part of another one."""


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


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """A call of another program on a page."""

    page: str
    line: str
    program: str
    """Its name, without the folder."""
    arguments: tuple[str, ...] = ()
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


def other_programs(page: Path) -> Iterator[ProgramCall]:
    """Yield every call of a program besides ours in the blocks for shells of a page."""
    for block in blocks_of(page):
        for line in _lines(block.script):
            for inner in (line, *_WITHIN.findall(line)):
                for words in _calls(inner):
                    program = PurePosixPath(words[0]).name
                    if program != _PROGRAM and program not in _OF_SHELL:
                        yield ProgramCall(str(page.relative_to(ROOT)), line.strip(), program, words[1:], block.section)


def calls_in(script: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the calls of our program in the text of a block: the line, and the arguments."""
    for line in _lines(script):
        for inner in (line, *_WITHIN.findall(line)):
            for words in _calls(inner):
                if PurePosixPath(words[0]).name == _PROGRAM:
                    yield line.strip(), words[1:]


def _lines(script: str) -> list[str]:
    """Return the lines of a script that hold commands, each in one piece, without the documents that it feeds them."""
    text = re.sub(r"<<'(\w+)'.*?^\1$", "", script, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"\\\n\s*", " ", text).splitlines()


def _calls(line: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of every call in a line, without the variables before it and the files behind it."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";|&<>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    call: list[str] = []
    is_file = False
    for word in [*lexer, ";"]:
        if word and set(word) <= set(";|&<>"):
            is_file = bool(set(word) & set("<>"))
            if is_file and call and call[-1].isdigit():
                call.pop()  # the number of a stream
            yield from _named(call)
            call = []
        elif is_file and not word.startswith("("):
            is_file = False
        else:
            call.append(word)


def _named(call: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield the words of a call from the name of its program on."""
    words = [word.rstrip(")") if word.endswith(")") and "(" not in word else word for word in call]
    while words and re.fullmatch(r"\w+=.*", words[0]):
        words = words[1:]
    if words:
        yield (words[0].lstrip("("), *words[1:])
