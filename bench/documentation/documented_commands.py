"""The commands that pages show, taken apart as a shell would."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.records import ROOT

_BLOCK = re.compile(r"^ *```(sh|console|bash)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_PROGRAM = re.compile(r"(?:.*/)?orchestrator")


@dataclass(frozen=True, slots=True)
class DocumentedCommand:
    """A call of the program on a page."""

    page: str
    line: str
    arguments: tuple[str, ...]


def pages() -> list[Path]:
    """Return the pages that are kept in the repository, with those beside the code."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def documented_commands(page: Path) -> Iterator[DocumentedCommand]:
    """Yield every call of the program in the blocks for shells of a page."""
    for language, block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        lines = re.sub(r"\\\n\s*", " ", re.sub(r"<<'(\w+)'.*?^\1$", "", block, flags=re.MULTILINE | re.DOTALL))
        for line in lines.splitlines():
            if language != "console" or line.startswith("$ "):
                shown = line.removeprefix("$ ")
                yield from (
                    DocumentedCommand(str(page.relative_to(ROOT)), shown.strip(), call) for call in _calls(shown)
                )


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
