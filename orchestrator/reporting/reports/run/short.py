"""A run's report for a terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.measurements import Measurement
from orchestrator.domain import Status
from orchestrator.reporting.blocks import (
    Block,
    Code,
    Column,
    Gap,
    Heading,
    Items,
    Paragraph,
    Remark,
    Row,
    Table,
    TableCell,
    table,
)
from orchestrator.reporting.findings import shared_texts
from orchestrator.reporting.findings.certainty.looks import remarks
from orchestrator.reporting.findings.model import CellReport, Group, LogEnd, Placed, Problem, Report
from orchestrator.reporting.findings.shared_texts import parity_lines
from orchestrator.reporting.findings.tables import frontiers, largest_batches, under_load
from orchestrator.reporting.findings.tables.sweeps import NOTE as SWEEP_NOTE
from orchestrator.reporting.findings.tables.sweeps import sweeps
from orchestrator.reporting.inline import (
    EPOCH_HEADS,
    EPOCH_NOTE,
    Phrase,
    Tone,
    epoch_figures,
    factor_interval,
    latency,
    legend,
    rate_interval,
    repeats,
    statuses,
)
from orchestrator.reporting.reports.run.claims import short_claims
from orchestrator.reporting.reports.run.nodes import node_blocks
from orchestrator.wording import clean, clean_line, counted, factor, listing_of, memory, plural, rate, seconds

_TONES = {
    Verdict.FASTER: Tone.GOOD,
    Verdict.SLOWER: Tone.BAD,
    Verdict.INCONCLUSIVE: Tone.OPEN,
    Verdict.NOT_COMPARABLE: Tone.OPEN,
}
_TAIL_LINES = 6
_MOST_NAMED = 3
"""Cells or groups that one reason names; the rest is a count."""


def short(report: Report) -> Iterator[Block]:
    """Lay out a run's report for a terminal of 80 columns or more."""
    profile = f", {report.profile.title}" if report.profile else ""
    yield Heading(f"{report.matrix}: run {report.run} ({report.runtime}{profile})", 1)
    yield from (Remark(warning, is_warning=True) for warning in report.warnings)
    yield from node_blocks(report)
    for sweep in sweeps(report):
        yield Gap()
        yield Heading(sweep.title)
        yield replace(table(sweep.heads, sweep.rows, sweep.numbers), is_wide=True)
        yield Paragraph(SWEEP_NOTE, Tone.FAINT)
    yield from _groups(report)
    for frontier in frontiers.frontiers(report):
        yield Gap()
        yield Heading(f"{frontiers.TITLE}: {frontier.title}")
        yield replace(table(frontiers.heads(frontier), frontiers.rows(frontier), frontiers.NUMBERS), is_wide=True)
        yield Paragraph(frontiers.NOTE, Tone.FAINT)
    if report.searches:
        yield Gap()
        yield Heading(largest_batches.TITLE)
        found = table(largest_batches.HEADS, largest_batches.rows(report.searches), largest_batches.NUMBERS)
        yield replace(found, is_wide=True)
        yield Paragraph(largest_batches.NOTE, Tone.FAINT)
    if report.scripts:
        yield Gap()
        yield Heading(shared_texts.PRINTED_TITLE)
        yield Paragraph(shared_texts.PRINTED_NOTE)
        yield replace(table(shared_texts.PRINTED_HEADS, shared_texts.printed_rows(report.scripts)), is_wide=True)
    if report.study:
        yield from short_claims(report.study)
    yield from _not_ok(report)
    yield Gap()
    if _has_more(report):
        yield Paragraph("orchestrator report --format md names every cell and log.", Tone.FAINT)
    if report.groups:
        yield Paragraph(legend(at_looks=report.until_decided is not None), Tone.FAINT)
    total = sum(count for _, count in report.statuses)
    ended = statuses(report.statuses) or "none"
    yield Paragraph(f"{total} planned {plural('repeat', total)}: {ended}", Tone.STRONG)
    for further in report.replicates:
        yield Gap()
        yield from short(further)


def _not_ok(report: Report) -> Iterator[Block]:
    if report.problems:
        yield Gap()
        yield Heading("Not ok")
        for problem in report.problems:
            yield from _problem(problem)
    if report.skips:
        yield Gap()
        yield Heading(f"Skipped by the plan: {len(report.skips)} {plural('cell', len(report.skips))}")
        yield from (Paragraph(line) for line in _skips(report))


def _groups(report: Report) -> Iterator[Block]:
    cells = report.by_id
    silent = [group for group in report.groups if _is_silent(group, cells)]
    folded = silent if silent[1:] else []
    for group in report.groups:
        if group not in folded:
            yield from _group(group, cells)
    if folded:
        yield Gap()
        names = listing_of([group.label for group in folded], _MOST_NAMED)
        yield Paragraph(f"Nothing was measured in {counted(len(folded), 'group')}: {names}")


def _group(group: Group, cells: Mapping[str, CellReport]) -> Iterator[Block]:
    yield Gap()
    yield Heading(group.label)
    yield Paragraph(group.sentence)
    # A group without a figure would be a table of dashes; its cells stand under "Not ok".
    if any(cells[place.cell_id].measurement for place in group.places):
        rows = tuple(Row(_row(place, cells[place.cell_id])) for place in group.places)
        yield Table(_columns(group), rows, is_wide=True)
    waiting = shared_texts.waiting_lines(cells[place.cell_id] for place in group.places)
    yield from (Paragraph(line, Tone.FAINT) for line in (*waiting, *remarks(group)))
    yield from _epochs(group, cells)
    measured = [cells[place.cell_id] for place in group.places]
    if heads := under_load.heads(measured):
        yield Gap()
        yield replace(table(heads, under_load.rows(measured), range(1, len(heads))), is_wide=True)
        yield Paragraph(under_load.NOTE, Tone.FAINT)
    if heads := shared_texts.metric_heads(measured):
        yield Gap()
        yield replace(table(heads, shared_texts.metric_rows(measured), range(1, len(heads))), is_wide=True)
        yield Paragraph(shared_texts.metrics_note(measured), Tone.FAINT)


