"""The pages of a run's report, one for most runs and an index with many for large ones.

Sections are laid out from the view of a page, with the texts that they share.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.domain import Status
from orchestrator.reporting.blocks import Column, Row, Table, TableCell
from orchestrator.reporting.charts.heat import HeatMap
from orchestrator.reporting.findings.model import CellReport, Floor, Group, GroupFinding, Placed, Report, StatusCounts
from orchestrator.reporting.inline import Chip, Link, Part, Phrase, Sentence, spaced, statuses
from orchestrator.wording import clean_line

INDEX = "index.html"
MOST_ON_ONE_PAGE = 5000
"""Table rows, about, that a page holds: two for every repeat, one for every evaluated epoch, twelve for every cell."""
_ROWS_PER_CELL = 12

CSV = Phrase("--format csv", "code")
_MARKS = {
    GroupFinding.DECIDED: "good", GroupFinding.SAME: "same", GroupFinding.INCONCLUSIVE: "open",
    GroupFinding.NOT_COMPARABLE: "bad", GroupFinding.NOTHING: "open",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GroupPart:
    """A group, or a stretch of a group that is too long for a page."""

    group: Group
    anchor: str
    """Unique in the report."""
    first: int
    """Position of the first place, counted from 1."""
    places: tuple[Placed, ...]

    @property
    def floors(self) -> tuple[Floor, ...]:
        """The cells of the group that compute nothing, which its first part shows."""
        return self.group.floors if self.first == 1 else ()

    @property
    def cell_ids(self) -> tuple[str, ...]:
        """Every cell that is shown here."""
        return (*(place.cell_id for place in self.places), *(floor.cell_id for floor in self.floors))

    @property
    def is_whole(self) -> bool:
        """Return True if all of the group is here."""
        return len(self.places) == len(self.group.places)


@dataclass(frozen=True, slots=True)
class RunPage:
    """One file."""

    name: str
    parts: tuple[GroupPart, ...]


def layout(report: Report) -> tuple[RunPage, ...]:
    """Return the pages of a report, the index first, which holds no groups if the report is large."""
    rows = {cell.cell.id: _rows(cell) for cell in report.cells}
    parts = [part for group in report.groups for part in _parts(group, rows)]
    if sum(rows.values()) <= MOST_ON_ONE_PAGE:
        return (RunPage(INDEX, tuple(parts)),)
    pages = [RunPage(INDEX, ())]
    kept: list[GroupPart] = []
    filled = 0
    for part in parts:
        size = sum(rows[cell_id] for cell_id in part.cell_ids)
        if kept and filled + size > MOST_ON_ONE_PAGE:
            pages.append(RunPage(f"groups-{len(pages):04}.html", tuple(kept)))
            kept, filled = [], 0
        kept.append(part)
        filled += size
    pages.append(RunPage(f"groups-{len(pages):04}.html", tuple(kept)))
    return tuple(pages)


def _rows(cell: CellReport) -> int:
    return _ROWS_PER_CELL + 2 * len(cell.repeats) + (len(cell.epochs.curve) if cell.epochs else 0)


def places(pages: tuple[RunPage, ...]) -> Mapping[str, str]:
    """The page of every cell and every group's first part, by cell id and by the group's anchor."""
    return dict(_addresses(pages))


def _addresses(pages: tuple[RunPage, ...]) -> Iterator[tuple[str, str]]:
    for page in pages:
        for part in page.parts:
            if part.first == 1:
                yield part.anchor, page.name
            for cell_id in part.cell_ids:
                yield cell_id, page.name


MOST_IN_DIRECTORY = 30_000
"""Cells that the directory holds: a hundred bytes of the index for each."""

Directory = list[tuple[str, str, str, list[tuple[str, str, str]]]]
"""RunPage, anchor and title of every part, and id, label and further words of each of its cells."""


def directory(pages: tuple[RunPage, ...], cells: Mapping[str, CellReport]) -> Directory:
    """List which page has which cell, for the filter and the addresses of a report of many pages."""
    listed: Directory = []
    left = MOST_IN_DIRECTORY
    for page in pages:
        for part in page.parts:
            words = {place.cell_id: place.verdict for place in part.places if place.to_best}
            rows = [_listed(cells[cell_id], words.get(cell_id, "")) for cell_id in part.cell_ids[:left]]
            listed.append((page.name, clean_line(part.anchor), clean_line(part.group.label), rows))
            left -= len(rows)
    return listed


def _listed(cell: CellReport, verdict: str) -> tuple[str, str, str]:
    disturbed = any(repeat.outcome.disturbance for repeat in cell.repeats)
    words = (statuses(cell.statuses), "disturbed" if disturbed else "", verdict)
    return clean_line(cell.cell.id), cell.label, ", ".join(filter(None, words))


def _parts(group: Group, rows: Mapping[str, int]) -> Iterator[GroupPart]:
    start, filled = 0, sum(rows[floor.cell_id] for floor in group.floors)
    for end, place in enumerate(group.places):
        if end > start and filled + rows[place.cell_id] > MOST_ON_ONE_PAGE:
            yield _part(group, start, end)
            start, filled = end, 0
        filled += rows[place.cell_id]
    yield _part(group, start, len(group.places))


def _part(group: Group, start: int, end: int) -> GroupPart:
    anchor = group.anchor if start == 0 else f"{group.anchor}/{start + 1}"
    return GroupPart(group, anchor, start + 1, group.places[start:end])


@dataclass(frozen=True, slots=True)
class PageView:
    """A page of a run's report, with what it needs to know of the whole report."""

    report: Report
    cells: Mapping[str, CellReport]
    page: RunPage
    where: Mapping[str, str]
    """The page of every cell and every group, by id and anchor."""
    raw: str | None
    """Path from the pages to the run's folder, None for no links to its files."""
    heat: HeatMap | None = None
    """The heat map of the report; None if it would show nothing."""

    @property
    def says_findings(self) -> bool:
        """Return true if the sections of groups say what was found of them, and not the list at the top of the page."""
        return self.heat is not None or self.page.name != INDEX

    def folder_of(self, cell_id: str) -> str:
        """Return the folder of the run that a cell's figures are of, as the beginning of a path in the run's folder."""
        folder = self.report.cluster.folders.get(cell_id, "") if self.report.cluster else ""
        return f"{folder}/" if folder else ""

    def link(self, text: Sentence, name: str) -> Link:
        """Return a link to a cell or a group, by id or anchor."""
        page = self.where.get(name, self.page.name)
        return Link(text, "" if page == self.page.name else page, name)


