"""The history as pages: a list of all series, and a page for each; they work from disk without a network."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from pathlib import Path

from orchestrator import __version__
from orchestrator.errors import HostError
from orchestrator.regression.history.series import Series
from orchestrator.reporting import histories
from orchestrator.reporting.as_html import page_environment, page_parts
from orchestrator.reporting.pages import INDEX
from orchestrator.results.store import write_atomically

MOST_SHOWN = 2000
"""Nights of a series that its page lists and draws, the newest: a page of more is slow to open."""
_MOST_SLUG = 100
_OURS = re.compile(r"series-([0-9]{4}|[a-z0-9.-]+-[0-9a-f]{8})\.html")
"""Names of pages of series; those of four digits are of an older orchestrator, and led to another series each time."""
_MARKS = ('<p class="eyebrow">History</p>', "Made by orchestrator ")
"""What every page of a series says at its beginning and at its end."""


def page_name(series: str, metric: str, host: str) -> str:
    """The page of a series: always the same, whatever other series there are."""
    slug = re.sub(r"[^a-z0-9.]+", "-", f"{series} {metric}".lower()).strip("-.")[:_MOST_SLUG]
    digest = hashlib.sha256("\0".join((series, metric, host)).encode(errors="surrogatepass")).hexdigest()[:8]
    return f"series-{slug}-{digest}.html"


def write_html(every: Sequence[Series], folder: Path, there: Iterable[tuple[str, str, str]] | None = None) -> Path:
    """Write the pages into `folder`, and return the path of the first; raises `HostError` where that cannot be done.

    `there` names every series that there is, shown or not, by name, metric and host: pages that an earlier call has
    made of others are removed. Without it none is: the folder may hold those of other results.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{folder}: cannot be made: {error.strerror}; choose another place with -o") from error
    for name, page in html_pages(every):
        write_atomically(folder / name, page)
    if there is not None:
        _remove_gone(folder, {page_name(*one) for one in there})
    return folder / INDEX


def _remove_gone(folder: Path, here: Set[str]) -> None:
    """Remove pages of series that are no more; what does not say that we have made it stays, whatever its name."""
    for path in sorted(folder.iterdir()):
        if path.name in here or not _OURS.fullmatch(path.name) or path.is_symlink() or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
            if all(mark in text for mark in _MARKS):
                path.unlink()
        except (OSError, UnicodeDecodeError):
            continue


def html_pages(every: Sequence[Series]) -> Iterator[tuple[str, str]]:
    """Render name and text of every page; the index comes last, when all that it leads to is there."""
    environment = page_environment()
    shared = {"version": __version__, **page_parts()}
    rows = []
    for series in every:
        name = page_name(series.name, series.metric, series.host)
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