def _columns(group: Group) -> tuple[Column, ...]:
    per_s = group.workload.rules.per_s.capitalize()
    heads = (f"{per_s}\ninterval", "× best\ninterval", "Step p50\np99\ninterval", "Start\nmemory")
    return (
        Column("Rank", is_number=True, no_wrap=True),
        Column("Framework", min_width=14),
        *(Column(head, is_number=True, no_wrap=True) for head in heads),
        Column("Status"),
    )


def _is_silent(group: Group, cells: Mapping[str, CellReport]) -> bool:
    """Return True if there is nothing to show of a group but that it was not measured."""
    measured = any(cells[place.cell_id].measurement for place in group.places)
    floors = any(cells[floor.cell_id].measurement for floor in group.floors)
    return not (measured or floors or any(parity_lines(group)))


def _skips(report: Report) -> Iterator[str]:
    """Yield a line for each reason, with the cells that it names."""
    alike: dict[str, list[str]] = {}
    for skip in report.skips:
        alike.setdefault(skip.reason, []).append(skip.cell_id)
    for reason, ids in alike.items():
        yield f"{listing_of(ids, _MOST_NAMED)}: {reason}"


def _has_more(report: Report) -> bool:
    """Return True if some reason names fewer cells than it has."""
    most = _MOST_NAMED + 1
    reasons = Counter(skip.reason for skip in report.skips)
    return any(number > most for number in (*(len(problem.cells) for problem in report.problems), *reasons.values()))


def _epochs(group: Group, cells: Mapping[str, CellReport]) -> Iterator[Block]:
    timed = [(place.label, epochs) for place in group.places if (epochs := cells[place.cell_id].epochs)]
    if not timed:
        return
    columns = (Column("Framework", min_width=14), *(Column(head, is_number=True) for head in EPOCH_HEADS))
    rows = tuple(
        Row((label, *(_lines(figure.text, figure.below) for figure in epoch_figures(epochs))))
        for label, epochs in timed
    )
    yield Gap()
    yield Table(columns, rows, is_wide=True)
    yield Paragraph(EPOCH_NOTE, Tone.FAINT)


def _row(place: Placed, cell: CellReport) -> tuple[str | TableCell, ...]:
    measured = cell.measurement
    first, *others = statuses(cell.statuses).split(", ")
    status = TableCell(first, tone=_status_tone(cell), below=tuple(others))
    if measured is None:
        return ("–", clean_line(place.label), *["–"] * 4, status)
    return (
        place.rank.label if place.rank else "–",
        clean_line(place.label),
        _lines(rate(measured.throughput.value), rate_interval(measured.throughput)),
        _ratio(place),
        _latency(measured),
        _lines(seconds(measured.start_s), *_memory(measured)),
        status,
    )


def _memory(measured: Measurement) -> list[str]:
    on_device = measured.peak_device_bytes
    return [memory(measured.peak_rss_bytes), *([] if on_device is None else [f"{memory(on_device)} device"])]


def _latency(measured: Measurement) -> TableCell:
    p50, p99, bounds = latency(measured.latency)
    if " " not in bounds.partition("–")[0]:  # both ends are in the unit of the p99 above them
        bounds = bounds.partition(" ")[0]
    return _lines(p50, p99, bounds)


def _lines(first: str, *below: str) -> TableCell:
    return TableCell(first, below=tuple(Phrase(line, Tone.FAINT) for line in below))


def _ratio(place: Placed) -> TableCell:
    over = place.to_best
    if over is None:
        return TableCell("1 ×", below=("best",))
    interval = Phrase(factor_interval(over), Tone.FAINT)
    tone = _TONES.get(over.verdict, Tone.PLAIN)
    return TableCell(f"{factor(over.value)} ×", below=(interval, Phrase(place.verdict, tone)))


def _status_tone(cell: CellReport) -> Tone:
    if all(status is Status.OK for status, _ in cell.statuses):
        return Tone.PLAIN
    return Tone.BAD if any(status.is_failure for status, _ in cell.statuses) else Tone.OPEN


def _problem(problem: Problem) -> Iterator[Block]:
    expected = " (expected)" if problem.expected else ""
    tone = Tone.BAD if problem.status.is_failure and not problem.expected else Tone.OPEN
    reason = f": {clean_line(problem.reason)}" if problem.reason else ""
    yield Paragraph((Phrase(f"{problem.status.value}{expected}", tone), reason))
    named = problem.cells if len(problem.cells) <= _MOST_NAMED + 1 else problem.cells[:_MOST_NAMED]
    lines = [f"{cell.cell_id}, {repeats(cell.repeats)}" for cell in named]
    if named != problem.cells:
        total = sum(len(cell.repeats) for cell in problem.cells)
        lines.append(f"and {len(problem.cells) - len(named):,} more cells; {counted(total, 'repeat')} in all")
    yield Items(tuple(lines))
    for log in problem.logs[:_MOST_NAMED] if problem.status.is_failure else ():
        yield from _log(log, len(problem.logs))


def _log(log: LogEnd, logs: int) -> Iterator[Block]:
    lines = clean(log.tail).splitlines()[-_TAIL_LINES:]
    if lines:
        yield Code("\n".join(lines))
    more = len(log.cell_ids) - 1
    alike = f" (and of {more} more {plural('cell', more)})" if more and logs > 1 else ""
    yield Paragraph(f"log: {log.log}{alike}", Tone.FAINT, indent=4)
