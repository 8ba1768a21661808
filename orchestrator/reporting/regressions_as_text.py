"""A regression test for the terminal, as Markdown, as JSON, and as JUnit XML for continuous integration."""

from collections.abc import Iterator

import junitparser
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from orchestrator.analysis.verdicts import Verdict
from orchestrator.regression.model import Regression
from orchestrator.reporting import regressions
from orchestrator.reporting.as_junit import spelled_out
from orchestrator.reporting.as_markdown import escape
from orchestrator.reporting.as_markdown import table as markdown_table
from orchestrator.reporting.regressions import Row, heads
from orchestrator.reporting.text import clean_line

_STYLES = {
    Verdict.SLOWER: "red", Verdict.BROKE: "red", Verdict.FASTER: "green", Verdict.FIXED: "green",
    Verdict.INCONCLUSIVE: "yellow", Verdict.NOT_COMPARABLE: "yellow", Verdict.NOT_MEASURED: "yellow",
}  # fmt: skip
_RIGHT = frozenset({2, 3, 4, 5, 8})
_SKIPPED = frozenset({Verdict.INCONCLUSIVE, Verdict.NOT_COMPARABLE, Verdict.NOT_MEASURED, Verdict.GONE, Verdict.NEW})
"""No verdict on the release: for JUnit a case that was skipped, with its reason."""
_MOST_ROWS = 12
"""Of what decides nothing; a terminal shows more of it by metric."""
_ELSEWHERE = "--format md shows the figures of every cell."
SHOWN_TOO = "Shown too, and decides nothing"


def table(found: Regression) -> RenderableType:
    """Render for a Rich console."""
    return Group(*_parts(found))


def table_text(found: Regression, width: int = 120) -> str:
    """The table as plain text."""
    console = Console(width=width, color_system=None, highlight=False)
    with console.capture() as captured:
        console.print(table(found))
    return captured.get()


def _parts(found: Regression) -> Iterator[RenderableType]:
    yield Text(f"{regressions.title(found)}: run {clean_line(found.run)} ({clean_line(found.runtime)})", style="bold")
    for warning in found.warnings:
        yield Text(clean_line(f"warning: {warning}"), style="yellow")
    yield Text(regressions.headline(found))
    yield Text()
    yield from _folded(heads(found), regressions.rows(found, gates=True))
    others = regressions.rows(found, gates=False)
    if others:
        yield Text()
        yield Text(SHOWN_TOO, style="bold")
        yield from _folded(heads(found), others) if len(others) <= _MOST_ROWS else [_counted(others)]
    yield Text()
    for line in (*regressions.notes(found), regressions.moved(found), regressions.how(found)):
        if line:
            yield Text(line, style="dim")


def _folded(named: tuple[str, ...], rows: tuple[Row, ...]) -> Iterator[RenderableType]:
    """Give a table, and below it one line for each reason that several rows share."""
    single, shared = regressions.by_reason(rows)
    if single:
        yield _table(named, single)
    for row, line in shared:
        yield Text(line, style=_STYLES.get(row.verdict, ""))
    if shared:
        yield Text(_ELSEWHERE, style="dim")


def _table(named: tuple[str, ...], rows: tuple[Row, ...]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1), header_style="bold")
    for number, head in enumerate(_narrow(named)):
        made.add_column(head, overflow="fold", no_wrap=number == 2, min_width=6 if head == named[-1] else None)
    for row in rows:
        made.add_row(*(Text(cell) for cell in _narrow(row.cells)), style=_STYLES.get(row.verdict, ""))
    return made


def _counted(rows: tuple[Row, ...]) -> RenderableType:
    """Give a row for each metric: how many cells have which verdict, and the ratios they have."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1), header_style="bold")
    for head in ("Metric", "Cells", "Ratios"):
        made.add_column(head, overflow="fold")
    for title, verdicts, ratios in regressions.by_metric(rows):
        made.add_row(*(Text(clean_line(text)) for text in (title, verdicts, ratios)))
    return Group(made, Text(_ELSEWHERE, style="dim"))


def _narrow(cells: tuple[str, ...]) -> tuple[str, ...]:
    """What belongs together in one column: a terminal has no room for more."""
    cell, metric, baseline, candidate, ratio, interval, *rest = cells
    if candidate == "–":
        return cell, metric, "–", "–", *rest
    values = f"{baseline} \N{RIGHTWARDS ARROW} {candidate}"
    return cell, metric, values, ratio if interval == "–" else f"{ratio} ({interval})", *rest


def markdown(found: Regression) -> str:
    """Render as Markdown with tables (GitHub's dialect)."""
    return "\n".join(_markdown(found)).rstrip() + "\n"


def _markdown(found: Regression) -> Iterator[str]:
    yield f"# {escape(regressions.title(found))}\n"
    yield f"{escape(regressions.headline(found))}\n"
    for warning in found.warnings:
        yield f"> **Warning:** {escape(warning)}\n"
    yield markdown_table(heads(found), [row.cells for row in regressions.rows(found, gates=True)], _RIGHT) + "\n"
    others = regressions.rows(found, gates=False)
    if others:
        yield f"## {SHOWN_TOO}\n"
        yield markdown_table(heads(found), [row.cells for row in others], _RIGHT) + "\n"
    yield from (f"- {escape(note)}" for note in (*regressions.notes(found), regressions.moved(found)) if note)
    yield f"\n{escape(regressions.how(found))}\n"
    yield f"Run {escape(found.run)} on {escape(found.host)}, {escape(found.created_at)}.\n"


def json_text(found: Regression) -> str:
    """What `regression.json` holds."""
    return found.model_dump_json(by_alias=True, indent=1) + "\n"


def junit_text(found: Regression) -> str:
    """A suite for the test, and a case for every metric that decides; a regression is a failure."""
    suites = junitparser.JUnitXml(spelled_out(f"regression {found.run}"))
    suites.add_testsuite(junit_suite(found))
    suites.update_statistics()  # type: ignore[no-untyped-call]  # the library has no annotations here
    made: bytes = suites.tostring()  # type: ignore[no-untyped-call]
    return made.decode() + "\n"


def junit_suite(found: Regression) -> junitparser.TestSuite:
    """The suite alone, for a report of several tests."""
    suite = junitparser.TestSuite(spelled_out(regressions.title(found)))
    suite.timestamp = spelled_out(found.created_at)
    suite.hostname = spelled_out(found.host)
    suite.add_testcases([_case(row, heads(found)) for row in regressions.rows(found, gates=True)])
    return suite


def _case(row: Row, named: tuple[str, ...]) -> junitparser.TestCase:
    name = row.judged.metric if row.judged else "runs"
    case = junitparser.TestCase(name, spelled_out(row.pair.id))
    said = "; ".join(f"{head}: {cell}" for head, cell in zip(named[2:], row.cells[2:], strict=True) if cell != "–")
    if row.judged.is_regression if row.judged else row.pair.is_regression:
        case.result = [junitparser.Failure(spelled_out(said), row.verdict.value)]
    elif row.verdict in _SKIPPED:
        case.result = [junitparser.Skipped(spelled_out(said), row.verdict.value)]
    case.system_out = spelled_out(said)
    return case
