"""The document that reports of every kind are made of."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Generic, TypeVar

from orchestrator.reporting.cases import Suites
from orchestrator.reporting.charts.ratios import Plot
from orchestrator.reporting.charts.series import SeriesPlot

Content = TypeVar("Content")


class Tone(StrEnum):
    """The weight of a text, or its color."""

    PLAIN = ""
    STRONG = "strong"
    FAINT = "faint"
    GOOD = "good"
    BAD = "bad"
    OPEN = "open"
    """Neither good nor bad: not decided, not measured."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A part of a text that stands out."""

    text: str
    kind: str
    """`em`, `code`, `strong`, or a tone."""


Sentence = str | tuple[str | Phrase, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A text that leads to an address."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A title of what follows."""

    kind: ClassVar[str] = "heading"
    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One or more sentences."""

    kind: ClassVar[str] = "paragraph"
    text: Sentence
    tone: Tone = Tone.PLAIN
    joined: bool = False
    """The source of a page has no white space around it."""
    indent: int = 0
    """Characters that a terminal moves it to the right."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark to read before the figures, or a warning."""

    kind: ClassVar[str] = "remark"
    text: str
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class Chip:
    """The answer of a report in a word or two."""

    kind: ClassVar[str] = "chip"
    text: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    kind: ClassVar[str] = "items"
    items: tuple[str | Link, ...]


@dataclass(frozen=True, slots=True)
class Links:
    """Links in a line, with the words after them."""

    kind: ClassVar[str] = "links"
    links: tuple[Link, ...]
    after: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """Text as it is, such as a command or the end of a log."""

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True, slots=True)
class Definitions:
    """Words with their meanings."""

    kind: ClassVar[str] = "definitions"
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    head: str
    is_number: bool = False
    no_wrap: bool = False
    min_width: int | None = None
    """Characters that a terminal leaves it at least."""


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table that is more than a text."""

    text: str
    kind: str = ""
    """`verdict`, `chip`, `links` or `hidden` from those who do not see the page."""
    mark: str = ""
    """Word that gives a verdict or a chip its color."""
    address: str = ""
    """Where the text leads to."""
    tone: Tone = Tone.PLAIN
    below: tuple[str | Phrase, ...] = ()
    """Further lines."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table."""

    cells: tuple[str | TableCell, ...]
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts under heads."""

    kind: ClassVar[str] = "table"
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: Sentence = ""
    label: str = ""
    """Name for those who do not see the page; the caption if empty."""
    is_wide: bool = False
    """A narrow terminal leaves no space around its columns."""


@dataclass(frozen=True, slots=True)
class RatioChart:
    """Ratios with their intervals beside the tolerance."""

    kind: ClassVar[str] = "ratios"
    plot: Plot
    of: str
    """The ratio that is drawn, in words."""
    anchor: str
    table: str
    """Name of the table that holds the figures."""


@dataclass(frozen=True, slots=True)
class SeriesChart:
    """A metric night by night."""

    kind: ClassVar[str] = "series"
    plot: SeriesPlot
    metric: str
    nights: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks that a reader opens."""

    kind: ClassVar[str] = "details"
    summary: str
    blocks: "tuple[Block, ...]"


@dataclass(frozen=True, slots=True)
class Gap:
    """An empty line of a terminal."""

    kind: ClassVar[str] = "gap"


Block = (
    Heading | Paragraph | Remark | Chip | Items | Links | Code | Definitions | Table | RatioChart | SeriesChart
    | Details | Gap
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact at the top of a page."""

    name: str
    text: str
    moment: str | None = None
    """The time it names, in ISO 8601."""
    is_extra: bool = False
    """Not every report of the kind has it."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under a heading."""

    name: str
    """Unique on the page."""
    heading: Sentence
    blocks: tuple[Block, ...]
    is_target: bool = True
    """A link may lead to it."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of HTML."""

    title: str
    eyebrow: str
    heading: str
    facts: tuple[Fact, ...]
    parts: tuple[tuple[Section, ...], ...]
    """The sections in the groups of the kind; a group that a report has nothing for is empty."""
    footer: str


@dataclass(frozen=True, slots=True)
class TemplatePage:
    """A page of HTML that has a template of its own."""

    template: str
    values: Mapping[str, Any]
    filters: Mapping[str, Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class Records:
    """Raw values as rows, for spreadsheets and data frames."""

    columns: tuple[str, ...]
    rows: Iterable[Mapping[str, str | int | float | None]]


@dataclass(frozen=True, slots=True)
class Kind(Generic[Content]):
    """A kind of report, with the layout for each way of reading it, None if it cannot be read so."""

    short: Callable[[Content], Iterable[Block]] | None = None
    """For a terminal."""
    full: Callable[[Content], Iterable[Block]] | None = None
    pages: Callable[[Content], Iterable[tuple[str, Page | TemplatePage]]] | None = None
    """Name and page of each file."""
    suites: Callable[[Content], Suites] | None = None
    value: Callable[[Content], Any] | None = None
    """Plain values, or a text that is JSON."""
    records: Callable[[Content], Records] | None = None


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str | TableCell]], numbers: Iterable[int] = (), caption: Sentence = ""
) -> Table:
    """Build a table whose columns in `numbers`, from 0, are aligned right."""
    right = frozenset(numbers)
    return Table(
        tuple(Column(head, number in right) for number, head in enumerate(heads)),
        tuple(Row(tuple(cells)) for cells in rows),
        caption,
    )
