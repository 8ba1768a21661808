"""Workflow commands of GitHub Actions: an annotation for each test case that did not pass.

Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands, whose marks are those that
actions/toolkit escapes. A step shows ten annotations of each level; what is beyond them is in its log.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from orchestrator.reporting.document import Case, CaseResult, Suite, Suites
from orchestrator.wording import clean_line, counted

_LEVELS = {CaseResult.FAILURE: "error", CaseResult.ERROR: "error", CaseResult.SKIPPED: "notice"}
_MOST = 10
"""Annotations of a level that a step shows."""


def texts(suites: Suites) -> Iterator[str]:
    """Render the commands, with one that sums up all cases, and a plain line of each suite for the log."""
    cases = [case for suite in suites.suites for case in suite.cases]
    by_level: dict[str, list[Case]] = {"error": [], "notice": []}
    for case in cases:
        if case.result is not None:
            by_level[_LEVELS[case.result]].append(case)
    # The sum is a notice of its own.
    lines = [*_of_level("error", by_level["error"], _MOST), _sum(suites.name, cases)]
    lines += [*_of_level("notice", by_level["notice"], _MOST - 1), *map(_of_suite, suites.suites)]
    yield "".join(f"{line}\n" for line in lines)


def _sum(name: str, cases: Sequence[Case]) -> str:
    return _command("notice", name, _counts(cases))


def _of_suite(suite: Suite) -> str:
    where = f" on {suite.host}" if suite.host else ""
    return clean_line(f"{suite.name}{where}: {_counts(suite.cases)}")


def _counts(cases: Sequence[Case]) -> str:
    results = Counter(case.result for case in cases)
    failed = results[CaseResult.FAILURE] + results[CaseResult.ERROR]
    return f"{results[None]} passed, {failed} failed, {results[CaseResult.SKIPPED]} skipped"


def _of_level(level: str, cases: list[Case], most: int) -> Iterator[str]:
    """Yield a command for each case, and plain lines for those that GitHub would not show."""
    shown = cases if len(cases) <= most else cases[: most - 1]
    yield from (_command(level, _title(case), _message(case)) for case in shown)
    if len(cases) > len(shown):
        rest = cases[len(shown) :]
        yield _command(level, f"{counted(len(rest), 'more case')}", "The log of this step and its summary have them.")
        yield from (f"{level}: {_title(case)}: {_message(case)}" for case in rest)


def _title(case: Case) -> str:
    return clean_line(f"{case.group}, {case.name}")


def _message(case: Case) -> str:
    return clean_line(f"{case.word}: {case.message}" if case.word not in case.message else case.message)


def _command(level: str, title: str, message: str) -> str:
    return f"::{level} title={_data(title).replace(':', '%3A').replace(',', '%2C')}::{_data(message)}"


def _data(text: str) -> str:
    """Return text in one line, with the mark of what is escaped."""
    return clean_line(text).replace("%", "%25")
