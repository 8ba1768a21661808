"""The tables of a search, of this schema and of an earlier one."""

from collections.abc import Iterator, Sequence

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.search.earlier_record import EarlierBisection, EarlierOrigin
from orchestrator.regression.search.record import Bisection, Origin
from orchestrator.reporting.blocks import Column, Row, Table, TableCell, table
from orchestrator.reporting.inline import Chip, Link, Tone, VerdictWord
from orchestrator.reporting.reports.search.chain_rows import CHAIN_HEADS, NOT_COMPARED, chain_rows, span_rows
from orchestrator.reporting.reports.search.earlier_rows import EARLIER_HEADS, earlier_move_rows, earlier_release_rows
from orchestrator.reporting.reports.search.rows import HEADS, UNTESTABLE, SearchRow, move_rows, release_rows, round_rows
from orchestrator.reporting.reports.search.words import AnyRecord
from orchestrator.wording import clean_line

_TONES = {
    Verdict.SLOWER.value: Tone.BAD, Verdict.FASTER.value: Tone.GOOD, Verdict.INCONCLUSIVE.value: Tone.OPEN,
    UNTESTABLE: Tone.OPEN, NOT_COMPARED: Tone.OPEN,
}  # fmt: skip
_NUMBERS = frozenset({3, 4, 5, 6})
"""Columns that are aligned right, the release counted as 0."""
_CHAIN_COLUMNS = tuple(Column(head, number in {3, 4, 5}) for number, head in enumerate(CHAIN_HEADS))
RELEASE = "Release"
"""The head of the first column of a table of releases, or its beginning."""
_ROUND_HEADS = ("Round", "Blocks", "Launches", "Releases", "Run")
_ROUND_NUMBERS = frozenset({0, 1, 2})


def phases(record: AnyRecord) -> Iterator[tuple[str, tuple[SearchRow, ...]]]:
    """Yield the rows of each phase under the head of its first column."""
    if record.found is None:
        return
    yield from release_phases(record)
    for origin in record.found.origins:
        rows = rows_of_moves(record, origin)
        if rows:
            yield clean_line(f"Moved with {record.searched} {origin.after}"), rows


def release_phases(record: AnyRecord) -> Iterator[tuple[str, tuple[SearchRow, ...]]]:
    """Yield the rows of all releases under the head of their first column, in a chain those of each span."""
    if isinstance(record, Bisection) and record.found and record.found.chain:
        for each in span_rows(record, record.found):
            yield clean_line(f"{RELEASE} on Python {each.span.python}"), each.rows
    else:
        yield RELEASE, rows_of_releases(record)


def rows_of_releases(record: AnyRecord) -> tuple[SearchRow, ...]:
    """Return the rows of all releases, or none if the search has not ended."""
    if isinstance(record, EarlierBisection):
        return earlier_release_rows(record, record.found) if record.found else ()
    return release_rows(record, record.found) if record.found else ()


def rows_of_moves(record: AnyRecord, origin: Origin | EarlierOrigin) -> tuple[SearchRow, ...]:
    """Return the rows of the moves with a change, or none if they were not searched."""
    if isinstance(record, EarlierBisection):
        return earlier_move_rows(record, origin) if isinstance(origin, EarlierOrigin) else ()
    return move_rows(record, origin) if isinstance(origin, Origin) else ()


def chain_table(record: AnyRecord) -> Iterator[Table]:
    """Yield the table of the ends of all spans for a text, if releases are chained."""
    if isinstance(record, Bisection) and record.found and record.found.chain:
        every = chain_rows(record, record.found)
        yield Table(_CHAIN_COLUMNS, tuple(Row(cells, _TONES.get(cells[-1], Tone.PLAIN)) for cells in every))


def chain_evidence(record: AnyRecord) -> Iterator[Table]:
    """Yield the same table on a page."""
    caption = "The ends of the releases on each Python, and those of the chain"
    if isinstance(record, Bisection) and record.found and record.found.chain:
        every = chain_rows(record, record.found)
        rows = (Row((*figures, TableCell(VerdictWord(word, _mark_of(word))))) for *figures, word in every)
        yield Table(_CHAIN_COLUMNS, tuple(rows), caption)


def _mark_of(word: str) -> str:
    return "inconclusive" if word == NOT_COMPARED else word


def _heads(record: AnyRecord) -> tuple[str, ...]:
    return EARLIER_HEADS if isinstance(record, EarlierBisection) else HEADS


def _shown(record: AnyRecord) -> tuple[int, ...]:
    """Return the cells of a row that a terminal shows; the page has the p values and the runs too."""
    return (0, 1, 2, 3, 4, 6) if isinstance(record, EarlierBisection) else (0, 1, 2, 3, 4, 6, 7)


def short_table(record: AnyRecord, name: str, rows: Sequence[SearchRow]) -> Table:
    """Return the table of a terminal, which leaves out p values and runs."""
    shown, heads = _shown(record), _heads(record)
    columns = tuple(Column(head) for head in (name, *(heads[place] for place in shown)))
    return Table(columns, tuple(_short_row(row, shown) for row in rows))


def _short_row(row: SearchRow, shown: Sequence[int]) -> Row:
    return Row((row.name, *(row.cells[place] for place in shown)), _TONES.get(row.word, Tone.PLAIN))


def full_table(record: AnyRecord, name: str, rows: Sequence[SearchRow]) -> Table:
    """Return the table of a text, with all columns."""
    return table((name, *_heads(record)), [(row.name, *row.cells) for row in rows], _NUMBERS)


def rounds_table(record: Bisection) -> Table:
    """Return the rounds of a search in a text."""
    return table(_ROUND_HEADS, list(round_rows(record)), _ROUND_NUMBERS)


def evidence_table(record: AnyRecord, name: str, rows: Sequence[SearchRow], caption: str) -> Table:
    """Return the table of a page, which has all columns."""
    columns = tuple(Column(head, number in _NUMBERS) for number, head in enumerate((name, *_heads(record))))
    return Table(
        columns, tuple(_evidence_row(row, links=isinstance(record, EarlierBisection)) for row in rows), caption
    )


def _evidence_row(row: SearchRow, *, links: bool) -> Row:
    """Return a row of the page. With `links` its last cell leads to the one run of the comparison."""
    what, *figures, word, last = row.cells
    cells: tuple[str | TableCell, ...] = (
        row.name,
        TableCell(Chip(what, _mark(what)) if what else ""),
        *figures,
        TableCell(VerdictWord(word, "inconclusive" if row.word == UNTESTABLE else row.word)),
        _run_link(row.run) if links else last,
    )
    return Row(cells, Tone.PLAIN if row.word else Tone.FAINT)


def _run_link(run: str) -> TableCell:
    return TableCell(Link(run, f"{run}/") if run else "–", mark="links")


def rounds_evidence(record: Bisection) -> Table:
    """Return the rounds on a page, with a link to the run of each."""
    columns = tuple(Column(head, number in _ROUND_NUMBERS) for number, head in enumerate(_ROUND_HEADS))
    rows = tuple(Row((*cells, _run_link(run))) for *cells, run in round_rows(record))
    return Table(columns, rows, "Blocks in the order they were measured; each holds all releases of its round once")


def _mark(what: str) -> Tone:
    if "changed it" in what or "moved it" in what:
        return Tone.BAD
    return Tone.OPEN if what.startswith(UNTESTABLE) else Tone.PLAIN
