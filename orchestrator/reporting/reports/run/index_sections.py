"""The sections of a run's index, with its findings, its problems and its environment."""

import re
from collections.abc import Iterator

from orchestrator.analysis.estimates import CONFIDENCE, PREDICTION
from orchestrator.analysis.ratios import TOLERANCE
from orchestrator.reporting.blocks import (
    Article,
    Block,
    Code,
    Contents,
    Definitions,
    Details,
    FrontierChart,
    Heading,
    HeatChart,
    Items,
    Paragraph,
    Remark,
    Row,
    TableCell,
    Tally,
    table,
)
from orchestrator.reporting.charts.frontiers import frontier_plot
from orchestrator.reporting.charts.heat import HeatMap
from orchestrator.reporting.document import Section, section
from orchestrator.reporting.findings import shared_texts
from orchestrator.reporting.findings.model import Affected, ImageReport, LogEnd, Problem, Report
from orchestrator.reporting.findings.tables import frontiers, largest_batches
from orchestrator.reporting.findings.tables.sweeps import NOTE as SWEEP_NOTE
from orchestrator.reporting.findings.tables.sweeps import sweeps
from orchestrator.reporting.inline import Chip, Link, Part, Phrase, Sentence, repeats, spaced, whole_percent
from orchestrator.reporting.reports.run.cell_tables import every_repeat
from orchestrator.reporting.reports.run.claims import claims_section
from orchestrator.reporting.reports.run.nodes import node_sections
from orchestrator.reporting.reports.run.view import (
    CSV,
    PageView,
    RunPage,
    cell_table,
    columns,
    conclusion,
    figure,
    status_chip,
)
from orchestrator.wording import plural

_MOST_FINDINGS, _MOST_PROBLEMS, _MOST_AFFECTED, _MOST_SKIPS = 5000, 100, 200, 2000
_MOST_REPEATS, _MOST_WITH_FACTS = 5000, 60
"""The most that an index lists of each; it says how many more there are, and which format lists them all."""
_MOST_WARNINGS = 2
"""Warnings that are not folded."""
_MOST_OPEN = 3
"""Problems whose log is open at first."""
_SAMPLES = (
    "The geometric mean over the repeats. A repeat is a fresh container; its own value is the median over its timed "
    "blocks."
)
_COVERED = "It covers what varies from repeat to repeat in this run on this host, and nothing else."
_FURTHER = "Where a further repeat on this host will lie, as far as the repeats of one run show:"
_RATIO = (
    "Welch's interval, for each pair by itself. Only cells of the same work on the same kind of system are compared."
)
_AT_ITS_LOOK = (
    "The interval at the level of the look that decided, or of the last one. The levels of all looks and of all "
    "comparisons of a group add up to the share of wrong verdicts that is allowed. Same is tested for each pair by "
    "itself, by two one-sided tests."
)
_HARNESS = (
    "The part of a cell's step that the harness itself takes: the step of a cell that computes nothing over the cell's "
    "own."
)
_BADGES = (
    "✓ on green: measured, or decided as far as it can be. ○ on yellow: open, because it was not measured or the "
    "repeats do not decide it. ✗ on red: it failed, or two cells do not do the same work. Grey: a fact, neither good "
    "nor bad, such as the same speed or a failure that the matrix expects."
)
_DIGEST = re.compile(r"(sha256:[0-9a-f]{12})[0-9a-f]+")


def sections_before(view: PageView, files: tuple[RunPage, ...]) -> Iterator[Section]:
    """Yield the sections above the groups."""
    yield from node_sections(view.report, view.raw)
    yield section("summary", "What was found", _summary(view))
    tables = [table(sweep.heads, sweep.rows, sweep.numbers, sweep.title) for sweep in sweeps(view.report)]
    if tables:
        yield section("sweeps", "Every size", (*tables, Paragraph(SWEEP_NOTE)))
    if len(files) > 1:
        yield section("pages", "All comparisons", (Contents(tuple(_listed(page) for page in files[1:])),))


def sections_after(view: PageView) -> Iterator[Section]:
    """Yield the sections below the groups."""
    report = view.report
    yield from claims_section(report)
    if drawn := tuple(_frontiers(report)):
        yield section("frontiers", frontiers.TITLE, drawn)
    if report.searches:
        yield section("largest", largest_batches.TITLE, _largest(view))
    if report.scripts:
        yield section("printed", shared_texts.PRINTED_TITLE, _printed(view))
    if report.problems:
        yield section("problems", "What did not end ok", _problems(view))
    if report.skips:
        yield section("skips", "Skipped by the plan", _skips(report))
    yield section("environment", "Environment", _environment(report))
    yield section("reading", "How to read this", (Definitions(tuple(_meanings(report))),))


