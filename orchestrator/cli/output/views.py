"""The view of a run, which stays in place on a terminal, and is JSON lines for programs and else plain lines."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from orchestrator.cli.output import speech
from orchestrator.cli.output.manner import Loudness

if TYPE_CHECKING:
    from orchestrator.events import Event, Listener


@contextmanager
def follow(loudness: Loudness, *, for_programs: bool = False) -> "Iterator[Listener]":
    """Give a listener that shows events on stderr, if wanted as lines for programs."""
    from orchestrator.events import ignore
    from orchestrator.reporting.live.plain import PlainView
    from orchestrator.reporting.live.screen import LiveView

    console = speech.console(sys.stderr)
    if loudness is Loudness.QUIET:
        yield ignore if for_programs else _show_failure
        return
    if for_programs:
        yield lines()
        return
    if loudness is Loudness.VERBOSE:
        yield timed()
        return
    if not console.is_terminal or console.is_dumb_terminal:
        plain = PlainView(_write)
        try:
            yield plain
        finally:
            plain.close()
        return
    with LiveView(console, time.monotonic) as live:
        yield live


def lines() -> "Listener":
    """Return a listener that writes every event as a line of JSON."""
    from orchestrator.reporting.live.lines import LinesView

    return LinesView(_write, _now)


def timed() -> "Listener":
    """Return a listener that shows every event in a line with its time."""
    from orchestrator.reporting.live.timed import TimedView

    return TimedView(_write, _now)


def _show_failure(event: "Event") -> None:
    """Show an environment that could not be made, which no answer does."""
    from orchestrator.events import BuildFinished
    from orchestrator.reporting.live.plain import line

    if isinstance(event, BuildFinished) and event.reason and not event.stopped:
        _write(f"{line(event, 0)}\n")


def _now() -> datetime:
    return datetime.now(UTC)


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
