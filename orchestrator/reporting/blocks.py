"""The blocks that a document is made of, tables and charts among them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from orchestrator.reporting.charts.cells import Chart
from orchestrator.reporting.charts.curves import Curves
from orchestrator.reporting.charts.frontiers import FrontierPlot
from orchestrator.reporting.charts.heat import HeatMap
from orchestrator.reporting.charts.ratios import Plot
from orchestrator.reporting.charts.series import SeriesPlot
from orchestrator.reporting.inline import Chip, Link, Sentence, Tone


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
    indent: int = 0
    """Characters that a terminal moves it to the right."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark to read before the figures, or a warning."""

    kind: ClassVar[str] = "remark"
    text: str
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """The answer of a report, or how many ended how, with further words."""

    kind: ClassVar[str] = "tally"
    chips: tuple[Chip, ...]
    after: Sentence = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    kind: ClassVar[str] = "items"
    items: tuple[Sentence, ...]
    is_quiet: bool = True
    """A page shows it smaller than other text."""


@dataclass(frozen=True, slots=True)
class Contents:
    """A list that leads to the other pages of a report."""

    kind: ClassVar[str] = "contents"
    items: tuple[Sentence, ...]


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
    label: str = ""
    """Name for those who do not see the page."""


@dataclass(frozen=True, slots=True)
class Definitions:
    """Words with their meanings."""

    kind: ClassVar[str] = "definitions"
    pairs: tuple[tuple[Sentence, Sentence], ...]
    look: str = "reading"
    """`reading`, `findings` or `facts`."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    head: str
    is_number: bool = False
    no_wrap: bool = False
    min_width: int | None = None
    """Characters that a terminal leaves it at least."""
    address: str = ""
    """The target of the link in its head."""
    is_sortable: bool = True
    """A reader may sort by it, if by any column of its table."""
    is_sorted: bool = False
    """The rows are in its order."""


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table that is more than a text."""

    text: Sentence
    below: tuple[Sentence, ...] = ()
    """Further lines."""
    tone: Tone = Tone.PLAIN
    value: str | None = None
    """The value it is sorted by, if not by its text."""
    mark: str = ""
    """Word that gives the cell its color, or `links`."""
    anchor: str = ""
    """Name of the place, for links."""
    facts: tuple[tuple[str, str], ...] = ()
    """Names and values that a reader opens."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table."""

    cells: tuple[str | TableCell, ...]
    tone: Tone = Tone.PLAIN
    anchor: str = ""
    """Name of the place, for links."""
    ranks: str = ""
    """Short name of the benchmark cell that it ranks; the filter shows or hides all that is of it."""
    of: str = ""
    """Short name of the benchmark cell that it is of."""


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
    is_sortable: bool = False
    is_filtered: bool = True
    """The filter of the page hides rows of it."""
    is_narrow: bool = False
    """It is no wider than its texts."""
    look: str = ""
    """`ranking` or `matrix`."""
    name_column: int | None = 0
    """Position of the column that names the rows."""


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
    """A metric run by run."""

    kind: ClassVar[str] = "series"
    plot: SeriesPlot
    metric: str
    nights: int
    left_out: int


@dataclass(frozen=True, slots=True)
class LaneCharts:
    """Charts of the cells of a group, a lane for each cell."""

    kind: ClassVar[str] = "lanes"
    charts: tuple[Chart, ...]
    group: int
    """Number of the group on its page."""
    names: Mapping[str, str]
    """Short names of the cells, by id."""
    apart: frozenset[str]
    """Ids of cells that are not comparable with the best."""


@dataclass(frozen=True, slots=True)
class CurveCharts:
    """Charts of what cells learned, a line for each cell, with their legend."""

    kind: ClassVar[str] = "curves"
    charts: tuple[Curves, ...]


@dataclass(frozen=True, slots=True)
class HeatChart:
    """A heat map with links to what it is of, whose baseline a reader picks."""

    kind: ClassVar[str] = "heat"
    chart: HeatMap
    names: tuple[Link, ...]
    """The name of each row."""
    links: Mapping[str, Link]
    """The way to each cell, by its id."""


@dataclass(frozen=True, slots=True)
class FrontierChart:
    """Latency and throughput of the cells of a frontier."""

    kind: ClassVar[str] = "frontier"
    plot: FrontierPlot


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks that a reader opens."""

    kind: ClassVar[str] = "details"
    summary: str
    blocks: "tuple[Block, ...]"
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Article:
    """Blocks about one thing, under a heading of their own."""

    kind: ClassVar[str] = "article"
    heading: Sentence
    blocks: "tuple[Block, ...]"


@dataclass(frozen=True, slots=True)
class Gap:
    """An empty line of a terminal."""

    kind: ClassVar[str] = "gap"


Block = (
    Heading | Paragraph | Remark | Tally | Items | Contents | Links | Code | Definitions | Table | RatioChart
    | SeriesChart | LaneCharts | CurveCharts | HeatChart | FrontierChart | Details | Article | Gap
)  # fmt: skip


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
