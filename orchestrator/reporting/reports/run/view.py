"""The view that sections of a run's page are laid out from, with the texts that they share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.analysis import Ratio
from orchestrator.domain import Status
from orchestrator.reporting.blocks import Column, Row, Table, TableCell
from orchestrator.reporting.findings.model import CellReport, Group, GroupFinding, Report, StatusCounts
from orchestrator.reporting.reports.run.layout import RunPage
from orchestrator.reporting.sentences import Chip, Link, Part, Phrase, Sentence, VerdictWord, spaced

CSV = Phrase("--format csv", "code")
_MARKS = {
    GroupFinding.DECIDED: "good", GroupFinding.SAME: "same", GroupFinding.INCONCLUSIVE: "open",
    GroupFinding.NOT_COMPARABLE: "bad", GroupFinding.NOTHING: "open",
}  # fmt: skip


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


def verdict_word(over: Ratio) -> VerdictWord:
    """Return the verdict on a ratio in its color."""
    return VerdictWord(over.verdict.value, over.verdict.value)


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
