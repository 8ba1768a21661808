"""The heat map of a run: works in rows, frameworks in columns, and ratios of their throughput to a baseline."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.analysis.comparison import Verdict
from orchestrator.reporting.findings.model import CellReport, Group, Placed

MOST_ROWS, MOST_COLUMNS = 400, 40
"""A larger heat map shows nobody anything, and would take its page most of its time."""
_STEPS = (1.02, 1.25, 2.0)
"""Ratios, either way, at which the color changes: within the tolerance there is none."""
_LETTERS = {
    Verdict.FASTER: "f", Verdict.SLOWER: "s", Verdict.SAME: "=", Verdict.INCONCLUSIVE: "?", Verdict.NOT_COMPARABLE: "x",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One cell of the run in a heat map."""

    cell_id: str
    rate: float | None
    """Samples/s; None if it was not measured."""
    state: str
    """The way it ended, if it was not measured."""
    ratio: float | None
    """Its throughput over that of the best; None if it was not measured or does other work."""
    to_best: str
    """The letter of its verdict against the best, empty for the best itself."""
    verdicts: str
    """The letter of its verdict against the cell of each column, a space where there is none."""


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A group of the run in a heat map, with a cell or None for each column."""

    group: Group
    cells: tuple[HeatCell | None, ...]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Groups over frameworks."""

    columns: tuple[str, ...]
    """Labels of cells in the order of the plan."""
    rows: tuple[HeatRow, ...]
    left_out: int = 0
    """Further groups."""

    @property
    def means(self) -> tuple[float | None, ...]:
        """Return the geometric mean of the ratios of each column, None without any."""
        return tuple(
            geometric_mean([each.ratio for each in column if each and each.ratio])
            for column in zip(*(row.cells for row in self.rows), strict=True)
        )


def geometric_mean(values: Sequence[float | None]) -> float | None:
    """Return the geometric mean of ratios, or None without any."""
    logarithms = [math.log(value) for value in values if value]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else None


def heat(ratio: float | None) -> int:
    """Return how hot a ratio is, from -3, at most half, to 3, at least twice. `report.js` does the same."""
    if not ratio:
        return 0
    away = ratio if ratio >= 1 else 1 / ratio
    steps = sum(away >= step for step in _STEPS)
    return steps if ratio >= 1 else -steps


def heat_map(groups: Sequence[Group], cells: Mapping[str, CellReport]) -> HeatMap | None:
    """Return the heat map of groups, or None if it would show nothing: one group, one framework, or far too many."""
    placed = {place.cell_id: place.label for group in groups for place in group.places}
    columns = tuple(dict.fromkeys(placed[cell_id] for cell_id in cells if cell_id in placed))
    compared = [group for group in groups if sum(_rate(cells[place.cell_id]) is not None for place in group.places) > 1]
    if len(groups) < 2 or not 2 <= len(columns) <= MOST_COLUMNS or not compared:
        return None
    rows = tuple(_row(group, columns, cells) for group in groups[:MOST_ROWS])
    return HeatMap(columns, rows, len(groups) - len(rows))


def _rate(cell: CellReport) -> float | None:
    return cell.measurement.throughput.value if cell.measurement else None


def _row(group: Group, columns: Sequence[str], cells: Mapping[str, CellReport]) -> HeatRow:
    places = {place.label: number for number, place in reversed(list(enumerate(group.places)))}
    best = next((rate for place in group.places if (rate := _rate(cells[place.cell_id])) is not None), None)
    return HeatRow(
        group,
        tuple(
            _cell(group, places[label], [places.get(each) for each in columns], cells, best)
            if label in places
            else None
            for label in columns
        ),
    )


def _cell(
    group: Group, number: int, columns: Iterable[int | None], cells: Mapping[str, CellReport], best: float | None
) -> HeatCell:
    place = group.places[number]
    cell = cells[place.cell_id]
    rate, letter = _rate(cell), _to_best(place)
    comparable = rate is not None and bool(best) and letter != _LETTERS[Verdict.NOT_COMPARABLE]
    return HeatCell(
        place.cell_id,
        rate,
        "" if rate is not None else ", ".join(status.value for status, _ in cell.statuses) or "not run",
        rate / best if comparable and rate is not None and best else None,
        letter,
        "".join(" " if other is None else _against(group, number, other) for other in columns),
    )


def _to_best(place: Placed) -> str:
    return _LETTERS.get(place.to_best.verdict, "") if place.to_best else ""


def _against(group: Group, number: int, other: int) -> str:
    """Return the letter of the verdict on one measured cell of a group against another."""
    if number >= len(group.ratios) or other >= len(group.ratios[number]):
        return " "
    ratio = group.ratios[number][other]
    return _LETTERS.get(ratio.verdict, " ") if ratio else " "
