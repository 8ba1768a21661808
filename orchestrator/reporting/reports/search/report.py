"""The report of a search."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator import __version__
from orchestrator.regression.rules import metric_of
from orchestrator.regression.search.candidates import reasons
from orchestrator.regression.search.earlier_record import EarlierOrigin
from orchestrator.regression.search.record import RECORD_FILE, Bisection, Origin
from orchestrator.reporting.blocks import (
    Block,
    Code,
    Gap,
    Heading,
    Items,
    Links,
    Paragraph,
    RatioChart,
    Remark,
    Tally,
)
from orchestrator.reporting.charts.ratios import plot
from orchestrator.reporting.document import Fact, Kind, Page, Section, section
from orchestrator.reporting.formats import render
from orchestrator.reporting.formats.html import INDEX, named_texts, write_pages
from orchestrator.reporting.inline import Chip, Link, Tone, short_percent
from orchestrator.reporting.reports.search import tables, words
from orchestrator.reporting.reports.search.chain_words import python_of
from orchestrator.reporting.reports.search.rows import SearchRow
from orchestrator.reporting.reports.search.words import AnyRecord
from orchestrator.results.files.writing import write_atomically
from orchestrator.wording import clean_line

MARKDOWN_FILE = "report.md"


def write_report(record: AnyRecord, folder: Path) -> Path:
    """Write the page, and the same as Markdown, into the search's folder, and return the path of the page.

    Raises `HostError` if that cannot be done.
    """
    write_atomically(folder / MARKDOWN_FILE, render(SEARCH, record, "md"))
    return write_pages(named_texts(_pages(record)), folder)


def _short(record: AnyRecord) -> Iterator[Block]:
    yield Paragraph(words.title(record), Tone.FAINT)
    first, *others = words.headlines(record)
    yield Paragraph(first, Tone.STRONG)
    yield from (Paragraph(line) for line in others)
    yield from _warnings(record)
    for chain in tables.chain_table(record):
        yield Gap()
        yield chain
    for name, rows in tables.phases(record):
        yield Gap()
        yield tables.short_table(record, name, rows)
    if record.left_out:
        yield Gap()
        yield from (Paragraph(line, Tone.FAINT) for line in reasons(record.left_out))


def _full(record: AnyRecord) -> Iterator[Block]:
    yield Heading(words.title(record), 1)
    first, *others = words.headlines(record)
    yield Paragraph(first, Tone.STRONG)
    if others:
        yield Items(tuple(others))
    yield from _warnings(record)
    for chain in tables.chain_table(record):
        yield Heading("The chain")
        yield chain
    for name, rows in tables.phases(record):
        is_release = name.startswith(tables.RELEASE)
        yield Heading(name.replace(tables.RELEASE, "Releases", 1))
        yield tables.full_table(record, tables.RELEASE if is_release else "Move", rows)
    if isinstance(record, Bisection) and record.rounds:
        yield Heading("Rounds")
        yield tables.rounds_table(record)
    yield Items(tuple(reasons(record.left_out)))
    yield Heading("How sure this is")
    yield Items(words.how(record))
    name, host, created_at = (clean_line(each) for each in (record.name, record.host, record.created_at))
    yield Paragraph(f"Search {name} on {host}, {created_at}. To run it again:")
    yield Code(words.command(record))


def _pages(record: AnyRecord) -> Iterator[tuple[str, Page]]:
    title = words.title(record)
    origins: Sequence[Origin | EarlierOrigin] = record.found.origins if record.found else ()
    sections = (
        section("summary", "What was found", _summary(record)),
        section("releases", "Releases", _releases(record)),
        *(_origin(record, number, origin) for number, origin in enumerate(origins, 1)),
        *_rounds(record),
        section("reading", "How sure this is", _reading(record)),
        section("again", "The files, and the command", _again(record)),
    )
    footer = f"Made by orchestrator {__version__} from the record of search {record.name}."
    yield INDEX, Page(title, "Which release changed it", title, tuple(_facts(record)), sections, footer)


def _facts(record: AnyRecord) -> Iterator[Fact]:
    gate = record.asked.metric
    metric = metric_of(gate)
    yield Fact("Search", record.name)
    yield Fact("Started", "", record.created_at)
    yield Fact("Good", record.asked.good)
    yield Fact("Bad", record.asked.bad)
    tolerance = short_percent(gate.tolerance)
    yield Fact("Metric", f"{metric.title}, {metric.better.value} is better; tolerance {tolerance}")
    yield Fact("Host", record.host)
    python = python_of(record.asked.chain) if record.asked.chain else record.asked.python
    if python:
        yield Fact("Python", python)


def _summary(record: AnyRecord) -> Iterator[Block]:
    first, *others = words.headlines(record)
    word, mark = words.state(record)
    yield Paragraph(first)
    yield Tally((Chip(word, mark),))
    yield Items(tuple(others))
    yield from _warnings(record)


def _warnings(record: AnyRecord) -> Iterator[Remark]:
    yield from (Remark(clean_line(warning), is_warning=True) for warning in record.warnings)


def _releases(record: AnyRecord) -> Iterator[Block]:
    yield from tables.chain_evidence(record)
    for number, (name, rows) in enumerate(tables.release_phases(record)):
        on = name.removeprefix(tables.RELEASE)
        what = f"Every release{on} in order, and what it was compared with"
        yield tables.evidence_table(record, tables.RELEASE, rows, what)
        anchor = f"release-grid-{number + 1}" if on else "release-grid"
        yield from _chart(rows, "of a release over the earlier one", anchor, f"the table of releases{on}")
    yield Items(tuple(reasons(record.left_out)))


def _origin(record: AnyRecord, number: int, origin: Origin | EarlierOrigin) -> Section:
    blocks: list[Block] = []
    said = words.moved(origin).strip(",; ")
    if said:
        blocks.append(Paragraph(f"From {origin.before} to {origin.after}: {said}."))
    rows = tables.rows_of_moves(record, origin)
    if rows:
        what = f"What moved from {origin.before} to {origin.after}"
        blocks.append(
            tables.evidence_table(
                record, "Move", rows, f"{what}, one after the other; each row holds all moves above it"
            )
        )
        anchor = f"move-grid-{number}"
        blocks += _chart(rows, "of an environment over the earlier one", anchor, "the table of moves")
    heading = f"What moved with {record.searched} {origin.after}"
    return Section(f"moved-{number}", heading, tuple(blocks))


def _rounds(record: AnyRecord) -> Iterator[Section]:
    if isinstance(record, Bisection) and record.rounds:
        yield section("rounds", "Rounds", [tables.rounds_evidence(record)])


def _chart(rows: Sequence[SearchRow], of: str, anchor: str, named: str) -> Iterator[RatioChart]:
    drawn = plot([row.compared for row in rows if row.compared])
    if drawn:
        yield RatioChart(drawn, of, anchor, named)


def _reading(record: AnyRecord) -> Iterator[Block]:
    yield from (Paragraph(line) for line in words.how(record))
    confidences = words.confidences(record.found.steps) if record.found else ""
    if confidences:
        level = f"Intervals are drawn at the level of the look that decided: {confidences} each for releases."
        yield Paragraph(level)


def _again(record: AnyRecord) -> Iterator[Block]:
    files = tuple(Link(name, name) for name in (RECORD_FILE, MARKDOWN_FILE))
    yield Links(files, "; the runs lie next to them, and the tables link to each.")
    yield Code(words.command(record))


SEARCH: Kind[AnyRecord] = Kind(short=_short, full=_full, pages=_pages)
