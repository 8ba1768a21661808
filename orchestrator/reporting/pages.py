"""How a report is laid out over pages: one for most runs, an index with many for large ones."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orchestrator.reporting.model import Group, Placed, Report

INDEX = "index.html"
MOST_ON_ONE_PAGE = 1500
"""Planned repeats up to which a report is a single page."""
_CELLS_PER_PAGE = 300


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
    parts = [part for group in report.groups for part in _parts(group)]
    if sum(count for _, count in report.statuses) <= MOST_ON_ONE_PAGE:
        return (Page(INDEX, tuple(parts)),)
    found = [Page(INDEX, ())]
    kept: list[Part] = []
    for part in parts:
        if kept and sum(len(each.places) for each in kept) + len(part.places) > _CELLS_PER_PAGE:
            found.append(Page(f"groups-{len(found):04}.html", tuple(kept)))
            kept = []
        kept.append(part)
    found.append(Page(f"groups-{len(found):04}.html", tuple(kept)))
    return tuple(found)


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


def _parts(group: Group) -> Iterator[Part]:
    for start in range(0, len(group.places), _CELLS_PER_PAGE):
        anchor = group.anchor if start == 0 else f"{group.anchor}/{start + 1}"
        yield Part(group, anchor, start + 1, group.places[start : start + _CELLS_PER_PAGE])
