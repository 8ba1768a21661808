"""How a report is laid out over pages: one for most runs, an index with many for large ones."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orchestrator.reporting.model import CellReport, Group, Placed, Report

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
    def is_whole(self) -> bool:
        """Whether all of the group is here."""
        return len(self.places) == len(self.group.places)


@dataclass(frozen=True, slots=True)
class Page:
    """One file."""

    name: str
    parts: tuple[Part, ...]


def pages(report: Report) -> tuple[Page, ...]:
    """The pages of a report, the index first; in a large one the index holds no groups."""
    rows = {cell.cell.id: _rows(cell) for cell in report.cells}
    parts = [part for group in report.groups for part in _parts(group, rows)]
    if sum(rows.values()) <= MOST_ON_ONE_PAGE:
        return (Page(INDEX, tuple(parts)),)
    found = [Page(INDEX, ())]
    kept: list[Part] = []
    filled = 0
    for part in parts:
        size = sum(rows[place.cell_id] for place in part.places)
        if kept and filled + size > MOST_ON_ONE_PAGE:
            found.append(Page(f"groups-{len(found):04}.html", tuple(kept)))
            kept, filled = [], 0
        kept.append(part)
        filled += size
    found.append(Page(f"groups-{len(found):04}.html", tuple(kept)))
    return tuple(found)


def _rows(cell: CellReport) -> int:
    return _ROWS_PER_CELL + 2 * len(cell.repeats) + (len(cell.epochs.curve) if cell.epochs else 0)


def places(found: tuple[Page, ...]) -> Mapping[str, str]:
    """The page of every cell and every group's first part, by cell id and by the group's anchor."""
    return dict(_addresses(found))


def _addresses(found: tuple[Page, ...]) -> Iterator[tuple[str, str]]:
    for page in found:
        for part in page.parts:
            if part.first == 1:
                yield part.anchor, page.name
            for place in part.places:
                yield place.cell_id, page.name


def _parts(group: Group, rows: Mapping[str, int]) -> Iterator[Part]:
    start = filled = 0
    for end, place in enumerate(group.places):
        if end > start and filled + rows[place.cell_id] > MOST_ON_ONE_PAGE:
            yield _part(group, start, end)
            start, filled = end, 0
        filled += rows[place.cell_id]
    yield _part(group, start, len(group.places))


def _part(group: Group, start: int, end: int) -> Part:
    anchor = group.anchor if start == 0 else f"{group.anchor}/{start + 1}"
    return Part(group, anchor, start + 1, group.places[start:end])