def conclusion(group: Group) -> Sentence:
    """Return the conclusion on a group as a chip, and its sentence."""
    mark = _MARKS.get(group.conclusion, "")
    # The chip says already that it is inconclusive.
    return Chip(group.conclusion.value, mark), f" {group.sentence.removeprefix('Inconclusive: ')}"


def status_chip(status: Status, count: int | None = None) -> Chip:
    """Return a status in its color."""
    return Chip(status.value, "good" if status is Status.OK else "bad" if status.is_failure else "open", count)


def status_chips(statuses: StatusCounts, *more: Part) -> Sentence:
    """Return how repeats ended, each status with its number."""
    return spaced([*(status_chip(status, number) for status, number in statuses), *more])


def sortable(value: float | None) -> str:
    """Return a number to sort by, or nothing if it is unknown."""
    return "" if value is None else f"{value:.6g}"


def figure(text: Sentence, value: float | str | None, *below: Sentence) -> TableCell:
    """Return a cell of a table that is sorted by its value."""
    return TableCell(text, tuple(filter(None, below)), value=value if isinstance(value, str) else sortable(value))


def columns(heads: Iterable[str], numbers: Iterable[int] = (), fixed: Iterable[int] = ()) -> tuple[Column, ...]:
    """Return columns of which those in `numbers` are aligned right, and those in `fixed` sort nothing."""
    right, still = frozenset(numbers), frozenset(fixed)
    return tuple(Column(head, number in right, is_sortable=number not in still) for number, head in enumerate(heads))


def cell_table(
    heads: tuple[Column, ...], rows: Iterable[Row], caption: str, label: str, *, is_narrow: bool = True
) -> Table:
    """Return a table that readers sort and filter."""
    return Table(heads, tuple(rows), caption, label, is_sortable=True, is_narrow=is_narrow)


def row_of(name: str, cell: CellReport, cells: Sequence[str | TableCell]) -> Row:
    """Return a row about a cell, whose label comes first, by the short name of the cell."""
    return Row((figure(cell.label, cell.label), *cells), of=name)
