"""The parts of a sentence that a document is made of."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """The weight of a text, or its color."""

    PLAIN = ""
    STRONG = "strong"
    FAINT = "faint"
    GOOD = "good"
    BAD = "bad"
    OPEN = "open"
    """Neither good nor bad: not decided, not measured."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A part of a text that stands out."""

    text: str
    kind: str
    """`em`, `code`, `strong`, `b`, `small`, `hidden` from those who do not see the page, a tone, or another class."""
    hint: str = ""
    """Longer text that a page shows on demand."""


@dataclass(frozen=True, slots=True)
class Link:
    """A text that leads to an address."""

    text: "Sentence"
    address: str = ""
    """Path from the page; empty for the page itself."""
    anchor: str = ""
    """Name of the place on that page."""
    label: str = ""
    """Name for those who do not see the page, if the text does not say where it leads."""
    relation: str = ""
    """`prev` or `next` for a link that turns the page."""


@dataclass(frozen=True, slots=True)
class Chip:
    """A word or two in a frame of their color, such as the answer of a report."""

    text: str
    mark: str = ""
    """Tone or word that gives it its color."""
    count: int | None = None


@dataclass(frozen=True, slots=True)
class VerdictWord:
    """A verdict in the color of its mark."""

    text: str
    mark: str


Part = str | Phrase | Link | Chip | VerdictWord
Sentence = Part | tuple[Part, ...]


def parts(text: Sentence) -> tuple[Part, ...]:
    """Return the parts of a sentence."""
    return text if isinstance(text, tuple) else (text,)


def plain(text: Sentence) -> str:
    """Return the words of a sentence alone."""
    return "".join(part if isinstance(part, str) else plain(part.text) for part in parts(text))


def spaced(each: Iterable[Part]) -> tuple[Part, ...]:
    """Return a sentence of parts with spaces between them."""
    sentence: list[Part] = []
    for part in each:
        sentence += [" ", part] if sentence else [part]
    return tuple(sentence)
