"""A search for the terminal and as Markdown; its JSON is `bisect.json`."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from orchestrator.analysis import Verdict
from orchestrator.regression.search.candidates import reasons
from orchestrator.regression.search.record import Bisection
from orchestrator.reporting import bisections
from orchestrator.reporting.as_markdown import escape, fence
from orchestrator.reporting.as_markdown import table as markdown_table
from orchestrator.reporting.bisection_tables import HEADS, NUMBERS, UNTESTABLE, Row, move_rows, release_rows
from orchestrator.reporting.text import clean_line

_STYLES = {
    Verdict.SLOWER.value: "red", Verdict.FASTER.value: "green", Verdict.INCONCLUSIVE.value: "yellow",
    UNTESTABLE: "yellow",
}  # fmt: skip


def table(record: Bisection) -> RenderableType:
    """Render for a Rich console: what was found, and what it was found by."""
    lines = [Text(line, style="bold" if not number else "") for number, line in enumerate(bisections.headlines(record))]
    parts: list[RenderableType] = [Text(bisections.title(record), style="dim"), *lines]
    for name, rows in _tables(record):
        parts += [Text(), _rich(name, rows)]
    left = [Text(clean_line(line), style="dim") for line in reasons(record.left_out)]
    return Group(*parts, *([Text(), *left] if left else []))


def _tables(record: Bisection) -> Iterator[tuple[str, tuple[Row, ...]]]:
    """The rows of each phase under the head of its first column."""
    if record.found is None:
        return
    yield "Release", release_rows(record, record.found)
    for origin in record.found.origins:
        rows = move_rows(record, origin)
        if rows:
            yield clean_line(f"Moved with {record.searched} {origin.after}"), rows


def _rich(name: str, rows: Sequence[Row]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1), header_style="bold")
    # The page has the p values and the runs, for which a terminal has no room.
    for head in (name, *HEADS[:5], HEADS[6]):
        made.add_column(head, overflow="fold")
    for row in rows:
        cells = (row.name, *row.cells[:5], row.cells[6])
        made.add_row(*(Text(cell) for cell in cells), style=_STYLES.get(row.found, ""))
    return made


def markdown(record: Bisection) -> str:
    """Render as Markdown with tables (GitHub's dialect)."""
    return "\n".join(_markdown(record)).rstrip() + "\n"


def _markdown(record: Bisection) -> Iterator[str]:
    yield f"# {escape(bisections.title(record))}\n"
    first, *others = bisections.headlines(record)
    yield f"**{escape(first)}**\n"
    if others:
        yield "\n".join(f"- {escape(line)}" for line in others) + "\n"
    for name, rows in _tables(record):
        yield f"## {'Releases' if name == 'Release' else escape(name)}\n"
        head = "Release" if name == "Release" else "Move"
        yield markdown_table((head, *HEADS), [(row.name, *row.cells) for row in rows], NUMBERS) + "\n"
    yield "\n".join(f"- {escape(line)}" for line in reasons(record.left_out)) + "\n" if record.left_out else ""
    yield "## How sure this is\n"
    yield "\n".join(f"- {escape(line)}" for line in bisections.how(record)) + "\n"
    yield f"Search {escape(record.name)} on {escape(record.host)}, {escape(record.created_at)}. Asked anew by:\n"
    yield fence(bisections.command(record))
