"""The layout of a report over pages, one for most runs and an index with many for large ones."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orchestrator.reporting.figures import statuses
from orchestrator.reporting.findings.model import CellReport, Floor, Group, Placed, Report
from orchestrator.wording import clean_line

INDEX = "index.html"
MOST_ON_ONE_PAGE = 5000
"""Table rows, about, that a page holds: two for every repeat, one for every evaluated epoch, twelve for every cell."""
_ROWS_PER_CELL = 12


@dataclass(frozen=True, slots=True)
class Part:
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
    parts: tuple[Part, ...]


def layout(report: Report) -> tuple[RunPage, ...]:
    """Return the pages of a report, the index first, which holds no groups if the report is large."""
    rows = {cell.cell.id: _rows(cell) for cell in report.cells}
    parts = [part for group in report.groups for part in _parts(group, rows)]
    if sum(rows.values()) <= MOST_ON_ONE_PAGE:
        return (RunPage(INDEX, tuple(parts)),)
    pages = [RunPage(INDEX, ())]
    kept: list[Part] = []
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
            words = {place.cell_id: place.to_best.verdict.value for place in part.places if place.to_best}
            rows = [_listed(cells[cell_id], words.get(cell_id, "")) for cell_id in part.cell_ids[:left]]
            listed.append((page.name, clean_line(part.anchor), clean_line(part.group.label), rows))
            left -= len(rows)
    return listed


def _listed(cell: CellReport, verdict: str) -> tuple[str, str, str]:
    disturbed = any(repeat.outcome.disturbance for repeat in cell.repeats)
    words = (statuses(cell.statuses), "disturbed" if disturbed else "", verdict)
    return clean_line(cell.cell.id), cell.label, ", ".join(filter(None, words))


def _parts(group: Group, rows: Mapping[str, int]) -> Iterator[Part]:
    start, filled = 0, sum(rows[floor.cell_id] for floor in group.floors)
    for end, place in enumerate(group.places):
        if end > start and filled + rows[place.cell_id] > MOST_ON_ONE_PAGE:
            yield _part(group, start, end)
            start, filled = end, 0
        filled += rows[place.cell_id]
    yield _part(group, start, len(group.places))


def _part(group: Group, start: int, end: int) -> Part:
    anchor = group.anchor if start == 0 else f"{group.anchor}/{start + 1}"
    return Part(group, anchor, start + 1, group.places[start:end])
