"""This host, as commands give it to workflows. Events are shown on stderr, and signals stop the work."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.cli.output import manner, speech
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


def this_host(*, json: bool = False) -> "Host":
    """Return this host. With `json`, its view is for programs."""
    from orchestrator.cli.output import views
    from orchestrator.workflows.host.host import Host

    loudness = manner.current().loudness
    idle_view = _idle_view(loudness, json=json)
    output = _ProgressOutput(idle_view)
    stop = threading.Event()

    @contextmanager
    def working() -> Iterator[None]:
        with stop_on_signals(stop), views.follow(loudness, json=json) as view:
            output.view = view
            try:
                yield
            finally:
                output.view = idle_view

    return Host(os.environ, output, stop, working)


def _idle_view(loudness: Loudness, *, json: bool) -> "Listener":
    """Return the listener of the time before and after the work."""
    from orchestrator.cli.output import views
    from orchestrator.events import ignore

    if loudness is Loudness.QUIET:
        return ignore
    return _show_notice if json or loudness is Loudness.NORMAL else views.timed()


def _show_notice(event: "Event") -> None:
    from orchestrator.events import Notice

    if isinstance(event, Notice):
        speech.say(event.message)
