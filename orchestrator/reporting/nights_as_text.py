"""A night as Markdown and JUnit; its JSON is `night.json`."""

from collections.abc import Iterator

import junitparser

from orchestrator.regression.nightly.state import Ending, Night, Trying
from orchestrator.reporting import nights, regressions
from orchestrator.reporting.as_junit import spelled_out
from orchestrator.reporting.as_markdown import escape
from orchestrator.reporting.as_markdown import table as markdown_table
from orchestrator.reporting.regressions_as_text import junit_suite

_NUMBERS = frozenset({3, 4})


def markdown(night: Night) -> str:
    """Render as Markdown with tables (GitHub's dialect)."""
    return "\n".join(_markdown(night)).rstrip() + "\n"


def _markdown(night: Night) -> Iterator[str]:
    yield f"# {escape(nights.title(night))}\n"
    yield f"{escape(nights.headline(night))}\n"
    for problem in night.problems:
        yield f"> **Warning:** {escape(problem)}\n"
    if night.alarms:
        yield "## Regressions\n"
        yield markdown_table(nights.ALARM_HEADS, [nights.alarm_row(alarm) for alarm in night.alarms], _NUMBERS) + "\n"
    if nights.known(night):
        yield "## Known regressions\n"
        rows = [nights.known_row(alarm) for alarm in nights.known(night)]
        yield markdown_table(nights.ALARM_HEADS, rows, _NUMBERS) + "\n"
    if night.tried:
        yield "## Releases\n"
        rows = [nights.release_row(trying.record) for trying in night.tried]
        yield markdown_table(nights.RELEASE_HEADS, rows, frozenset()) + "\n"
    if night.given_up:
        yield "## Given up\n"
        rows = [nights.release_row(record) for record in night.given_up]
        yield markdown_table(nights.RELEASE_HEADS, rows, frozenset()) + "\n"
    if night.changes:
        yield "## New changes in the history\n"
        rows = [nights.change_row(change) for change in night.changes]
        yield markdown_table(nights.CHANGE_HEADS, rows, frozenset({4, 5})) + "\n"
    for trying in night.tried:
        if trying.regression is not None:
            yield f"## {escape(regressions.title(trying.regression))}\n"
            found = [row.cells for row in regressions.rows(trying.regression, gates=True)]
            yield markdown_table(regressions.HEADS, found, frozenset({2, 3, 4, 5, 8})) + "\n"
            yield from (f"- {escape(note)}" for note in regressions.notes(trying.regression))
            yield ""
    yield from (f"- {name}: {escape(value)}" for name, value in nights.facts(night))


def junit_text(night: Night) -> str:
    """A suite for every release that was tried; only a regression that is told tonight is a failure.

    What is neither a regression nor health (an index that is silent, a release that does not install, was given up or
    not reached) is skipped.
    """
    suites = junitparser.JUnitXml(spelled_out(f"nightly {night.watched} {night.night}"))
    for trying in night.tried:
        suites.add_testsuite(_suite(trying))
    suites.add_testsuite(_around(night))
    suites.update_statistics()  # type: ignore[no-untyped-call]  # the library has no annotations here
    made: bytes = suites.tostring()  # type: ignore[no-untyped-call]
    return made.decode() + "\n"


def _suite(trying: Trying) -> junitparser.TestSuite:
    record = trying.record
    if trying.regression is not None and record.judgement.is_final:
        suite = junit_suite(trying.regression)
        told = {(alarm.cell, alarm.metric or "runs") for alarm in trying.alarms}
        for case in suite:
            failed = any(isinstance(one, junitparser.Failure) for one in case.result)
            if failed and (case.classname, case.name) not in told:
                case.result = [junitparser.Skipped("acknowledged, or told before", "known")]
        return suite
    suite = junitparser.TestSuite(spelled_out(record.version))
    suite.add_testcase(_skipped("measured", record.version, record.reason, record.judgement.value))
    return suite


def _around(night: Night) -> junitparser.TestSuite:
    """Whether the index answered, and the releases that nothing was tried of tonight."""
    suite = junitparser.TestSuite(spelled_out(night.watched))
    index = junitparser.TestCase("package index", spelled_out(night.watched))
    if night.problems:
        index = _skipped("package index", night.watched, "; ".join(night.problems), "silent")
    elif night.ending is Ending.STOPPED and not night.tried:
        index = _skipped("package index", night.watched, "the night was stopped", night.ending.value)
    suite.add_testcase(index)
    for version in night.waiting:
        suite.add_testcase(_skipped("measured", version, "not reached; the next night does it", "waiting"))
    tried = {trying.record.version for trying in night.tried}
    for record in night.given_up:
        if record.version not in tried:
            reason = f"given up, {record.judgement.value}: {record.reason}"
            suite.add_testcase(_skipped("measured", record.version, reason, "given up"))
    return suite


def _skipped(name: str, group: str, reason: str, kind: str) -> junitparser.TestCase:
    case = junitparser.TestCase(name, spelled_out(group))
    case.result = [junitparser.Skipped(spelled_out(reason or kind), kind)]
    return case
