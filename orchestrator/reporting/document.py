"""The document that a report is, laid out for each way of reading it, test cases among them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from orchestrator.documents import Envelope
from orchestrator.reporting.blocks import Block
from orchestrator.reporting.inline import Link, Sentence
from orchestrator.reporting.measures import MeasuredRun, Trace

Content = TypeVar("Content")


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


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact at the top of a page."""

    name: str
    text: str
    moment: str | None = None
    """The time it names, in ISO 8601."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under a heading."""

    heading_id: str
    """Unique on the page."""
    heading: Sentence
    blocks: tuple[Block, ...]
    anchor: str = ""
    """Name of the place, for links."""
    holds_cells: bool = False
    """The filter hides it with all its benchmark cells."""


def section(name: str, heading: Sentence, blocks: Iterable[Block]) -> Section:
    """Build a section that links may lead to by its name."""
    return Section(f"{name}-heading", heading, tuple(blocks), anchor=name)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of HTML."""

    title: str
    eyebrow: Sentence
    heading: str
    facts: tuple[Fact, ...]
    sections: tuple[Section, ...]
    footer: str
    turns: tuple[Link, ...] = ()
    """Links to the pages around it."""
    directory: Sequence[Any] | None = None
    """The content of the other pages, for the filter and the addresses of an index."""
    index: str = ""
    """The page whose filter knows all pages, if it is another one."""
    has_contents: bool = False
    """True if a list of its sections stands at its top."""


@dataclass(frozen=True, slots=True)
class Records:
    """Raw values as rows, for spreadsheets and data frames."""

    columns: tuple[str, ...]
    rows: Iterable[Mapping[str, str | int | float | None]]


@dataclass(frozen=True, slots=True)
class Kind(Generic[Content]):
    """A kind of report, with the layout for each way of reading it, None if it cannot be read so."""

    short: Callable[[Content], Iterable[Block]] | None = None
    """For a terminal."""
    full: Callable[[Content], Iterable[Block]] | None = None
    pages: Callable[[Content], Iterable[tuple[str, Page]]] | None = None
    """Name and page of each file."""
    suites: Callable[[Content], Suites] | None = None
    value: Callable[[Content], Envelope] | None = None
    """For programs."""
    records: Callable[[Content], Records] | None = None
    measures: Callable[[Content], Sequence[MeasuredRun]] | None = None
    """For other tools."""
    traces: Callable[[Content], Sequence[Trace]] | None = None
