"""Tables and lines for a terminal, readable from 80 columns and without color."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from orchestrator.reporting.blocks import Block, Code, Gap, Heading, Items, Paragraph, Remark, Table, TableCell
from orchestrator.reporting.document import Content, Kind
from orchestrator.reporting.inline import Phrase, Sentence, Tone, parts, plain
from orchestrator.wording import clean_line

WIDTH = 120
"""Columns of a text that no terminal shows."""
_NARROW = 100
_ITEM_INDENT, _CODE_INDENT = 2, 4
_STYLES = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.FAINT: "dim",
    Tone.GOOD: "green",
    Tone.BAD: "red",
    Tone.OPEN: "yellow",
}


def texts(blocks: Iterable[Block], width: int = WIDTH) -> Iterator[str]:
    """Render a document as plain text."""
    console = Console(width=width, color_system=None, highlight=False)
    with console.capture() as captured:
        console.print(renderable(blocks))
    yield captured.get()


def shown(kind: Kind[Content], content: Content) -> RenderableType:
    """Return what a console prints of a report."""
    if kind.short is None:
        raise TypeError("a terminal cannot show this kind of report")
    return renderable(kind.short(content))


def renderable(blocks: Iterable[Block]) -> RenderableType:
    """Build what a console prints of a document."""
    return Group(*(part for block in blocks for part in _parts(block)))


def _parts(block: Block) -> Iterator[RenderableType]:
    match block:
        case Heading(text=text):
            yield Text(clean_line(text), style="bold")
        case Paragraph(text=text, tone=tone, indent=indent):
            yield _indented(_sentence(text, _STYLES.get(tone, "")), indent)
        case Remark(text=text, is_warning=is_warning):
            yield Text(clean_line(f"warning: {text}" if is_warning else text), style="yellow")
        case Items(items=items):
            yield from (_indented(_sentence(plain(item)), _ITEM_INDENT) for item in items)
        case Code(text=text):
            yield _indented(Text(text, style="dim"), _CODE_INDENT)
        case Gap():
            yield Text()
        case Table():
            yield _Fitted(block) if block.is_wide else _grid(block)
        case _:
            raise TypeError(f"a terminal shows no {block.kind}")


def _sentence(text: Sentence, style: str = "") -> Text:
    if isinstance(text, str):
        return Text(clean_line(text), style=style)
    return Text.assemble(
        *((part.text, _STYLES[Tone(part.kind)]) if isinstance(part, Phrase) else plain(part) for part in parts(text))
    )


def _indented(text: Text, indent: int) -> RenderableType:
    return _Indented(text, indent) if indent else text


@dataclass(frozen=True, slots=True)
class _Indented:
    """A text whose further lines are indented too, if the console folds them."""

    text: Text
    indent: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        if options.no_wrap:
            yield Text(" " * self.indent) + self.text
        else:
            yield Padding(self.text, (0, 0, 0, self.indent), expand=False)


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A table that takes the width of the console it is printed on."""

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        yield _grid(self.table, gap=0 if options.max_width < _NARROW else 1)


def _grid(table: Table, gap: int = 1) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, gap), header_style="bold")
    for column in table.columns:
        grid.add_column(
            Text("\n".join(clean_line(line) for line in column.head.split("\n"))),
            justify="right" if column.is_number else "left",
            overflow="ellipsis" if column.is_number else "fold",
            no_wrap=column.no_wrap,
            min_width=column.min_width,
        )
    for row in table.rows:
        grid.add_row(*(_cell(cell) for cell in row.cells), style=_STYLES.get(row.tone, ""))
    return grid


def _cell(cell: str | TableCell) -> Text:
    if isinstance(cell, str):
        return Text(clean_line(cell))
    below = (
        (f"\n{clean_line(line.text)}", _STYLES[Tone(line.kind)])
        if isinstance(line, Phrase)
        else f"\n{clean_line(plain(line))}"
        for line in cell.below
    )
    return Text.assemble(clean_line(plain(cell.text)), *below, style=_STYLES.get(cell.tone, ""))
