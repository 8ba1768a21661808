"""This host, as commands give it to workflows. Events are shown on stderr, and signals stop the work."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from orchestrator.cli.output import speech, views
from orchestrator.cli.output.signals import stop_on_signals
from orchestrator.events import Event, Listener, Notice
from orchestrator.workflows.host.host import Host


@dataclass
class _Attendance:
    """A listener with a view for as long as there is work. Before and after it, notices are plain lines."""

    json: bool
    view: Listener | None = None

    def __call__(self, event: Event) -> None:
        if self.view is not None:
            self.view(event)
        elif isinstance(event, Notice):
            speech.say(event.message)


def this_host(*, json: bool = False) -> Host:
    """Return this host. With `json`, its view is for programs."""
    attendance = _Attendance(json)
    host = Host(os.environ, attendance)

    @contextmanager
    def working() -> Iterator[None]:
        with stop_on_signals(host.stop), views.follow(json=json) as view:
            attendance.view = view
            try:
                yield
            finally:
                attendance.view = None

    return Host(os.environ, attendance, host.stop, working)
