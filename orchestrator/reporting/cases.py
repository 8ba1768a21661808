"""Test cases of a report, for continuous integration."""

from dataclasses import dataclass
from enum import StrEnum


class CaseResult(StrEnum):
    """The end of a test case that did not pass."""

    FAILURE = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Case:
    """A test case, which passed if it has no result."""

    name: str
    group: str
    wall_s: float | None = None
    result: CaseResult | None = None
    message: str = ""
    word: str = ""
    """Type of the result."""
    out: str = ""
    log: str = ""
    out_first: bool = False
    """The output stands before the result."""


@dataclass(frozen=True, slots=True)
class Suite:
    """Test cases of one name."""

    name: str
    cases: tuple[Case, ...]
    created_at: str = ""
    host: str | None = None
    """None if the suite is of no time and no host."""


@dataclass(frozen=True, slots=True)
class Suites:
    """All test suites of a report."""

    name: str
    suites: tuple[Suite, ...]
