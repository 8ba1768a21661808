"""The page of a search: the answer, every comparison beside the tolerance, what moved, and how sure it is."""

from pathlib import Path

from orchestrator import __version__
from orchestrator.regression.metrics import BY_NAME
from orchestrator.regression.search.candidates import reasons
from orchestrator.regression.search.record import RECORD_FILE, Bisection
from orchestrator.reporting import bisections
from orchestrator.reporting.as_html import page_environment, page_parts
from orchestrator.reporting.bisection_tables import HEADS, NUMBERS, move_rows, release_rows
from orchestrator.reporting.bisections_as_text import markdown
from orchestrator.reporting.lanes import plot
from orchestrator.reporting.pages import INDEX
from orchestrator.reporting.regressions import percent
from orchestrator.results.store import write_atomically

MARKDOWN_FILE = "report.md"


def write_report(record: Bisection, folder: Path) -> Path:
    """Write the page, and the same as Markdown, into the search's folder; returns the path of the page.

    Raises `HostError` where that cannot be done.
    """
    write_atomically(folder / MARKDOWN_FILE, markdown(record))
    write_atomically(folder / INDEX, html_text(record))
    return folder / INDEX


def html_text(record: Bisection) -> str:
    """Render the page; it works from disk without a network, and links to the runs beside it."""
    found = record.found
    first, *others = bisections.headlines(record)
    word, mark = bisections.state(record)
    gate = record.asked.metric
    rows = release_rows(record, found) if found else ()
    origins = [(origin, move_rows(record, origin)) for origin in found.origins] if found else []
    return (
        page_environment()
        .get_template("search.html.jinja")
        .render(
            record=record,
            title=bisections.title(record),
            headline=first,
            others=others,
            word=word,
            mark=mark,
            metric=f"{BY_NAME[gate.metric].title}, {BY_NAME[gate.metric].better.value} is better",
            tolerance=percent(gate.tolerance),
            heads=HEADS,
            numbers=NUMBERS,
            rows=rows,
            plot=plot([row.compared for row in rows if row.compared]),
            confidences=bisections.confidences(found.steps) if found else "",
            origins=[
                (
                    origin,
                    bisections.moved(origin).strip(",; "),
                    moves,
                    plot([row.compared for row in moves if row.compared]),
                )
                for origin, moves in origins
            ],
            left_out=list(reasons(record.left_out)),
            how=bisections.how(record),
            command=bisections.command(record),
            files=(RECORD_FILE, MARKDOWN_FILE),
            version=__version__,
            **page_parts(),
        )
    )
