"""The report of a night, and the list of all nights."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from orchestrator import __version__
from orchestrator.regression.nightly.state import Ending, Judgement, Night, Trying
from orchestrator.reporting.blocks import (
    Block,
    Heading,
    Items,
    Links,
    Paragraph,
    Remark,
    Table,
    TableCell,
    Tally,
    table,
)
from orchestrator.reporting.document import Case, CaseResult, Fact, Kind, Page, Section, Suite, Suites, section
from orchestrator.reporting.formats.html import INDEX
from orchestrator.reporting.inline import Chip, Link, Tone, moment
from orchestrator.reporting.reports.night import watch as night_watch
from orchestrator.reporting.reports.night import words
from orchestrator.reporting.reports.regression import report as regression
from orchestrator.reporting.reports.regression import words as regression_words

MARKS: Mapping[Judgement, Tone] = {
    Judgement.CLEAN: Tone.GOOD,
    Judgement.REGRESSED: Tone.BAD,
    Judgement.INCONCLUSIVE: Tone.OPEN,
}
"""The tone of a judgement; a release that was not measured is neither good nor bad."""
_ALARM_NUMBERS = (3, 4)
_CHANGE_NUMBERS = (4, 5)


def _full(night: Night) -> Iterator[Block]:
    yield Heading(words.title(night), 1)
    yield Paragraph(words.headline(night))
    yield from (Remark(problem, is_warning=True) for problem in night.problems)
    if night.alarms:
        yield Heading("Regressions")
        yield table(words.ALARM_HEADS, [words.alarm_row(alarm) for alarm in night.alarms], _ALARM_NUMBERS)
    known = words.known(night)
    if known:
        yield Heading("Known regressions")
        yield table(words.ALARM_HEADS, [words.known_row(alarm) for alarm in known], _ALARM_NUMBERS)
    for heading, records in (("Releases", [trying.record for trying in night.tried]), ("Given up", night.given_up)):
        if records:
            yield Heading(heading)
            yield table(words.RELEASE_HEADS, [words.release_row(record) for record in records])
    if night.changes:
        yield Heading("New changes in the history")
        yield table(words.CHANGE_HEADS, [words.change_row(change) for change in night.changes], _CHANGE_NUMBERS)
    for part in night_watch.sections(night):
        yield Heading(str(part.heading))
        yield from part.blocks
    for trying in night.tried:
        if trying.regression is not None:
            yield Heading(regression_words.title(trying.regression))
            rows = regression_words.rows(trying.regression, gates=True)
            yield regression.verdict_table(regression_words.HEADS, rows)
            yield Items(regression_words.notes(trying.regression))
    yield Items(tuple(f"{name}: {value}" for name, value in words.facts(night)))


def _pages(night: Night) -> Iterator[tuple[str, Page]]:
    """Lay out the page of a night, whose links lead from the folder of the night."""
    title = words.title(night)
    facts = (
        Fact("Began", "", night.began_at),
        Fact("Ended", "", night.ended_at),
        Fact("Host", night.host),
        Fact("Baseline", night.baseline),
    )
    sections = (
        section("summary", "What was found", _summary(night)),
        *_releases(night),
        *_given_up(night),
        *_changes(night),
        *night_watch.sections(night),
        *_verdicts(night),
        *_known(night),
        section("night", "The night", _around(night)),
    )
    footer = f"Made by orchestrator {__version__} from the files of night {night.night}."
    yield INDEX, Page(title, "Nightly regression test", title, facts, sections, footer)


def _answer(night: Night) -> Chip:
    if night.alarms:
        return Chip("regression", Tone.BAD)
    if night.drifts or night.is_silent:
        return Chip("drift" if night.drifts else "silent", Tone.BAD)
    return Chip(night.ending.value.replace("_", " "), Tone.GOOD if night.is_clean else Tone.OPEN)


def _summary(night: Night) -> Iterator[Block]:
    yield from (Remark(problem, is_warning=True) for problem in night.problems)
    yield Paragraph(words.headline(night))
    yield Tally((_answer(night),))
    if night.alarms:
        caption = "Regressions, reported tonight for the first time"
        yield table(words.ALARM_HEADS, [words.alarm_row(alarm) for alarm in night.alarms], _ALARM_NUMBERS, caption)


def _releases(night: Night) -> Iterator[Section]:
    blocks: list[Block] = []
    if night.tried:
        blocks.append(_tried(night))
    if night.waiting:
        blocks.append(Remark(f"Not reached tonight, and left to the next night: {', '.join(night.waiting)}."))
    if blocks:
        yield section("releases", "Releases", blocks)


def _tried(night: Night) -> Table:
    rows = []
    for trying in night.tried:
        version, published, against, judgement, reason, run = words.release_row(trying.record)
        chip = TableCell(Chip(judgement, MARKS.get(trying.record.judgement, Tone.OPEN)))
        rows.append(
            (version, published, against, chip, reason, TableCell(Link(run, trying.page) if trying.page else run))
        )
    shown = table(words.RELEASE_HEADS, rows, caption="What became of every release that was tried tonight")
    return replace(shown, label="Releases of tonight")


def _given_up(night: Night) -> Iterator[Section]:
    if night.given_up:
        caption = "Never came to a verdict, and are tried no more: neither regressions nor health"
        rows = [words.release_row(record) for record in night.given_up]
        yield section("given-up", "Given up", (table(words.RELEASE_HEADS, rows, caption=caption),))


def _changes(night: Night) -> Iterator[Section]:
    if night.changes:
        caption = "Lasting changes over many nights, reported tonight for the first time: no alarm"
        rows = [words.change_row(change) for change in night.changes]
        links = Links((Link("All series", f"../../history/{INDEX}"),))
        shown = table(words.CHANGE_HEADS, rows, _CHANGE_NUMBERS, caption)
        yield section("changes", "New changes in the history", (shown, links))


def _verdicts(night: Night) -> Iterator[Section]:
    tested = (trying.regression for trying in night.tried if trying.regression is not None)
    for number, test in enumerate(tested, 1):
        title, heads = regression_words.title(test), regression_words.HEADS
        rows = regression_words.rows(test, gates=True)
        caption = "Candidate over baseline, by cell and metric"
        shown = regression.verdict_table(heads, rows, caption, f"Verdicts of {title}")
        notes = (Remark(note) for note in regression_words.notes(test))
        yield Section(f"verdicts-{number}", title, (shown, *notes))


def _known(night: Night) -> Iterator[Section]:
    known = words.known(night)
    if known:
        caption = "Acknowledged, or reported before: shown, and no alarm"
        rows = [words.known_row(alarm) for alarm in known]
        shown = table(words.ALARM_HEADS, rows, _ALARM_NUMBERS, caption)
        yield section("known", "Known regressions", (shown,))


def _around(night: Night) -> Iterator[Block]:
    yield table(("What", "Is"), words.facts(night), caption="What else is known of it")
    yield Links((Link("All nights", f"../../{INDEX}"),))


def _suites(night: Night) -> Suites:
    """Build a suite for every release that was tried.

    What is neither a regression nor health is skipped, such as a silent index or a release that does not install.
    """
    name = f"nightly {night.watched} {night.night}"
    return Suites(name, (*(_suite(trying) for trying in night.tried), _index_suite(night)))


def _suite(trying: Trying) -> Suite:
    record = trying.record
    if trying.regression is None or not record.judgement.is_final:
        return Suite(record.version, (_skipped("measured", record.version, record.reason, record.judgement.value),))
    suite = regression.suite(trying.regression)
    reported = {(alarm.cell, alarm.metric or "runs") for alarm in trying.alarms}
    cases = tuple(
        replace(
            case, result=CaseResult.SKIPPED, message="acknowledged, or reported before", word="known", out_first=True
        )
        if case.result is CaseResult.FAILURE and (case.group, case.name) not in reported
        else case
        for case in suite.cases
    )
    return night_watch.with_drifts(replace(suite, cases=cases), trying)


def _index_suite(night: Night) -> Suite:
    """Build the suite of the package index, and of the releases that were not tried tonight."""
    index = Case("package index", night.watched)
    if night.problems:
        index = _skipped("package index", night.watched, "; ".join(night.problems), "silent")
    elif night.ending is Ending.STOPPED and not night.tried:
        index = _skipped("package index", night.watched, "the night was stopped", night.ending.value)
    tried = {trying.record.version for trying in night.tried}
    waiting = (
        _skipped("measured", version, "not reached; the next night does it", "waiting") for version in night.waiting
    )
    given_up = (
        _skipped("measured", record.version, f"given up, {record.judgement.value}: {record.reason}", "given up")
        for record in night.given_up
        if record.version not in tried
    )
    return Suite(night.watched, (index, *waiting, *given_up, *night_watch.watch_cases(night)))


def _skipped(name: str, group: str, reason: str, word: str) -> Case:
    return Case(name, group, result=CaseResult.SKIPPED, message=reason or word, word=word)


NIGHT: Kind[Night] = Kind(full=_full, pages=_pages, suites=_suites)


def _list_pages(listed: tuple[Sequence[Night], Sequence[Link]]) -> Iterator[tuple[str, Page]]:
    """Lay out the list of nights, newest first, with links to what lies next to it."""
    nights, links = listed
    title = f"Nights: {nights[-1].watched if nights else ''}"
    caption = "Every night, newest first"
    heads = ("Night", "Ended as", "Baseline", "Accepted", "What was found")
    rows = [
        (
            TableCell(Link(moment(night.began_at), f"nights/{night.night}/{INDEX}")),
            TableCell(_answer(night)),
            night.baseline,
            night.accepted or "–",
            words.headline(night),
        )
        for night in reversed(nights)
    ]
    shown = replace(table(heads, rows, caption=caption), label=caption)
    listing = section("nights", "All nights", (Items(tuple(links)), shown))
    footer = f"Made by orchestrator {__version__} from the records of {len(nights)} nights."
    yield INDEX, Page(title, "Nightly regression test", title, (), (listing,), footer)


NIGHTS: Kind[tuple[Sequence[Night], Sequence[Link]]] = Kind(pages=_list_pages)
"""The list of all nights."""
