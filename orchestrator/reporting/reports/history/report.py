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
from orchestrator.reporting.blocks import Block, Heading, Items, Links, Paragraph, SeriesChart, Table, TableCell, table
from orchestrator.reporting.charts.series import plot
from orchestrator.reporting.document import Fact, Kind, Page, Records, section
from orchestrator.reporting.formats.html import INDEX, named_texts, write_pages
from orchestrator.reporting.inline import Link, Phrase, VerdictWord
from orchestrator.reporting.reports.history import words
from orchestrator.reporting.reports.history.data import history_document
from orchestrator.reporting.reports.history.measures import newest

MOST_SHOWN = 2000
"""Runs of a series that its page lists and draws, the newest: a page of more is slow to open."""
_MOST_SLUG = 100
_OURS = re.compile(r"series-([0-9]{4}|[a-z0-9.-]+-[0-9a-f]{8})\.html")
"""Names of pages of series; those of four digits are of an older orchestrator, and led to another series each time."""
_MARKS = ('<p class="eyebrow">History</p>', "Made by orchestrator ")
"""Texts that every page of a series has at its beginning and at its end."""
_TITLE = "Series over all runs"
_NOTHING = "There is no series yet: nothing was measured."
_SHIFT_NUMBERS, _POINT_NUMBERS = (2, 3, 4, 5), (2, 3)
_COLUMNS = (
    *("series", "cell", "metric", "host", "run", "created_at", "release", "value", "repeats", "breaks_before"),
    *("change_since", "change_before", "change_after", "change_ratio", "change_p_value", "change_worse"),
    "change_acknowledged",
)
"""Columns of a record; those of a change are empty but for the first run after it."""


def page_name(series: str, metric: str, host: str) -> str:
    """Return the name of the page of a series, which does not depend on other series."""
    slug = re.sub(r"[^a-z0-9.]+", "-", f"{series} {metric}".lower()).strip("-.")[:_MOST_SLUG]
    digest = hashlib.sha256("\0".join((series, metric, host)).encode(errors="surrogatepass")).hexdigest()[:8]
    return f"series-{slug}-{digest}.html"


def write_html(every: Sequence[Series], folder: Path, there: Iterable[tuple[str, str, str]] | None = None) -> Path:
    """Write the pages into `folder` and return the path of the first.

    `there` names every series of the results by name, metric and host, shown or not. Pages of other series, written by
    an earlier call, are then removed. Without it none is removed, because the folder may hold those of other results.
    Raises `HostError` if the folder cannot be written.
    """
    index = write_pages(named_texts(_pages(every)), folder)
    if there is not None:
        _remove_gone(folder, {page_name(*one) for one in there})
    return index


def _remove_gone(folder: Path, here: Set[str]) -> None:
    """Remove pages of series that are no more, but none that this program did not make."""
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
    """Lay out every page, the index last, when the pages that it leads to are there."""
    rows = []
    for series in every:
        name = page_name(series.name, series.metric, series.host)
        rows.append(_row(series, name))
        yield name, _page(series)
    caption = ("A cell, a metric and a host each; ", Phrase("*", "code"), " follows the newest release of each run")
    heads = ("Series", "Metric", "Host", "Runs", "Course", "Latest", "Latest change")
    listed = replace(table(heads, rows, (3, 5), caption), label="Every series")
    nothing = () if rows else (Paragraph(_NOTHING),)
    listing = section("series", "Series", (*nothing, listed))
    footer = f"Made by orchestrator {__version__} from the files of the runs."
    yield INDEX, Page("History", "History", _TITLE, (), (listing,), footer)


def _row(series: Series, name: str) -> tuple[str | TableCell, ...]:
    change = words.shift_row(series, series.shifts[-1]) if series.shifts else None
    return (
        TableCell(Link(series.name, name)),
        series.metric,
        series.host or "–",
        str(len(series.points)),
        TableCell(Phrase(words.sparkline(series, 40), "hidden")),
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
    runs, left_out = len(series.points), len(series.points) - len(shown.points)
    drawn = plot(shown, partial(words.figure, series.metric))
    sections = (
        section("course", "Course", (SeriesChart(drawn, series.metric, runs, left_out),)),
        section("changes", "Changes", (_changes(series),)),
        section("nights", "Runs", (_points(series, shown), Links((Link("All series", INDEX),)))),
    )
    footer = f"Made by orchestrator {__version__} from the files of {runs} runs."
    return Page(words.label(series), "History", series.name, facts, sections, footer)


def _changes(series: Series) -> Block:
    if not series.shifts:
        return Paragraph("No lasting change was found.")
    rows: list[tuple[str | TableCell, ...]] = []
    for shift in series.shifts:
        *cells, said = words.shift_row(series, shift)
        rows.append((*cells, TableCell(VerdictWord(said, "slower" if words.is_worse(series, shift) else "faster"))))
    shown = table(words.SHIFT_HEADS, rows, _SHIFT_NUMBERS, "Lasting changes; single spikes are none")
    return replace(shown, label="Changes of this series")


def _points(series: Series, shown: Series) -> Table:
    rows = [words.point_row(series, point) for point in reversed(shown.points)]
    return replace(
        table(words.POINT_HEADS, rows, _POINT_NUMBERS, "Every run, newest first"), label="Runs of this series"
    )


def _newest(series: Series) -> Series:
    cut = max(0, len(series.points) - MOST_SHOWN)
    return replace(
        series,
        points=series.points[cut:],
        breaks=tuple(index - cut for index in series.breaks if index > cut),
        shifts=tuple(replace(shift, index=shift.index - cut) for shift in series.shifts if shift.index > cut),
    )


def _short(every: Sequence[Series]) -> Iterator[Block]:
    for series in every:
        yield Heading(words.label(series))
        latest = words.figure(series.metric, series.points[-1].value)
        course = f"{words.sparkline(series)}  {latest}; {words.summary(series)}"
        yield Items((course, *(words.change(series, shift) for shift in series.shifts)))


def _full(every: Sequence[Series]) -> Iterator[Block]:
    yield Heading(_TITLE, 1)
    if not every:
        yield Paragraph(_NOTHING)
    for series in every:
        yield Heading(words.label(series))
        yield Paragraph(f"{words.summary(series)}.")
        if series.shifts:
            changes = [words.shift_row(series, shift) for shift in series.shifts]
            yield table(words.SHIFT_HEADS, changes, _SHIFT_NUMBERS)
        points = [words.point_row(series, point) for point in reversed(series.points)]
        yield table(words.POINT_HEADS, points, _POINT_NUMBERS)


def _records(every: Sequence[Series]) -> Records:
    """Return a row for every run of every series, with the change that begins at it."""
    return Records(_COLUMNS, (row for series in every for row in _rows(series)))


def _rows(series: Series) -> Iterator[dict[str, Any]]:
    shifts = {shift.index: shift for shift in series.shifts}
    for index, point in enumerate(series.points):
        shift = shifts.get(index)
        values = (
            *(series.name, series.pair, series.metric, series.host, point.run, point.created_at, point.release),
            *(point.value, point.repeats, "true" if index in series.breaks else "false"),
        )
        change = () if shift is None else (
            *(shift.since, shift.before, shift.after, shift.ratio, shift.p_value),
            *("true" if words.is_worse(series, shift) else "false", shift.acknowledged),
        )  # fmt: skip
        yield dict(zip(_COLUMNS, (*values, *change), strict=False))


HISTORY: Kind[Sequence[Series]] = Kind(
    short=_short, full=_full, pages=_pages, value=history_document, records=_records, measures=newest
)
