"""The page of a regression test: verdicts, intervals beside the tolerance, and what could have been missed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import __version__
from orchestrator.errors import HostError
from orchestrator.regression.model import Judged, Regression
from orchestrator.reporting import regressions
from orchestrator.reporting.as_html import page_environment, page_parts
from orchestrator.reporting.pages import INDEX
from orchestrator.reporting.regressions import Row
from orchestrator.reporting.regressions_as_text import SHOWN_TOO
from orchestrator.reporting.scales import Scale, between
from orchestrator.results.store import write_atomically

MOST_LANES = 60
_MEANINGS = (
    ("slower", "The whole interval lies beyond the tolerance, on the worse side. It is worse, whatever the metric."),
    ("faster", "The whole interval lies beyond the tolerance, on the better side."),
    ("same", "Any difference is smaller than the tolerance."),
    ("inconclusive", "The blocks do not tell: the interval is too wide, and more blocks would make it narrower."),
    ("not comparable", "The sides do not do the same work, or were not measured in the same environment."),
    ("broke", "The baseline runs, and the candidate does not any more."),
    ("fixed", "The candidate runs, and the baseline does not."),
    ("new, gone", "Only the candidate, or only the baseline, can do this."),
    ("not measured", "There was no image, no device or no time: neither a regression nor health."),
)


@dataclass(frozen=True, slots=True)
class Lane:
    """One metric of one pair, along the axis in percent."""

    row: Row
    label: str
    value: str
    dots: tuple[tuple[float, float], ...]
    """The ratio of each block, and where across the lane it is drawn, in pixels."""
    middle: float
    interval: tuple[float, float] | None
    tolerance: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Plot:
    """Ratios with their intervals, beside the tolerance."""

    scale: Scale
    lanes: tuple[Lane, ...]
    one: float
    """Where the ratio of 1 lies."""
    left_out: int


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
        heads=regressions.HEADS,
        rows=rows,
        others=regressions.rows(found, gates=False),
        shown_too=SHOWN_TOO,
        notes=[line for line in (*regressions.notes(found), regressions.moved(found)) if line],
        how=regressions.how(found),
        plot=plot([(row, row.judged) for row in rows if row.judged and row.judged.blocks]),
        meanings=_MEANINGS,
        version=__version__,
        **page_parts(),
    )


def plot(rows: Sequence[tuple[Row, Judged]]) -> Plot | None:
    """Lay the intervals out on one axis; None where there is none."""
    shown = [(row, judged) for row, judged in rows if judged.ratio is not None][:MOST_LANES]
    if not shown:
        return None
    ends = [end for _, judged in shown for end in _ends(judged)]
    scale = between(ends, lambda found: f"{found:.3g}")
    lanes = tuple(_lane(row, judged, scale) for row, judged in shown)
    return Plot(scale, lanes, scale.at(1.0), len(rows) - len(shown))


def _ends(judged: Judged) -> tuple[float, ...]:
    ratio = judged.ratio or 1.0
    wide = (judged.low or ratio, judged.high or ratio)
    # Few blocks that scatter make an interval without end: it runs out of the chart and does not squeeze the rest.
    return (1 / (1 + judged.tolerance), 1 + judged.tolerance, ratio, *(end for end in wide if 0.5 < end / ratio < 2))


def _lane(row: Row, judged: Judged, scale: Scale) -> Lane:
    ratios = [candidate / baseline for baseline, candidate in judged.values]
    low, high = judged.low, judged.high
    return Lane(
        row=row,
        label=f"{row.pair.id} {judged.title}",
        value=regressions.ratio(judged.ratio or 1.0),
        dots=tuple((scale.at(ratio), 4.0 + 9.0 * (number * 0.618 % 1)) for number, ratio in enumerate(ratios)),
        middle=scale.at(judged.ratio or 1.0),
        interval=None if low is None or high is None else _span(scale, low, high),
        tolerance=_span(scale, 1 / (1 + judged.tolerance), 1 + judged.tolerance),
    )


def _span(scale: Scale, low: float, high: float) -> tuple[float, float]:
    start, end = scale.at(low), scale.at(high)
    return start, round(end - start, 1)
