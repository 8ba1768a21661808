"""The page of a regression test: verdicts, intervals beside the tolerance, and what could have been missed."""

from collections.abc import Iterator
from pathlib import Path

from orchestrator import __version__
from orchestrator.errors import HostError
from orchestrator.regression.model import Judged, Regression
from orchestrator.reporting import regressions
from orchestrator.reporting.as_html import page_environment, page_parts
from orchestrator.reporting.lanes import Compared, plot
from orchestrator.reporting.pages import INDEX
from orchestrator.reporting.regressions import Row
from orchestrator.reporting.regressions_as_text import SHOWN_TOO
from orchestrator.results.store import write_atomically

_TOO_WIDE = (
    "the interval is too wide, and measuring more would make it narrower; or the candidate failed in a few repeats, "
    "which chance may explain"
)
_MEANINGS = (
    ("slower", "The whole interval lies beyond the tolerance, on the worse side. It is worse, whatever the metric."),
    ("faster", "The whole interval lies beyond the tolerance, on the better side."),
    ("same", f"Any difference is smaller than the tolerance, as two one-sided tests say. {regressions.REACHING}"),
    ("inconclusive", f"It cannot be told: {_TOO_WIDE}. It shows neither a regression nor that there is none."),
    ("not comparable", "The sides do not do the same work, or were not measured in the same environment."),
    ("broke", "The candidate does not run any more, or fails more often than chance explains."),
    ("fixed", "The candidate runs, and the baseline does not, or fails more often."),
    ("new, gone", "Only the candidate, or only the baseline, can do this."),
    ("not measured", "There was no image, no device, no time or no answer: neither a regression nor health."),
)


def write_html(found: Regression, folder: Path) -> Path:
    """Write the page into `folder`, and return its path; raises `HostError` where that cannot be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{folder}: cannot be made: {error.strerror}; choose another place with -o") from error
    write_atomically(folder / INDEX, html_text(found))
    return folder / INDEX


def html_text(found: Regression) -> str:
    """Render the page; it works from disk without a network."""
    environment = page_environment()
    environment.filters |= {"ratio": regressions.ratio}
    rows = regressions.rows(found, gates=True)
    return environment.get_template("regression.html.jinja").render(
        found=found,
        title=regressions.title(found),
        headline=regressions.headline(found),
        doubt=regressions.doubt(found) if found.doubtful else "",
        heads=regressions.heads(found),
        rows=rows,
        others=regressions.rows(found, gates=False),
        shown_too=SHOWN_TOO,
        notes=[line for line in (*regressions.notes(found), regressions.moved(found)) if line],
        how=regressions.how(found),
        plot=plot([each for row in rows if row.judged for each in _compared(row, row.judged)]),
        meanings=_MEANINGS,
        version=__version__,
        **page_parts(),
    )


def _compared(row: Row, judged: Judged) -> Iterator[Compared]:
    if judged.blocks and judged.ratio is not None:
        of_blocks = tuple(candidate / baseline for baseline, candidate in judged.values)
        label = f"{row.pair.id} {judged.title}"
        yield Compared(label, judged.ratio, judged.low, judged.high, judged.tolerance, of_blocks)
