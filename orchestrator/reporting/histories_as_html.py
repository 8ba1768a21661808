"""The history as pages: a list of all series, and a page for each; they work from disk without a network."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator import __version__
from orchestrator.errors import HostError
from orchestrator.regression.history import Series
from orchestrator.reporting import histories
from orchestrator.reporting.as_html import page_environment, page_parts
from orchestrator.reporting.pages import INDEX
from orchestrator.results.store import write_atomically

MOST_SHOWN = 2000
"""Nights of a series that its page lists and draws, the newest: a page of more is slow to open."""


def write_html(every: Sequence[Series], folder: Path) -> Path:
    """Write the pages into `folder`, and return the path of the first; raises `HostError` where that cannot be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{folder}: cannot be made: {error.strerror}; choose another place with -o") from error
    for name, page in html_pages(every):
        write_atomically(folder / name, page)
    return folder / INDEX


def html_pages(every: Sequence[Series]) -> Iterator[tuple[str, str]]:
    """Render name and text of every page; the index comes last, when all that it leads to is there."""
    environment = page_environment()
    shared = {"version": __version__, **page_parts()}
    rows = []
    for number, series in enumerate(every, 1):
        name = f"series-{number:04}.html"
        shown = _newest(series)
        rows.append((series, name))
        yield (
            name,
            environment.get_template("series.html.jinja").render(
                series=series,
                label=histories.label(series),
                summary=histories.summary(series),
                left_out=len(series.points) - len(shown.points),
                plot=histories.plot(shown),
                unit=histories.unit(series.metric),
                shift_heads=histories.SHIFT_HEADS,
                shifts=[
                    (histories.shift_row(series, shift), histories.is_worse(series, shift)) for shift in series.shifts
                ],
                point_heads=histories.POINT_HEADS,
                points=[histories.point_row(series, point) for point in reversed(shown.points)],
                **shared,
            ),
        )
    yield (
        INDEX,
        environment.get_template("history.html.jinja").render(
            rows=[
                (
                    series,
                    name,
                    histories.sparkline(series, 40),
                    histories.figure(series.metric, series.points[-1].value),
                    histories.shift_row(series, series.shifts[-1]) if series.shifts else None,
                )
                for series, name in rows
            ],
            **shared,
        ),
    )


def _newest(series: Series) -> Series:
    cut = max(0, len(series.points) - MOST_SHOWN)
    return replace(
        series,
        points=series.points[cut:],
        breaks=tuple(index - cut for index in series.breaks if index > cut),
        shifts=tuple(replace(shift, index=shift.index - cut) for shift in series.shifts if shift.index > cut),
    )
