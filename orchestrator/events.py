"""Events while images are built and cells run, sent to a listener such as the live view."""

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.domain import Outcome


@dataclass(frozen=True, slots=True)
class BuildStarted:
    """An environment is being made."""

    image: str
    log: str


@dataclass(frozen=True, slots=True)
class BuildFinished:
    """An environment is ready, or `reason` says why not."""

    image: str
    wall_s: float
    cached: bool = False
    reason: str = ""
    stopped: bool = False
    """A request to stop ended it, which is no failure of the environment."""


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins, with `planned` repeats to measure and `done` of an earlier part of it."""

    planned: int
    done: int = 0


@dataclass(frozen=True, slots=True)
class RepeatStarted:
    """A container (or process) is launched for one repeat of one cell."""

    cell_id: str
    repeat: int
    position: int
    """1-based, in running order."""


@dataclass(frozen=True, slots=True)
class PhaseChanged:
    """The running repeat enters a phase.

    It is `import`, `build`, `first_step`, `warmup`, `steady` or `latency`.
    """

    cell_id: str
    repeat: int
    phase: str


@dataclass(frozen=True, slots=True)
class RepeatFinished:
    """A repeat ended, with its `throughput` in samples/s if it was measured."""

    outcome: Outcome
    throughput: float | None = None


@dataclass(frozen=True, slots=True)
class Transferred:
    """So much of a bundle was read or written by now."""

    what: str
    """What is done with it: `verify`."""
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
