"""The report of several runs side by side."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator.analysis.ratios import Ratio
from orchestrator.reporting.blocks import Block, Column, Gap, Heading, Paragraph, Remark, Row, Table, TableCell, table
from orchestrator.reporting.document import Kind, Page, Records, Section, Suites, section
from orchestrator.reporting.findings.host_facts import FACTS
from orchestrator.reporting.findings.model import CellReport
from orchestrator.reporting.formats.html import INDEX, named_texts, write_pages
from orchestrator.reporting.inline import Phrase, Tone, factor_interval, rate_interval, statuses
from orchestrator.reporting.measures import MeasuredRun, Trace
from orchestrator.reporting.reports.run.cases import suites as suites_of_run
from orchestrator.reporting.reports.run.measures import measures as measures_of_run
from orchestrator.reporting.reports.run.measures import traces as traces_of_run
from orchestrator.reporting.reports.run.records import records_of
from orchestrator.reporting.reports.run.view import status_chips
from orchestrator.reporting.reports.side_by_side.columns import Beside, BesideGroup, HostRun, SideBySide, surely
from orchestrator.reporting.reports.side_by_side.data import side_by_side_document
from orchestrator.wording import factor, rate, seconds

TITLE = "Runs side by side"
NOT_PLANNED = "not in its plan"


def heads(several: SideBySide) -> tuple[str, ...]:
    """Return the columns of a group, of the cell, of every run, and of the others over the first."""
    return ("Cell", *(run.label for run in several.runs), *(f"{run.label} ÷ first" for run in several.runs[1:]))


def figures(cell: CellReport | None) -> tuple[str, str]:
    """Return the samples/s of a cell in a run, and its interval or status."""
    if cell is None:
        return "–", NOT_PLANNED
    if cell.measurement is None:
        return "–", statuses(cell.statuses)
    if not cell.computes and cell.step_s is not None:
        return seconds(cell.step_s), "a step: harness floor"
    return rate(cell.measurement.throughput.value), rate_interval(cell.measurement.throughput)


def rank(run: HostRun, cell_id: str) -> str:
    """Return the place of a cell among those of its own run, empty if it has none."""
    ranks = (place.rank for group in run.report.groups for place in group.places if place.cell_id == cell_id)
    place = next(ranks, None)
    return f"rank {place.label}" if place else ""


def between(cell: Beside) -> tuple[tuple[str, str], ...]:
    """Return every other run over the first, each as the ratio with its interval and a word on the hosts."""
    return tuple(_between(over, cell.note) for over in cell.over_first[1:])


def _between(over: Ratio | None, note: str) -> tuple[str, str]:
    if over is None:
        return "–", note
    return f"{factor(over.value)} × ({factor_interval(over)})", surely(over)


def host_rows(several: SideBySide) -> list[tuple[str, ...]]:
    """Return the known facts of the hosts, each with a text for every run."""
    facts = [(title, *(dict(run.facts)[name] for run in several.runs)) for name, title in FACTS]
    return [
        ("Run", *(run.report.run for run in several.runs)),
        ("Started", *(run.report.created_at for run in several.runs)),
        *(row for row in facts if set(row[1:]) != {"–"}),
    ]


def write_html(several: SideBySide, folder: Path, pages_of: Sequence[Path | None]) -> Path:
    """Write the page of several runs into a folder, and return its path.

    `pages_of` are the paths of the runs' own pages, which the page links to, None for a run without a page.
    Raises `HostError` if the folder cannot be written.
    """
    base = folder.resolve()
    links = [None if page is None else Path(os.path.relpath(page.resolve(), base)).as_posix() for page in pages_of]
    return write_pages(named_texts(pages(several, links)), folder)


def pages(several: SideBySide, links: Sequence[str | None] = ()) -> Iterator[tuple[str, Page]]:
    """Lay out the page, with links to the runs' own pages in the order of the runs."""
    sections = (
        section("hosts", "Hosts", (*(Remark(note) for note in several.notes), _hosts(several, links))),
        *(_group(several, group, number) for number, group in enumerate(several.groups, 1)),
    )
    title = f"{TITLE}: {', '.join(run.label for run in several.runs)}"
    version = several.runs[0].report.orchestrator_version
    footer = f"Made by orchestrator {version} from the files of {len(several.runs)} runs; each has a report of its own."
    yield INDEX, Page(title, "Benchmark report", TITLE, (), sections, footer)


