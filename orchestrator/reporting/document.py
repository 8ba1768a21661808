"""The document that a report is, laid out for each way of reading it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from orchestrator.reporting.blocks import Block
from orchestrator.reporting.cases import Suites
from orchestrator.reporting.sentences import Link, Sentence

Content = TypeVar("Content")


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
    """What the other pages hold, for the filter and the addresses of an index."""
    index: str = ""
    """The page whose filter knows all pages, if it is another one."""


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
    value: Callable[[Content], Any] | None = None
    """Plain values, or a text that is JSON."""
    records: Callable[[Content], Records] | None = None
