"""A run's report in full, with every cell, log and environment."""

from collections.abc import Iterator, Mapping

from orchestrator.analysis.ratios import Ratio
from orchestrator.reporting.blocks import Block, Code, Details, Heading, Items, Paragraph, Remark, Table, table
from orchestrator.reporting.findings import shared_texts
from orchestrator.reporting.findings.certainty.looks import remarks
from orchestrator.reporting.findings.model import CellReport, Group, ImageReport, Placed, Report
from orchestrator.reporting.findings.tables import frontiers, largest_batches, under_load
from orchestrator.reporting.findings.tables.efficiency import (
    EFFICIENCY_HEADS,
    EFFICIENCY_NOTE,
    EFFICIENCY_NUMBERS,
    efficiency_rows,
)
from orchestrator.reporting.findings.tables.option_effects import EFFECTS_HEADS, EFFECTS_NOTE, effect_rows
from orchestrator.reporting.findings.tables.sweeps import NOTE as SWEEP_NOTE
from orchestrator.reporting.findings.tables.sweeps import sweeps
from orchestrator.reporting.inline import (
    EPOCH_HEADS,
    EPOCH_NOTE,
    Phrase,
    epoch_figures,
    factor_interval,
    interval_name,
    latency,
    legend,
    rate_interval,
    repeats,
    statuses,
    verdict,
)
from orchestrator.reporting.reports.run.claims import full_claims
from orchestrator.reporting.reports.run.nodes import node_blocks
from orchestrator.wording import clean_line, factor, memory, rate, seconds

_RATIO = ("× best", "its interval", "Verdict")
_DETAILS = ("Step p50", "Step p99", "its interval", "Start", "Memory", "Repeats")
_NUMBERS = (0, 2, 3, 4, 5, 7, 8, 9, 10, 11)


def full(report: Report) -> Iterator[Block]:
    """Lay out a run's report for Markdown."""
    profile = f", {report.profile.title}" if report.profile else ""
    yield Heading(f"{clean_line(report.matrix)}: run {clean_line(report.run)}{profile}", 1)
    ended = statuses(report.statuses) or "nothing planned"
    yield Paragraph(f"{clean_line(report.created_at)}, runtime {clean_line(report.runtime)}: {ended}.")
    yield from (Remark(warning, is_warning=True) for warning in report.warnings)
    yield from node_blocks(report)
    for sweep in sweeps(report):
        yield Heading(sweep.title)
        yield table(sweep.heads, sweep.rows, sweep.numbers)
        yield Paragraph(SWEEP_NOTE)
    cells = report.by_id
    for group in report.groups:
        yield from _group(cells, group)
    if report.groups:
        yield Paragraph(legend(at_looks=report.until_decided is not None))
    yield from _of_batch_sizes(report)
    if report.scripts:
        yield Heading(shared_texts.PRINTED_TITLE)
        yield Paragraph(shared_texts.PRINTED_NOTE)
        yield table(shared_texts.PRINTED_HEADS, shared_texts.printed_rows(report.scripts), (2, 3, 5))
    if report.study:
        yield from full_claims(report.study)
    yield from _problems(report)
    if report.skips:
        yield Heading("Skipped by the plan")
        yield table(("Cell", "Reason"), [(skip.cell_id, skip.reason) for skip in report.skips])
    yield Heading("Environment")
    if report.host:
        yield table(("Host", ""), report.host)
    yield from (_image(image) for image in report.images)
    for further in report.replicates:
        yield from full(further)


def _of_batch_sizes(report: Report) -> Iterator[Block]:
    """Lay out what was looked for over batch sizes."""
    for frontier in frontiers.frontiers(report):
        yield Heading(f"{frontiers.TITLE}: {frontier.title}")
        yield table(frontiers.heads(frontier), frontiers.rows(frontier), frontiers.NUMBERS)
        yield Paragraph(frontiers.NOTE)
    if report.searches:
        yield Heading(largest_batches.TITLE)
        yield table(largest_batches.HEADS, largest_batches.rows(report.searches), largest_batches.NUMBERS)
        yield Paragraph(largest_batches.NOTE)


