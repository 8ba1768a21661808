"""Markdown in GitHub's dialect, to paste into a pull request or a wiki."""

import html
import re
from collections.abc import Iterable, Iterator

from orchestrator.reporting.blocks import Block, Code, Details, Heading, Items, Paragraph, Remark, Table, TableCell
from orchestrator.reporting.inline import Part, Phrase, Sentence, Tone, parts, plain
from orchestrator.wording import clean, clean_line

_SPECIAL = re.compile(r"([\\`*\[\]<>|~&#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_MARKS = {"strong": "**", "em": "*", "code": "`"}


def texts(blocks: Iterable[Block]) -> Iterator[str]:
    """Render a document."""
    yield "\n".join(line for block in blocks for line in _lines(block)).rstrip() + "\n"


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Heading(text=text, level=level):
            yield f"{'#' * level} {escape(text)}\n"
        case Paragraph(text=text, tone=tone):
            yield f"**{_sentence(text)}**\n" if tone is Tone.STRONG else f"{_sentence(text)}\n"
        case Remark(text=text, is_warning=is_warning):
            yield f"> {'**Warning:** ' if is_warning else ''}{escape(text)}\n"
        case Items(items=items):
            yield "".join(f"- {escape(plain(each))}\n" for each in items)
        case Code(text=text):
            yield fence(text) + "\n"
        case Table():
            yield _table(block) + "\n"
        case Details(summary=summary, blocks=blocks):
            # Within HTML a backslash of Markdown escapes nothing.
            yield f"<details><summary>{html.escape(clean_line(summary))}</summary>\n"
            yield from (line for each in blocks for line in _lines(each))
            yield "</details>\n"
        case _:  # charts, and what leads through a page
            return


def _sentence(text: Sentence) -> str:
    if isinstance(text, str):
        return escape(text)
    return "".join(_part(part) for part in parts(text))


def _part(part: Part) -> str:
    """Render a part of a sentence, whose white space at either end stays."""
    text = plain(part)
    if isinstance(part, Phrase):
        mark = _MARKS.get(part.kind, "")
        return f"{mark}{escape(text)}{mark}"
    return f"{' ' * text.startswith(' ')}{escape(text)}{' ' * text.endswith(' ')}"


def escape(text: str) -> str:
    """Return one line of text that Markdown shows as it is, in a table cell too."""
    return _SPECIAL.sub(r"\\\1", clean_line(text))


def fence(text: str) -> str:
    """Return a code block around any text, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}text\n{clean(text)}\n{mark}"


def _table(table: Table) -> str:
    rule = ["---:" if column.is_number else "---" for column in table.columns]
    rows = [[escape(_text(cell)) or " " for cell in row.cells] for row in table.rows]
    lines = [[escape(column.head) for column in table.columns], rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(cell: str | TableCell) -> str:
    if isinstance(cell, str):
        return cell
    return ", ".join(plain(line) for line in (cell.text, *cell.below))