def _hosts(several: SideBySide, links: Sequence[str | None]) -> Table:
    addresses = links or [None] * len(several.runs)
    runs = (Column(run.label, address=page or "") for run, page in zip(several.runs, addresses, strict=True))
    ended = Row(("Ended", *(TableCell(status_chips(run.report.statuses)) for run in several.runs)))
    rows = (*(Row(cells) for cells in host_rows(several)), ended)
    return Table((Column("Run of"), *runs), rows, "What each run ran on", is_filtered=False)


def _group(several: SideBySide, group: BesideGroup, number: int) -> Section:
    heading = (f"{group.workload.label} ", Phrase(f"on {group.system.name}", "on"))
    rows = [_row(several, cell) for cell in group.cells]
    caption = "Samples/s with their interval; a rank is that among the cells of the same column"
    shown = table(heads(several), rows, range(1, len(heads(several))), caption)
    return Section(f"group-{number}", heading, (replace(shown, label=f"Figures of {group.label}"),))


def _short(several: SideBySide) -> Iterator[Block]:
    yield Heading(TITLE, 1)
    yield table(("", *(run.label for run in several.runs)), [*host_rows(several), _ended(several)])
    yield from (Remark(note) for note in several.notes)
    for group in several.groups:
        yield Gap()
        yield Heading(group.label)
        yield table(heads(several), [_row(several, cell) for cell in group.cells])
    yield Gap()
    yield Paragraph("Samples/s with their interval. What failed, and why: orchestrator report RUN", Tone.FAINT)


def _full(several: SideBySide) -> Iterator[Block]:
    yield Heading(TITLE, 1)
    yield table(("", *(run.label for run in several.runs)), [*host_rows(several), _ended(several)])
    yield from (Remark(note) for note in several.notes)
    for group in several.groups:
        yield Heading(group.label)
        yield table(heads(several), [_row(several, cell) for cell in group.cells])


def _row(several: SideBySide, cell: Beside) -> tuple[str | TableCell, ...]:
    figures_of = [(*figures(one), rank(run, cell.cell_id)) for one, run in zip(cell.found, several.runs, strict=True)]
    return cell.label, *(_lines(texts) for texts in (*figures_of, *between(cell)))


def _lines(texts: Sequence[str]) -> TableCell:
    first, *others = filter(None, texts)
    return TableCell(first, below=tuple(others))


def _ended(several: SideBySide) -> tuple[str, ...]:
    return ("Ended", *(statuses(run.report.statuses) for run in several.runs))


def _suites(several: SideBySide) -> Suites:
    """Build every run's own suites, one after another, each with the run in its name."""
    each = tuple(
        replace(suite, name=f"{suite.name} ({run.report.run})")
        for run in several.runs
        for suite in suites_of_run(run.report).suites
    )
    return Suites(TITLE, each)


def _records(several: SideBySide) -> Records:
    """Return every run's own rows, with what is known of its host behind them."""
    return records_of([(run.report, dict(run.facts)) for run in several.runs])


def _measures(several: SideBySide) -> tuple[MeasuredRun, ...]:
    return tuple(each for run in several.runs for each in measures_of_run(run.report))


def _traces(several: SideBySide) -> tuple[Trace, ...]:
    return tuple(each for run in several.runs for each in traces_of_run(run.report))


SIDE_BY_SIDE: Kind[SideBySide] = Kind(
    short=_short, full=_full, pages=pages, suites=_suites, value=side_by_side_document, records=_records,
    measures=_measures, traces=_traces,
)  # fmt: skip
