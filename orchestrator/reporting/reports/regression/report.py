"""The report of a regression test."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator import __version__
from orchestrator.analysis.comparison import Verdict
from orchestrator.documents import DocumentKind, Envelope
from orchestrator.regression.model import Judged, Regression
from orchestrator.reporting.blocks import (
    Block,
    Column,
    Definitions,
    Details,
    Gap,
    Heading,
    Items,
    Paragraph,
    RatioChart,
    Remark,
    Row,
    Table,
    TableCell,
    Tally,
    table,
)
from orchestrator.reporting.charts.ratios import Compared, plot
from orchestrator.reporting.document import Case, CaseResult, Fact, Kind, Page, Suite, Suites, section
from orchestrator.reporting.formats.html import INDEX, named_texts, write_pages
from orchestrator.reporting.inline import Chip, Phrase, Tone, VerdictWord
from orchestrator.reporting.reports.regression import words
from orchestrator.reporting.reports.regression.measures import measures
from orchestrator.reporting.reports.regression.records import records
from orchestrator.reporting.reports.regression.words import VerdictRow
from orchestrator.wording import clean_line

NUMBERS = frozenset({2, 3, 4, 5, 8})
"""Columns of verdicts that are aligned right."""
_TONES = {
    Verdict.SLOWER: Tone.BAD, Verdict.BROKE: Tone.BAD, Verdict.FASTER: Tone.GOOD, Verdict.FIXED: Tone.GOOD,
    Verdict.INCONCLUSIVE: Tone.OPEN, Verdict.NOT_COMPARABLE: Tone.OPEN, Verdict.NOT_MEASURED: Tone.OPEN,
}  # fmt: skip
_SKIPPED = frozenset({Verdict.INCONCLUSIVE, Verdict.NOT_COMPARABLE, Verdict.NOT_MEASURED, Verdict.GONE, Verdict.NEW})
"""Verdicts that say nothing of the release: JUnit skips the case, with the reason."""
_MOST_ROWS = 12
"""Rows that decide nothing and are shown one by one; a terminal shows more of them by metric."""
_ELSEWHERE = "--format md shows the figures of every cell."
_SHOWN_TOO = "Shown too, and decides nothing"
_TOO_WIDE = (
    "the interval is too wide, and measuring more would make it narrower; or the candidate failed in a few repeats, "
    "which chance may explain"
)
_MEANINGS = (
    ("slower", "The whole interval lies beyond the tolerance, on the worse side. It is worse, whatever the metric."),
    ("faster", "The whole interval lies beyond the tolerance, on the better side."),
    ("same", f"Any difference is smaller than the tolerance, as two one-sided tests say. {words.REACHING}"),
    ("inconclusive", f"It is undecided: {_TOO_WIDE}. It shows neither a regression nor that there is none."),
    ("not comparable", "The sides do not do the same work, or were not measured in the same environment."),
    ("broke", "The candidate does not run any more, or fails more often than chance explains."),
    ("fixed", "The candidate runs, and the baseline does not, or fails more often."),
    ("new, gone", "Only the candidate, or only the baseline, can do this."),
    ("not measured", "There was no image, no device, no time or no answer: neither a regression nor health."),
)


def write_html(regression: Regression, folder: Path) -> Path:
    """Write the page into a folder and return its path, or raise `HostError`."""
    return write_pages(named_texts(_pages(regression)), folder)


def verdict_table(heads: Sequence[str], rows: Sequence[VerdictRow], caption: str = "", label: str = "") -> Table:
    """Build the table of verdicts, each in the color of its word."""
    cells: list[tuple[str | TableCell, ...]] = [
        (*row.cells[:6], TableCell(VerdictWord(row.cells[6], row.verdict.value.replace(" ", "-"))), *row.cells[7:])
        for row in rows
    ]
    columns = tuple(Column(head, number in NUMBERS) for number, head in enumerate(heads))
    return Table(columns, tuple(Row(each) for each in cells), caption, label)


def _short(regression: Regression) -> Iterator[Block]:
    title = f"{words.title(regression)}: run {clean_line(regression.run)} ({clean_line(regression.runtime)})"
    yield Heading(title, 1)
    yield from (Remark(warning, is_warning=True) for warning in regression.warnings)
    yield Paragraph(words.headline(regression))
    yield Gap()
    heads = words.heads(regression)
    yield from _folded(heads, words.rows(regression, gates=True))
    others = words.rows(regression, gates=False)
    if others:
        yield Gap()
        yield Heading(_SHOWN_TOO)
        yield from _folded(heads, others) if len(others) <= _MOST_ROWS else _counted(others)
    yield Gap()
    for line in (*words.notes(regression), words.moved(regression), words.how(regression)):
        if line:
            yield Paragraph(line, Tone.FAINT)


def _folded(heads: tuple[str, ...], rows: tuple[VerdictRow, ...]) -> Iterator[Block]:
    """Yield a table, and below it one line for each reason that several rows share."""
    single, shared = words.by_reason(rows)
    if single:
        yield _narrow_table(heads, single)
    for row, line in shared:
        yield Paragraph(line, _TONES.get(row.verdict, Tone.PLAIN))
    if shared:
        yield Paragraph(_ELSEWHERE, Tone.FAINT)


def _narrow_table(heads: tuple[str, ...], rows: tuple[VerdictRow, ...]) -> Table:
    columns = tuple(
        Column(head, no_wrap=number == 2, min_width=6 if head == heads[-1] else None)
        for number, head in enumerate(_narrow(heads))
    )
    return Table(columns, tuple(Row(_narrow(row.cells), _TONES.get(row.verdict, Tone.PLAIN)) for row in rows))


def _narrow(cells: tuple[str, ...]) -> tuple[str, ...]:
    """Join cells that belong together, because a terminal has no room for more columns."""
    cell, metric, baseline, candidate, ratio, interval, *rest = cells
    if candidate == "–":
        return cell, metric, "–", "–", *rest
    values = f"{baseline} \N{RIGHTWARDS ARROW} {candidate}"
    return cell, metric, values, ratio if interval == "–" else f"{ratio} ({interval})", *rest


def _counted(rows: tuple[VerdictRow, ...]) -> Iterator[Block]:
    """Yield a row for each metric with the number of cells of each verdict, and the ratios they have."""
    yield table(("Metric", "Cells", "Ratios"), words.by_metric(rows))
    yield Paragraph(_ELSEWHERE, Tone.FAINT)


def _full(regression: Regression) -> Iterator[Block]:
    yield Heading(words.title(regression), 1)
    yield Paragraph(words.headline(regression))
    yield from (Remark(warning, is_warning=True) for warning in regression.warnings)
    heads = words.heads(regression)
    yield verdict_table(heads, words.rows(regression, gates=True))
    others = words.rows(regression, gates=False)
    if others:
        yield Heading(_SHOWN_TOO)
        yield verdict_table(heads, others)
    yield Items(_notes(regression))
    yield Paragraph(words.how(regression))
    host = f" on {regression.host}" if regression.host else ""
    moment = f", {regression.created_at}" if regression.created_at else ""
    yield Paragraph(clean_line(f"Run {regression.run}{host}{moment}."))


def _notes(regression: Regression) -> tuple[str, ...]:
    return tuple(filter(None, (*words.notes(regression), words.moved(regression))))


def _pages(regression: Regression) -> Iterator[tuple[str, Page]]:
    title = words.title(regression)
    summary: tuple[Block, ...] = (
        *(Remark(warning, is_warning=True) for warning in regression.warnings),
        Paragraph(words.headline(regression)),
        Tally((_answer(regression),)),
    )
    how = (f"{words.how(regression)} ", Phrase("Could have missed", "em"), _MISSED)
    sections = (
        section("summary", "What was found", summary),
        section("verdicts", "Verdicts", _verdicts(regression)),
        section("reading", "How to read this", (Paragraph(how), Definitions(_MEANINGS))),
    )
    footer = f"Made by orchestrator {__version__} from the files of run {regression.run}."
    yield (
        INDEX,
        Page(f"{title} · {regression.run}", "Regression test", title, tuple(_facts(regression)), sections, footer),
    )


_MISSED = ": a change for the worse that is smaller is not found in at least one of five such tests."


def _answer(regression: Regression) -> Chip:
    if regression.regressions:
        return Chip("regression", Tone.BAD)
    if not regression.complete:
        return Chip("stopped before its end", Tone.OPEN)
    if regression.doubtful:
        return Chip(f"no regression found, but {words.doubt(regression)}", Tone.OPEN)
    return Chip("no regression found", Tone.GOOD)


def _facts(regression: Regression) -> Iterator[Fact]:
    yield Fact("Run", regression.run)
    if regression.created_at:
        yield Fact("Started", "", regression.created_at)
    yield Fact("Runtime", regression.runtime)
    if regression.host:
        yield Fact("Host", regression.host)
    ours, theirs = regression.baseline.python, regression.candidate.python
    if ours:
        yield Fact("Python", ours if ours == theirs else f"{ours} against {theirs}")


def _verdicts(regression: Regression) -> Iterator[Block]:
    heads = words.heads(regression)
    rows = words.rows(regression, gates=True)
    yield verdict_table(heads, rows, "What decides: candidate over baseline, by cell and metric")
    drawn = plot([each for row in rows if row.judged for each in _compared(row, row.judged)])
    if drawn:
        yield RatioChart(drawn, "candidate over baseline", "ratio-grid", "the table of verdicts")
    others = words.rows(regression, gates=False)
    if others:
        caption = "What does not decide: candidate over baseline, by cell and metric"
        yield Details(_SHOWN_TOO, (verdict_table(heads, others, caption),))
    yield Items(_notes(regression))


def _compared(row: VerdictRow, judged: Judged) -> Iterator[Compared]:
    if judged.blocks and judged.ratio is not None:
        of_blocks = tuple(candidate / baseline for baseline, candidate in judged.values)
        label = f"{row.pair.id} {judged.title}"
        yield Compared(label, judged.ratio, judged.low, judged.high, judged.tolerance, of_blocks)


def _value(regression: Regression) -> Envelope:
    return Envelope(REGRESSION_RECORD, (regression.model_dump_json(by_alias=True, indent=1),))


def _suites(regression: Regression) -> Suites:
    return Suites(f"regression {regression.run}", (suite(regression),))


def suite(regression: Regression) -> Suite:
    """Build a suite with a case for every metric that decides, where a regression is a failure."""
    heads = words.heads(regression)
    cases = tuple(_case(row, heads) for row in words.rows(regression, gates=True))
    return Suite(words.title(regression), cases, regression.created_at, regression.host)


def _case(row: VerdictRow, heads: tuple[str, ...]) -> Case:
    name = row.judged.metric if row.judged else "runs"
    said = "; ".join(f"{head}: {cell}" for head, cell in zip(heads[2:], row.cells[2:], strict=True) if cell != "–")
    if row.judged.is_regression if row.judged else row.pair.is_regression:
        result = CaseResult.FAILURE
    elif row.verdict in _SKIPPED:
        result = CaseResult.SKIPPED
    else:
        return Case(name, row.pair.id, out=said)
    return Case(name, row.pair.id, result=result, message=said, word=row.verdict.value, out=said)


REGRESSION_RECORD = DocumentKind("regression-record", 1, Regression)
REGRESSION: Kind[Regression] = Kind(
    short=_short, full=_full, pages=_pages, suites=_suites, value=_value, records=records, measures=measures
)
