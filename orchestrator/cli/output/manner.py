"""The manner in which a command speaks, as the options of every command choose it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import StrEnum


class Loudness(StrEnum):
    """The amount of output on stderr, besides errors."""

    QUIET = "quiet"
    """Nothing."""
    NORMAL = "normal"
    VERBOSE = "verbose"
    """Every event with its time."""


class Color(StrEnum):
    """The use of colors."""

    AUTO = "auto"
    """On a terminal, unless NO_COLOR is set; with FORCE_COLOR everywhere."""
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Manner:
    """The manner of one command. A command reads it in the thread that it began in."""

    loudness: Loudness = Loudness.NORMAL
    color: Color = Color.AUTO
    for_programs: bool = False
    """True if stderr holds only JSON lines."""
    pages: bool = True
    """True if long output on a terminal goes through a pager."""


_CURRENT = ContextVar[Manner]("manner")


def current() -> Manner:
    """Return the manner of the command that runs."""
    return _CURRENT.get(Manner())


@contextmanager
def of_one_command(*, for_programs: bool = False) -> Iterator[None]:
    """Begin with the defaults, and forget at the end what the options have chosen."""
    token = _CURRENT.set(Manner(for_programs=for_programs))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def choose_loudness(loudness: Loudness) -> None:
    """Speak as loudly as this from now on."""
    _CURRENT.set(replace(current(), loudness=loudness))


def choose_color(color: Color) -> None:
    """Use colors in this way from now on."""
    _CURRENT.set(replace(current(), color=color))


def choose_no_pager() -> None:
    """Page nothing from now on."""
    _CURRENT.set(replace(current(), pages=False))
