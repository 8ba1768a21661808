"""JUnit XML, for continuous integration."""

import re
from collections.abc import Iterator

import junitparser

from orchestrator.reporting.document import Case, CaseResult, Suite, Suites

_RESULTS = {
    CaseResult.FAILURE: junitparser.Failure,
    CaseResult.ERROR: junitparser.Error,
    CaseResult.SKIPPED: junitparser.Skipped,
}
_SPELLED_OUT = re.compile(
    r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def texts(suites: Suites) -> Iterator[str]:
    """Render test suites with control characters spelled out, such as `\\x1b`."""
    root = junitparser.JUnitXml(spelled_out(suites.name))
    for suite in suites.suites:
        root.add_testsuite(_suite(suite))
    root.update_statistics()  # type: ignore[no-untyped-call]  # the library has no annotations here
    encoded: bytes = root.tostring()  # type: ignore[no-untyped-call]
    yield encoded.decode() + "\n"


def _suite(suite: Suite) -> junitparser.TestSuite:
    element = junitparser.TestSuite(spelled_out(suite.name))
    if suite.host is not None:
        element.timestamp = spelled_out(suite.created_at)
        element.hostname = spelled_out(suite.host)
    element.add_testcases([_case(case) for case in suite.cases])
    return element


def _case(case: Case) -> junitparser.TestCase:
    element = junitparser.TestCase(spelled_out(case.name), spelled_out(case.group), case.wall_s)
    if case.out and case.out_first:
        element.system_out = spelled_out(case.out)
    if case.result is not None:
        element.result = [_RESULTS[case.result](spelled_out(case.message), case.word)]
    if case.log:
        element.system_err = spelled_out(case.log)
    if case.out and not case.out_first:
        element.system_out = spelled_out(case.out)
    return element


def spelled_out(text: str) -> str:
    """Return text with what XML cannot hold, or what could disguise a line, spelled out."""
    return _SPELLED_OUT.sub(lambda match: f"\\x{ord(match[0]):02x}", text.replace("\r\n", "\n"))
