"""A published study with its claims, which a run of it is compared with, frozen."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """The value that a study has published for a claim."""

    ratio: float
    """The metric of the first cell over that of the second."""
    of: float | None = None
    """The value of the first cell; None if only the ratio was published."""
    over: float | None = None
    """The value of the second cell."""
    approximate: bool = False
    """True for a value that was read off a plot."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A published statement about two cells of a plan."""

    name: str
    text: str
    """The statement in words."""
    metric: str
    """As `orchestrator.modes.parts.claimed` reads it, such as `total_time after epoch 10`."""
    of: str
    """The id of the first cell, planned or left out by the plan."""
    over: str
    """The id of the second cell."""
    published: PublishedValue
    source: str
    """The place where it was published, such as a table or a figure of the study."""
    flaw: str = ""
    """The reason that the published value says nothing of the two cells, or an empty text."""
    caveats: tuple[str, ...] = ()
    """Further things to know before the two values are compared."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """A release that runs in place of something that is no longer published."""

    published: str
    used: str
    reason: str


@dataclass(frozen=True, slots=True)
class LeftOutPart:
    """A part of a study that its file leaves out."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class Study:
    """A published study as a matrix describes it."""

    title: str = ""
    citation: str = ""
    link: str = ""
    stand_ins: tuple[StandIn, ...] = ()
    left_out: tuple[LeftOutPart, ...] = ()
    claims: tuple[Claim, ...] = ()
    """In the order of the file."""