def _group(cells: Mapping[str, CellReport], group: Group) -> Iterator[Block]:
    yield Heading(group.label)
    yield Paragraph(group.sentence)
    if group.places:
        rows = [_row(cells[place.cell_id], place) for place in group.places]
        rates = (cell.measurement.throughput for cell in map(cells.get, group.cell_ids) if cell and cell.measurement)
        per_s = group.workload.rules.per_s.capitalize()
        ranking = ("Rank", "Framework", per_s, interval_name(rates, "95 % interval"), *_RATIO)
        yield table((*ranking, *_DETAILS), rows, _NUMBERS)
    waiting = shared_texts.waiting_lines(cells[place.cell_id] for place in group.places)
    if lines := (*waiting, *remarks(group)):
        yield Items(lines)
    if effects := effect_rows(group, cells):
        yield Paragraph(EFFECTS_NOTE)
        yield table(EFFECTS_HEADS, effects, (3, 4))
    if efficiencies := efficiency_rows(group, cells):
        yield Paragraph(EFFICIENCY_NOTE)
        yield table(EFFICIENCY_HEADS, efficiencies, EFFICIENCY_NUMBERS)
    yield from _epochs(cells, group)
    measured = [cells[place.cell_id] for place in group.places]
    if heads := under_load.heads(measured):
        yield table(heads, under_load.rows(measured), range(1, len(heads)))
        yield Paragraph(under_load.NOTE)
    if heads := shared_texts.metric_heads(measured):
        yield table(heads, shared_texts.metric_rows(measured), range(1, len(heads)))
        yield Paragraph(shared_texts.metrics_note(measured))


def _row(cell: CellReport, place: Placed) -> tuple[str, ...]:
    measured = cell.measurement
    if measured is None:
        return ("–", place.label, *["–"] * 10, statuses(cell.statuses))
    over, device = place.to_best, measured.peak_device_bytes
    return (
        place.rank.label if place.rank else "–",
        place.label,
        rate(measured.throughput.value),
        rate_interval(measured.throughput),
        *((factor(over.value), factor_interval(over), _verdict(place, over)) if over else ("1", "–", "–")),
        *latency(measured.latency),
        seconds(measured.start_s),
        memory(measured.peak_rss_bytes) + (f", {memory(device)} on the device" if device is not None else ""),
        statuses(cell.statuses),
    )


def _verdict(place: Placed, over: Ratio) -> str:
    return verdict(over) if over.more_repeats else place.verdict


def _epochs(cells: Mapping[str, CellReport], group: Group) -> Iterator[Block]:
    rows = []
    for place in group.places:
        epochs = cells[place.cell_id].epochs
        if epochs:
            figures = epoch_figures(epochs)
            shared_texts = [f"{figure.text} ({figure.below})" if figure.below else figure.text for figure in figures]
            rows.append([place.label, *shared_texts])
    if rows:
        yield table(("Framework", *EPOCH_HEADS), rows, range(1, 1 + len(EPOCH_HEADS)))
        yield Paragraph(EPOCH_NOTE)


def _problems(report: Report) -> Iterator[Block]:
    if report.problems:
        yield Heading("Not ok")
    for problem in report.problems:
        expected = " (expected)" if problem.expected else ""
        reason = f": {clean_line(problem.reason)}" if problem.reason else ""
        yield Paragraph((Phrase(problem.status.value, "strong"), f"{expected}{reason}"))
        yield Items(tuple(f"{clean_line(cell.cell_id)}, {repeats(cell.repeats)}" for cell in problem.cells))
        for log in problem.logs:
            if log.tail:
                more = len(log.cell_ids) - 1
                alike = f" and of {more} more" if more else ""
                yield Details(f"End of the log of {clean_line(log.cell_ids[0])}{alike}", (Code(log.tail),))


def _image(image: ImageReport) -> Table:
    rows = [
        *[("launched by", value) for value in image.references],
        *[("base", value) for value in image.base_digests],
        *[("image id", value) for value in image.image_ids],
        *[("measurement version", str(value)) for value in image.measurement_versions],
        *([("versions", ", ".join(image.versions))] if image.versions else []),
        *[(name, value) for name, value in image.facts if not name.startswith("versions.")],
    ]
    without = [] if image.measurement_versions else [("–", "no container of it has measured")]
    return table((image.name, ""), [*rows, *without])