def _summary(view: PageView) -> Iterator[Block]:
    report = view.report
    yield from _warnings(report)
    if len(report.groups) > 1 and report.headline:
        yield Paragraph(report.headline)
    if view.heat is not None:
        yield _heat_chart(view, view.heat)
    else:
        yield from _findings(view)
    yield Tally(tuple(status_chip(status, number) for status, number in report.statuses), tuple(_planned(report)))


def _warnings(report: Report) -> Iterator[Block]:
    """Yield the warnings, folded if there are many. That a run proves nothing is never folded."""
    remarks = tuple(Remark(warning, is_warning=True) for warning in report.warnings)
    first = 1 if report.profile else 0
    yield from remarks[:first]
    if len(remarks) - first > _MOST_WARNINGS:
        yield Details(f"{len(remarks) - first:,} warnings", remarks[first:])
    else:
        yield from remarks[first:]


def _heat_chart(view: PageView, heat: HeatMap) -> HeatChart:
    names = tuple(
        view.link((f"{row.group.workload.label} ", Phrase(f"on {row.group.place}", "on")), row.group.anchor)
        for row in heat.rows
    )
    ids = [cell.cell_id for row in heat.rows for cell in row.cells if cell]
    return HeatChart(heat, names, {cell_id: view.link("", cell_id) for cell_id in ids})


def _findings(view: PageView) -> Iterator[Block]:
    report = view.report
    findings = tuple(
        (
            view.link((f"{group.workload.label} ", Phrase(f"on {group.place}", "on")), group.anchor),
            conclusion(group),
        )
        for group in report.groups[:_MOST_FINDINGS]
    )
    yield Definitions(findings, look="findings")
    if len(report.groups) > _MOST_FINDINGS:
        yield Paragraph(f"{len(report.groups) - _MOST_FINDINGS:,} more comparisons are on the pages below.")


def _planned(report: Report) -> Iterator[Part]:
    planned, cells, skips = sum(number for _, number in report.statuses), len(report.cells), len(report.skips)
    yield f"of {planned:,} planned {plural('repeat', planned)} in {cells:,} {plural('cell', cells)}"
    if skips:
        yield "; "
        yield Link(f"{skips:,} {plural('cell', skips)} skipped by the plan", anchor="skips")
    if report.problems:
        yield "; "
        yield Link("what did not end ok", anchor="problems")
    if report.study:
        yield "; "
        yield Link("published claims", anchor="claims")
    yield "; "
    yield Link("environment", anchor="environment")
    yield "; "
    yield Link("how to read this", anchor="reading")


def _listed(page: RunPage) -> Sentence:
    first, *others = page.parts
    place = f", from place {first.first}" if first.first > 1 else ""
    more = (" ", Phrase(f"and {len(others)} more", "on")) if others else ()
    return (Link(f"{first.group.label}{place}", page.name), *more)


def _frontiers(report: Report) -> Iterator[Block]:
    for frontier in frontiers.frontiers(report):
        yield Heading(frontier.title, 3)
        yield FrontierChart(frontier_plot(frontier))
        yield table(frontiers.heads(frontier), frontiers.rows(frontier), frontiers.NUMBERS, frontiers.NOTE)


def _largest(view: PageView) -> Iterator[Block]:
    searches = view.report.searches
    yield table(largest_batches.HEADS, largest_batches.rows(searches), largest_batches.NUMBERS, largest_batches.NOTE)
    if sum(len(cell.repeats) for cell in searches) <= _MOST_REPEATS:
        yield every_repeat(view, searches, "searches")


def _printed(view: PageView) -> Iterator[Block]:
    scripts = view.report.scripts
    yield Paragraph(shared_texts.PRINTED_NOTE)
    rows: list[Row] = []
    for cells in shared_texts.printed_rows(scripts):
        is_first = not rows or rows[-1].cells[0] != cells[0]
        rows.append(Row(cells, anchor=cells[0] if is_first else ""))
    caption = "As printed by the scripts, not measured by us"
    yield cell_table(columns(shared_texts.PRINTED_HEADS), rows, caption, "Figures printed by scripts", is_narrow=False)
    if sum(len(cell.repeats) for cell in scripts) <= _MOST_REPEATS:
        yield every_repeat(view, scripts, "scripts")
    else:
        yield Paragraph((CSV, " lists every repeat."))


def _problems(view: PageView) -> Iterator[Block]:
    problems = view.report.problems
    for number, problem in enumerate(problems[:_MOST_PROBLEMS]):
        yield Article(_heading(problem), tuple(_problem(view, problem, number)))
    if len(problems) > _MOST_PROBLEMS:
        more = f"And {len(problems) - _MOST_PROBLEMS:,} more reasons; "
        yield Paragraph((more, CSV, " lists every repeat with its own."))


