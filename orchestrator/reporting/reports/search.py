"""The report of a search."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator import __version__
from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.rules import BY_NAME
from orchestrator.regression.search.candidates import reasons
from orchestrator.regression.search.record import RECORD_FILE, Bisection, Found, Origin
from orchestrator.reporting.blocks import (
    Block,
    Code,
    Column,
    Gap,
    Heading,
    Items,
    Links,
    Paragraph,
    RatioChart,
    Remark,
    Row,
    Table,
    TableCell,
    Tally,
    table,
)
from orchestrator.reporting.charts.ratios import plot
from orchestrator.reporting.document import Fact, Kind, Page, Section, section
from orchestrator.reporting.formats import render
from orchestrator.reporting.formats.html import INDEX, named_texts, write_pages
from orchestrator.reporting.inline import Chip, Link, Tone, VerdictWord, short_percent
from orchestrator.reporting.reports import search_words as words
from orchestrator.reporting.reports.search_rows import HEADS, NUMBERS, UNTESTABLE, SearchRow, move_rows, release_rows
from orchestrator.results.writing import write_atomically
from orchestrator.wording import clean_line

MARKDOWN_FILE = "report.md"
_TONES = {
    Verdict.SLOWER.value: Tone.BAD, Verdict.FASTER.value: Tone.GOOD, Verdict.INCONCLUSIVE.value: Tone.OPEN,
    UNTESTABLE: Tone.OPEN,
}  # fmt: skip
_SHOWN = (0, 1, 2, 3, 4, 6)
"""Cells of a row that a terminal shows; the page has the p values and the runs too."""


def write_report(record: Bisection, folder: Path) -> Path:
    """Write the page, and the same as Markdown, into the search's folder, and return the path of the page.

    Raises `HostError` if that cannot be done.
    """
    write_atomically(folder / MARKDOWN_FILE, render(SEARCH, record, "md"))
    return write_pages(named_texts(_pages(record)), folder)


def _short(record: Bisection) -> Iterator[Block]:
    yield Paragraph(words.title(record), Tone.FAINT)
    first, *others = words.headlines(record)
    yield Paragraph(first, Tone.STRONG)
    yield from (Paragraph(line) for line in others)
    yield from _warnings(record)
    for name, rows in _phases(record):
        yield Gap()
        columns = tuple(Column(head) for head in (name, *(HEADS[place] for place in _SHOWN)))
        yield Table(columns, tuple(_short_row(row) for row in rows))
    if record.left_out:
        yield Gap()
        yield from (Paragraph(line, Tone.FAINT) for line in reasons(record.left_out))


def _short_row(row: SearchRow) -> Row:
    return Row((row.name, *(row.cells[place] for place in _SHOWN)), _TONES.get(row.word, Tone.PLAIN))


def _phases(record: Bisection) -> Iterator[tuple[str, tuple[SearchRow, ...]]]:
    """Yield the rows of each phase under the head of its first column."""
    if record.found is None:
        return
    yield "Release", release_rows(record, record.found)
    for origin in record.found.origins:
        rows = move_rows(record, origin)
        if rows:
            yield clean_line(f"Moved with {record.searched} {origin.after}"), rows


def _full(record: Bisection) -> Iterator[Block]:
    yield Heading(words.title(record), 1)
    first, *others = words.headlines(record)
    yield Paragraph(first, Tone.STRONG)
    if others:
        yield Items(tuple(others))
    yield from _warnings(record)
    for name, rows in _phases(record):
        is_release = name == "Release"
        yield Heading("Releases" if is_release else name)
        heads = ("Release" if is_release else "Move", *HEADS)
        yield table(heads, [(row.name, *row.cells) for row in rows], NUMBERS)
    yield Items(tuple(reasons(record.left_out)))
    yield Heading("How sure this is")
    yield Items(words.how(record))
    name, host, created_at = (clean_line(each) for each in (record.name, record.host, record.created_at))
    yield Paragraph(f"Search {name} on {host}, {created_at}. To run it again:")
    yield Code(words.command(record))


def _pages(record: Bisection) -> Iterator[tuple[str, Page]]:
    title = words.title(record)
    found = record.found
    sections = (
        section("summary", "What was found", _summary(record)),
        section("releases", "Releases", _releases(record, found)),
        *(_origin(record, number, origin) for number, origin in enumerate(found.origins if found else (), 1)),
        section("reading", "How sure this is", _reading(record, found)),
        section("again", "The files, and the command", _again(record)),
    )
    footer = f"Made by orchestrator {__version__} from the record of search {record.name}."
    yield INDEX, Page(title, "Which release changed it", title, tuple(_facts(record)), sections, footer)


def _facts(record: Bisection) -> Iterator[Fact]:
    gate = record.asked.metric
    metric = BY_NAME[gate.metric]
    yield Fact("Search", record.name)
    yield Fact("Started", "", record.created_at)
    yield Fact("Good", record.asked.good)
    yield Fact("Bad", record.asked.bad)
    tolerance = short_percent(gate.tolerance)
    yield Fact("Metric", f"{metric.title}, {metric.better.value} is better; tolerance {tolerance}")
    yield Fact("Host", record.host)
    if record.asked.python:
        yield Fact("Python", record.asked.python)


def _summary(record: Bisection) -> Iterator[Block]:
    first, *others = words.headlines(record)
    word, mark = words.state(record)
    yield Paragraph(first)
    yield Tally((Chip(word, mark),))
    yield Items(tuple(others))
    yield from _warnings(record)


def _warnings(record: Bisection) -> Iterator[Remark]:
    yield from (Remark(clean_line(warning), is_warning=True) for warning in record.warnings)


def _releases(record: Bisection, search: Found | None) -> Iterator[Block]:
    rows = release_rows(record, search) if search else ()
    yield _evidence("Release", rows, "Every release in order, and what it was compared with")
    yield from _chart(rows, "of a release over the earlier one", "release-grid", "the table of releases")
    yield Items(tuple(reasons(record.left_out)))


def _origin(record: Bisection, number: int, origin: Origin) -> Section:
    blocks: list[Block] = []
    said = words.moved(origin).strip(",; ")
    if said:
        blocks.append(Paragraph(f"From {origin.before} to {origin.after}: {said}."))
    rows = move_rows(record, origin)
    if rows:
        what = f"What moved from {origin.before} to {origin.after}"
        blocks.append(_evidence("Move", rows, f"{what}, one after the other; each row holds all moves above it"))
        anchor = f"move-grid-{number}"
        blocks += _chart(rows, "of an environment over the earlier one", anchor, "the table of moves")
    heading = f"What moved with {record.searched} {origin.after}"
    return Section(f"moved-{number}", heading, tuple(blocks))


def _evidence(name: str, rows: Sequence[SearchRow], caption: str) -> Table:
    columns = tuple(Column(head, number in NUMBERS) for number, head in enumerate((name, *HEADS)))
    return Table(columns, tuple(_evidence_row(row) for row in rows), caption)


def _evidence_row(row: SearchRow) -> Row:
    what, *figures, word, _ = row.cells
    cells: tuple[str | TableCell, ...] = (
        row.name,
        TableCell(Chip(what, _mark(what)) if what else ""),
        *figures,
        TableCell(VerdictWord(word, "inconclusive" if row.word == UNTESTABLE else row.word)),
        TableCell(Link(row.run, f"{row.run}/") if row.run else "–", mark="links"),
    )
    return Row(cells, Tone.PLAIN if row.word else Tone.FAINT)


def _mark(what: str) -> Tone:
    if "changed it" in what or "moved it" in what:
        return Tone.BAD
    return Tone.OPEN if what.startswith(UNTESTABLE) else Tone.PLAIN


def _chart(rows: Sequence[SearchRow], of: str, anchor: str, named: str) -> Iterator[RatioChart]:
    drawn = plot([row.compared for row in rows if row.compared])
    if drawn:
        yield RatioChart(drawn, of, anchor, named)


def _reading(record: Bisection, search: Found | None) -> Iterator[Block]:
    yield from (Paragraph(line) for line in words.how(record))
    confidences = words.confidences(search.steps) if search else ""
    if confidences:
        level = f"Intervals are drawn at the level of the look that decided: {confidences} each for releases."
        yield Paragraph(level)


def _again(record: Bisection) -> Iterator[Block]:
    files = tuple(Link(name, name) for name in (RECORD_FILE, MARKDOWN_FILE))
    yield Links(files, "; the runs lie next to them, and the tables link to each.")
    yield Code(words.command(record))


SEARCH: Kind[Bisection] = Kind(short=_short, full=_full, pages=_pages)
