"""This host, as commands give it to workflows. Events are shown on stderr, and signals stop the work."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

import typer

from orchestrator.cli.output import manner, speech, views
from orchestrator.cli.output.manner import Loudness

if TYPE_CHECKING:
    from orchestrator.events import Event, Listener
    from orchestrator.workflows.host.host import Host

INTERRUPTED = 130
STOPPING = "stopping; what is measured is kept"
DETACHING = "detaching; its jobs go on"


def stopped(resume_command: str) -> typer.Exit:
    """Say how to go on with work that was stopped, and return the end of its command."""
    speech.say_error(f"stopped; go on with: {resume_command}")
    return typer.Exit(INTERRUPTED)


@contextmanager
def stop_on_signals(stop: threading.Event, what: str = STOPPING) -> Iterator[None]:
    """Set an event on the first signal, and say what that means. Restore the handlers on the way out.

    The signals are counted, because a time budget may have set the event before the first of them.
    """
    from orchestrator.events import Notice

    signals = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal signals
        del frame
        signals += 1
        if signals > 1:
            os._exit(INTERRUPTED)
        stop.set()
        name = signal.Signals(number).name
        if not manner.current().for_programs:
            sys.stderr.write("\n")
        speech.write(Notice(f"{name}: {what}. Once more ends at once."))

    previous = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@dataclass
class _ProgressOutput:
    """A listener that passes events on to the view of the moment. Work has a view of its own."""

    view: "Listener"

    def __call__(self, event: "Event") -> None:
        self.view(event)


def this_host(on_signal: str = STOPPING) -> "Host":
    """Return this host. Its views are those that the command's options ask for."""
    from orchestrator.workflows.host.host import Host

    loudness, for_programs = manner.current().loudness, manner.current().for_programs
    idle_view = _idle_view(loudness, for_programs=for_programs)
    output = _ProgressOutput(idle_view)
    stop = threading.Event()

    @contextmanager
    def working() -> Iterator[None]:
        with stop_on_signals(stop, on_signal), views.follow(loudness, for_programs=for_programs) as view:
            output.view = view
            try:
                yield
            finally:
                output.view = idle_view

    return Host(os.environ, output, stop, working)


def _idle_view(loudness: Loudness, *, for_programs: bool) -> "Listener":
    """Return the listener of the time before and after the work."""
    from orchestrator.events import ignore

    if loudness is Loudness.QUIET:
        return ignore
    if for_programs:
        return views.lines()
    return _show_notice if loudness is Loudness.NORMAL else views.timed()


def _show_notice(event: "Event") -> None:
    from orchestrator.events import Notice

    if isinstance(event, Notice):
        speech.say(event.message)