def _heading(problem: Problem) -> Sentence:
    expected = (Chip("expected by the matrix"),) if problem.expected else ()
    count = sum(cell.count for cell in problem.cells)
    # What the matrix expects is no failure, and has no color of one.
    chip = Chip(problem.status.value, "", count) if problem.expected else status_chip(problem.status, count)
    return spaced((chip, *expected, problem.reason))


def _problem(view: PageView, problem: Problem, number: int) -> Iterator[Block]:
    items = [_affected(view, cell) for cell in problem.cells[:_MOST_AFFECTED]]
    if len(problem.cells) > _MOST_AFFECTED:
        items.append((f"and {len(problem.cells) - _MOST_AFFECTED:,} more cells: ", CSV, " lists them all"))
    yield Items(tuple(items), is_quiet=False)
    is_open = problem.status.is_failure and not problem.expected and number < _MOST_OPEN
    for place, log in enumerate(log for log in problem.logs if log.tail):
        code = Code(log.tail, f"End of the log of {log.cell_ids[0]}")
        yield Details(_log_title(problem, log), (code,), is_open=is_open and place == 0)


def _affected(view: PageView, cell: Affected) -> tuple[Part, ...]:
    listed: tuple[Part, ...] = (view.link(cell.cell_id, cell.cell_id), " ", Phrase(repeats(cell.repeats), "which"))
    if view.raw and cell.log:
        return (*listed, " ", Link("log", f"{view.raw}/{cell.log}", label=f"log of {cell.cell_id}"))
    return listed


def _log_title(problem: Problem, log: LogEnd) -> str:
    if len(problem.logs) == 1:
        return "End of the log"
    more = len(log.cell_ids) - 1
    return f"End of the log of {log.cell_ids[0]}" + (f" and of {more} more" if more else "")


def _skips(report: Report) -> Iterator[Block]:
    rows = (Row((TableCell(skip.cell_id, anchor=skip.cell_id), skip.reason)) for skip in report.skips[:_MOST_SKIPS])
    caption = "Cells that the plan leaves out, with the reason"
    yield cell_table(columns(("Cell", "Reason")), rows, caption, "Skipped cells", is_narrow=False)
    if len(report.skips) > _MOST_SKIPS:
        yield Paragraph((f"And {len(report.skips) - _MOST_SKIPS:,} more; ", CSV, " lists them all."))


def _environment(report: Report) -> Iterator[Block]:
    heads = ("Image", "Python", "Versions", "Base", "Content", "Measurement version", "More")
    rows = (_image(image, number) for number, image in enumerate(report.images))
    caption = "What each environment was made of, and what it reported about itself"
    yield cell_table(columns(heads, (5,), (2, 4, 6)), rows, caption, "Images", is_narrow=False)
    yield Heading("Host", 3)
    yield Definitions((*report.host, ("orchestrator", report.orchestrator_version)), look="facts")


def _image(image: ImageReport, number: int) -> Row:
    names = tuple(Phrase(name, "code") for name in image.references) or ("" if image.image_ids else "–",)
    versions = ", ".join(str(version) for version in image.measurement_versions)
    cells = (
        figure(image.name, image.name),
        dict(image.facts).get("python", "–"),
        ", ".join(image.versions) or "–",
        TableCell(spaced(_digest(digest) for digest in image.base_digests) or "–"),
        TableCell(names, tuple(_digest(digest) for digest in image.image_ids)),
        versions or "–",
        _more(image, "" if versions else "no container of it has measured", has_facts=number < _MOST_WITH_FACTS),
    )
    return Row(cells)


def _more(image: ImageReport, remark: str, *, has_facts: bool) -> TableCell:
    if image.facts and not has_facts:
        return TableCell((remark, Phrase("--format json", "code"), f" has its {len(image.facts)} facts"))
    return TableCell(remark, facts=image.facts)


def _digest(digest: str) -> Phrase:
    return Phrase(_DIGEST.sub(r"\1…", digest), "code", hint=digest)


def _meanings(report: Report) -> Iterator[tuple[str, str]]:
    level, wider = whole_percent(CONFIDENCE), whole_percent(PREDICTION)
    yield "Samples/s", _SAMPLES
    yield "Interval", f"A {level} t interval on the logarithm. {_COVERED}"
    if report.until_decided:
        yield "At its look", _AT_ITS_LOOK
    yield "One more repeat", f"{_FURTHER} a {wider} prediction interval."
    yield "Ratio", _RATIO
    yield "Same", f"The whole interval lies within {whole_percent(TOLERANCE)} of 1."
    yield "Inconclusive", "The interval holds 1, or a single repeat gives none. It does not mean equal."
    yield "Rank 1–2", "The repeats do not distinguish these cells."
    yield "Badges", _BADGES
    yield "Start", "Import, build and first step together."
    if any(group.floors for group in report.groups):
        yield "Harness", _HARNESS
    yield "Scatter", "Coefficient of variation between repeats, and within one between its blocks."
