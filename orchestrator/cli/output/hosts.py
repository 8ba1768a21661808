"""This host, as commands give it to workflows. Events are shown on stderr, and signals stop the work."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.cli.output import manner, speech, views
from orchestrator.cli.output.manner import Loudness
from orchestrator.cli.output.signals import stop_on_signals

if TYPE_CHECKING:
    from orchestrator.events import Event, Listener
    from orchestrator.workflows.host.host import Host


@dataclass
class _ProgressOutput:
    """A listener that passes events on to the view of the moment. Work has a view of its own."""

    view: "Listener"

    def __call__(self, event: "Event") -> None:
        self.view(event)


def this_host() -> "Host":
    """Return this host. Its views are those that the command's options ask for."""
    from orchestrator.workflows.host.host import Host

    loudness, for_programs = manner.current().loudness, manner.current().for_programs
    idle_view = _idle_view(loudness, for_programs=for_programs)
    output = _ProgressOutput(idle_view)
    stop = threading.Event()

    @contextmanager
    def working() -> Iterator[None]:
        with stop_on_signals(stop), views.follow(loudness, for_programs=for_programs) as view:
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
