"""The report of the history, a list of all series and a page for each."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from orchestrator import __version__
from orchestrator.regression.history.series import Series
from orchestrator.reporting.blocks import (
    Block,
    Fact,
    Kind,
    Link,
    Links,
    Page,
    Paragraph,
    Phrase,
    Section,
    SeriesChart,
    Table,
    TableCell,
    table,
)
from orchestrator.reporting.charts.series import plot
from orchestrator.reporting.formats.html import INDEX, named_texts, write_pages
from orchestrator.reporting.reports import history_words as words

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
    index = write_pages(named_texts(_pages(every)), folder)
    if there is not None:
        _remove_gone(folder, {page_name(*one) for one in there})
    return index


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


def _pages(every: Sequence[Series]) -> Iterator[tuple[str, Page]]:
    """Lay out every page; the index comes last, when all that it leads to is there."""
    rows = []
    for series in every:
        name = page_name(series.name, series.metric, series.host)
        rows.append(_row(series, name))
        yield name, _page(series)
    caption = ("A cell, a metric and a host each; ", Phrase("*", "code"), " follows the newest release of each run")
    heads = ("Series", "Metric", "Host", "Nights", "Course", "Latest", "Latest change")
    listed = replace(table(heads, rows, (3, 5), caption), label="Every series")
    nothing = () if rows else (Paragraph("There is no series yet: nothing was measured."),)
    section = Section("series", "Series", (*nothing, listed))
    footer = f"Made by orchestrator {__version__} from the files of the runs."
    yield INDEX, Page("History", "History", "Series over all nights", (), ((section,),), footer)


def _row(series: Series, name: str) -> tuple[str | TableCell, ...]:
    change = words.shift_row(series, series.shifts[-1]) if series.shifts else None
    return (
        TableCell(series.name, address=name),
        series.metric,
        series.host or "–",
        str(len(series.points)),
        TableCell(words.sparkline(series, 40), "hidden"),
        words.figure(series.metric, series.points[-1].value),
        f"{change[0]}, {change[1]}: × {change[4]}" if change else "–",
    )


def _page(series: Series) -> Page:
    shown = _newest(series)
    unit = words.unit(series.metric)
    facts = (
        Fact("Metric", f"{series.metric} ({unit})" if unit else series.metric),
        Fact("Host", series.host or "–"),
        Fact("Length", words.summary(series)),
    )
    nights, left_out = len(series.points), len(series.points) - len(shown.points)
    drawn = plot(shown, partial(words.figure, series.metric))
    parts = (
        (Section("course", "Course", (SeriesChart(drawn, series.metric, nights, left_out),)),),
        (Section("changes", "Changes", (_changes(series),)),),
        (Section("nights", "Nights", (_nights(series, shown), Links((Link("All series", INDEX),)))),),
    )
    footer = f"Made by orchestrator {__version__} from the files of {nights} runs."
    return Page(words.label(series), "History", series.name, facts, parts, footer)


def _changes(series: Series) -> Block:
    if not series.shifts:
        return Paragraph("No lasting change was found.")
    rows: list[tuple[str | TableCell, ...]] = []
    for shift in series.shifts:
        *cells, said = words.shift_row(series, shift)
        rows.append((*cells, TableCell(said, "verdict", "slower" if words.is_worse(series, shift) else "faster")))
    shown = table(words.SHIFT_HEADS, rows, (2, 3, 4, 5), "Lasting changes; single spikes are none")
    return replace(shown, label="Changes of this series")


def _nights(series: Series, shown: Series) -> Table:
    rows = [words.point_row(series, point) for point in reversed(shown.points)]
    return replace(table(words.POINT_HEADS, rows, (2, 3), "Every night, newest first"), label="Nights of this series")


def _newest(series: Series) -> Series:
    cut = max(0, len(series.points) - MOST_SHOWN)
    return replace(
        series,
        points=series.points[cut:],
        breaks=tuple(index - cut for index in series.breaks if index > cut),
        shifts=tuple(replace(shift, index=shift.index - cut) for shift in series.shifts if shift.index > cut),
    )


def _value(every: Sequence[Series]) -> list[dict[str, Any]]:
    return [words.entry(series) for series in every]


HISTORY: Kind[Sequence[Series]] = Kind(pages=_pages, value=_value)
