"""Events while images are built and cells run, for listeners such as a live view, plain lines and a log."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from orchestrator.domain import Outcome
from orchestrator.modes.parts.settings import LaterFields


@dataclass(frozen=True, slots=True)
class BuildStarted:
    """An environment is being made."""

    image: str
    log: str


@dataclass(frozen=True, slots=True)
class BuildFinished:
    """An environment is ready, or not; `reason` is empty when it is."""

    image: str
    wall_s: float
    cached: bool = False
    reason: str = ""
    stopped: bool = False
    """A request to stop ended it, which is no failure of the environment."""


@dataclass(frozen=True, slots=True)
class CellToRun:
    """A cell of a run that begins or goes on."""

    cell_id: str
    statuses: tuple[str, ...]
    """The status of each repeat, and an empty text for one that is still to be measured."""
    expected_s: float | None = None
    """Seconds that a repeat is expected to take; None if nothing is known."""


@dataclass(frozen=True, slots=True)
class ImageToMake:
    """An environment that a run needs, which may be there already."""

    image: str
    expected_s: float | None = None
    """Seconds that making it from nothing is expected to take; None if nothing is known."""


@dataclass(frozen=True, slots=True)
class RunStarted(LaterFields):
    """Repeats still to be measured, `planned` of them; `done` were already there (resume)."""

    LATER: ClassVar[Mapping[str, Any]] = {"cells": (), "images": ()}

    planned: int
    done: int = 0
    cells: tuple[CellToRun, ...] = ()
    """Every cell of the plan; none of a run whose cells are measured elsewhere."""
    images: tuple[ImageToMake, ...] = ()
    """The environments that are provided before the first repeat."""


@dataclass(frozen=True, slots=True)
class RepeatStarted(LaterFields):
    """A container (or process) is launched for one repeat of one cell."""

    LATER: ClassVar[Mapping[str, Any]] = {"log": ""}

    cell_id: str
    repeat: int
    position: int
    """1-based, in running order."""
    log: str = ""
    """Path of the file that its output goes to; empty if that is not known."""


@dataclass(frozen=True, slots=True)
class PhaseChanged:
    """The repeat that is running says where it is: `import`, `build`, `first_step`, `warmup`, `steady`, `latency`."""

    cell_id: str
    repeat: int
    phase: str


@dataclass(frozen=True, slots=True)
class RepeatFinished(LaterFields):
    """One repeat ended; `throughput` in what it counts per second where it was measured."""

    LATER: ClassVar[Mapping[str, Any]] = {"largest_batch": None, "counts": "sample"}

    outcome: Outcome
    throughput: float | None = None
    largest_batch: int | None = None
    """Samples of the largest batch that fits, in place of a throughput; None if it was not looked for."""
    counts: str = "sample"
    """The unit of its throughput: samples, the tokens of a generation, or requests for them."""


@dataclass(frozen=True, slots=True)
class Transferred:
    """So much of a bundle was read or written by now, or so much of an image was pulled."""

    what: str
    """The action on it: `verify`, `pulling IMAGE`."""
    done_bytes: int
    total_bytes: int | None
    """None where that is not known beforehand."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know, in one line."""

    message: str


Event = BuildStarted | BuildFinished | RunStarted | RepeatStarted | PhaseChanged | RepeatFinished | Transferred | Notice
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Listen to nothing."""


def transferred(what: str, listener: Listener) -> Callable[[int, int | None], None]:
    """Return a function that tells a listener how many bytes of how many have been moved."""
    return lambda done, total: listener(Transferred(what, done, total))


def in_turn(listener: Listener) -> Listener:
    """Return a listener that several threads may tell at once, and that hears one after the other."""
    lock = threading.Lock()

    def tell(event: Event) -> None:
        with lock:
            listener(event)

    return tell
