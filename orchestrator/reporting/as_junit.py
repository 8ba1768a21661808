"""JUnit XML, for continuous integration: a test case for every planned repeat, and one for every skip."""

import re
from collections.abc import Iterator, Mapping

import junitparser

from orchestrator.domain import Status
from orchestrator.reporting import printed
from orchestrator.reporting.model import CellReport, Repeat, Report
from orchestrator.reporting.text import rate

NEVER_BEGAN = frozenset({Status.BUILD_FAILED, Status.LAUNCH_FAILED, Status.IMPORT_FAILED})
"""Errors: nothing of the cell ran. Other failures are JUnit's failures, and what is none of both is skipped."""
_SPELLED_OUT = re.compile(
    r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def junit_text(report: Report) -> str:
    """Render a report as JUnit XML: a suite per group and one of scripts, a case for every repeat.

    Control characters become `\\x1b`.
    """
    suites = junitparser.JUnitXml(spelled_out(f"{report.matrix} {report.run}"))
    cells = report.by_id
    tails = {log.log: log.tail for problem in report.problems for log in problem.logs}
    for group in report.groups:
        suite = _suite(report, group.label)
        suite.add_testcases([case for cell_id in group.cell_ids for case in _cases(cells[cell_id], tails)])
        suites.add_testsuite(suite)
    if report.scripts:
        suite = _suite(report, printed.TITLE.lower())
        suite.add_testcases([case for cell in report.scripts for case in _cases(cell, tails)])
        suites.add_testsuite(suite)
    if report.skips:
        suite = _suite(report, "skipped by the plan")
        for skip in report.skips:
            case = junitparser.TestCase("skipped by the plan", spelled_out(skip.cell_id))
            case.result = [junitparser.Skipped(spelled_out(skip.reason), "skip")]
            suite.add_testcase(case)
        suites.add_testsuite(suite)
    suites.update_statistics()  # type: ignore[no-untyped-call]  # the library has no annotations here
    found: bytes = suites.tostring()  # type: ignore[no-untyped-call]
    return found.decode() + "\n"


def _suite(report: Report, name: str) -> junitparser.TestSuite:
    suite = junitparser.TestSuite(spelled_out(name))
    suite.timestamp = spelled_out(report.created_at)
    suite.hostname = spelled_out(dict(report.host).get("hostname", ""))
    return suite


def _cases(cell: CellReport, tails: Mapping[str, str]) -> Iterator[junitparser.TestCase]:
    for repeat in cell.repeats:
        yield _case(cell, repeat, tails)


def _case(cell: CellReport, repeat: Repeat, tails: Mapping[str, str]) -> junitparser.TestCase:
    outcome = repeat.outcome
    case = junitparser.TestCase(f"repeat {outcome.repeat}", spelled_out(cell.cell.id), outcome.wall_s)
    said = [f"ok: {rate(repeat.measurement.samples_per_s)} samples/s"] if repeat.measurement else []
    said += [f"disturbed: {outcome.disturbance}"] if outcome.disturbance else []
    said += [f"log: {outcome.log}"] if outcome.log else []
    if outcome.status is not Status.OK and outcome.status is cell.cell.expect:
        said.insert(0, f"{outcome.status.value}, as the matrix expects: {outcome.reason}")
    elif outcome.status is not Status.OK:
        case.result = [_kind(outcome.status)(spelled_out(outcome.reason), outcome.status.value)]
        tail = tails.get(outcome.log or "")
        if tail:
            case.system_err = spelled_out(tail)
    if said:
        case.system_out = spelled_out("\n".join(said))
    return case


def _kind(status: Status) -> type[junitparser.Failure | junitparser.Error | junitparser.Skipped]:
    if not status.is_failure:
        return junitparser.Skipped
    return junitparser.Error if status in NEVER_BEGAN else junitparser.Failure


def spelled_out(text: str) -> str:
    """Text with what XML cannot hold, or what could disguise a line, spelled out."""
    return _SPELLED_OUT.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n"))
