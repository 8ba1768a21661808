"""The report on a watch itself: its heartbeat, the noise of its rig, and what its alarms were worth."""

from collections.abc import Iterator

from orchestrator import __version__
from orchestrator.regression.history.series import Point, Series, Shift
from orchestrator.regression.nightly.watch.quiet import SelfNight, noise_changes
from orchestrator.regression.nightly.watch.whole import Watch
from orchestrator.reporting.blocks import Block, Heading, Items, Paragraph, Remark, SeriesChart, table
from orchestrator.reporting.charts.series import plot
from orchestrator.reporting.document import Fact, Kind, Page, Section, section
from orchestrator.reporting.formats.html import INDEX
from orchestrator.reporting.inline import moment, short_percent
from orchestrator.reporting.reports.watch import words
from orchestrator.reporting.reports.watch.data import watch_document

MOST_SHOWN = 400
"""Nights that the page lists and draws, the newest."""
_LEAST_DRAWN = 2


def _short(watch: Watch) -> Iterator[Block]:
    yield Heading(words.title(watch))
    yield Items(tuple(words.sentences(watch)), is_quiet=False)
    if watch.quiet.nights:
        yield table(words.RATE_HEADS, words.rate_rows(watch), (1, 2))
    if watch.alarms:
        yield table(words.PRECISION_HEADS, map(words.precision_row, watch.precision), (1, 2, 3, 4, 5))
    if rows := words.doubted_rows(watch):
        yield table(words.DOUBTED_HEADS, rows)
        yield Paragraph(f"{words.DOUBT_NOTE} {words.further(watch)}")


def _full(watch: Watch) -> Iterator[Block]:
    yield Heading(words.title(watch), 1)
    for sentence in words.sentences(watch):
        yield Paragraph(sentence)
    for part in _sections(watch):
        yield Heading(str(part.heading))
        yield from (block for block in part.blocks if not isinstance(block, SeriesChart))


def _pages(watch: Watch) -> Iterator[tuple[str, Page]]:
    title = words.title(watch)
    beat = watch.heartbeat
    facts = (Fact("As of", "", watch.at), Fact("Nights", str(watch.nights))) + (
        (Fact("Last result", "", beat.last_success),) if beat.last_success else ()
    )
    summary = section("summary", "What is to be known", _summary(watch))
    footer = f"Made by orchestrator {__version__} from the records of {watch.nights} nights, {moment(watch.at)}."
    yield INDEX, Page(title, "Nightly regression test", title, facts, (summary, *_sections(watch)), footer)


def _summary(watch: Watch) -> Iterator[Block]:
    warned = watch.heartbeat.is_silent, watch.quiet.noise is not None
    for number, sentence in enumerate(words.sentences(watch)):
        yield Remark(sentence, is_warning=number < len(warned) and warned[number])


def _sections(watch: Watch) -> Iterator[Section]:
    if watch.quiet.nights:
        newest = watch.quiet.nights[-1]
        shown = reversed(watch.quiet.nights[-MOST_SHOWN:])
        yield section("false-alarms", "False alarms", (table(words.RATE_HEADS, words.rate_rows(watch), (1, 2)),))
        yield section("noise", "Noise of the rig", _noise(watch))
        yield section(
            "floor",
            f"What the night of {newest.date} could find",
            (table(words.CELL_HEADS, words.cell_rows(newest), (2, 3, 4)), Paragraph(words.FLOOR_NOTE)),
        )
        rows = [words.night_row(each) for each in shown]
        caption = "Nights of the baseline against itself, newest first"
        yield section(
            "self-tests", "Baseline against itself", (table(words.NIGHT_HEADS, rows, (3, 5, 6, 7, 8), caption),)
        )
    if watch.alarms:
        months = map(words.precision_row, watch.precision)
        alarms = [words.alarm_row(each) for each in reversed(watch.alarms)]
        yield section("precision", "What alarms were worth", (table(words.PRECISION_HEADS, months, (1, 2, 3, 4, 5)),))
        yield section("alarms", "Alarms", (table(words.ALARM_HEADS, alarms, caption="Every alarm, newest first"),))
    if rows := words.doubted_rows(watch):
        note = Paragraph(f"{words.DOUBT_NOTE} {words.further(watch)}")
        yield section("doubted", "Series in doubt", (table(words.DOUBTED_HEADS, rows), note))


def _noise(watch: Watch) -> Iterator[Block]:
    course = watch.quiet.course
    if len(course) < _LEAST_DRAWN:
        yield Paragraph("One night says nothing of its course.")
        return
    changes = noise_changes(course)
    if not changes:
        yield Paragraph("The scatter has not changed.")
    for index, before, after in changes:
        way = "noisier" if after > before else "quieter"
        yield Paragraph(f"{course[index].date}: {way}, {short_percent(before)} → {short_percent(after)}.")
    series = _series(course)
    yield SeriesChart(plot(series, short_percent), "scatter of a block's ratio", len(series.points), 0)


def _series(course: tuple[SelfNight, ...]) -> Series:
    """Return the scatter over the newest nights, as a series of the history is drawn."""
    shown = course[-MOST_SHOWN:]
    cut = len(course) - len(shown)
    points = tuple(
        Point(each.night, each.date, each.release, (each.release,), each.deviation, len(each.cells), {})
        for each in shown
    )
    shifts = tuple(
        Shift(index - cut, before, after, 0.0, points[index - cut], points[index - cut - 1].release)
        for index, before, after in noise_changes(course)
        if index > cut
    )
    return Series("baseline against itself", "", "scatter", shown[-1].host, points, (), shifts)


WATCH: Kind[Watch] = Kind(short=_short, full=_full, pages=_pages, value=watch_document)
