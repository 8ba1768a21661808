"""Every event in a line with its time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from orchestrator.events import Event, PhaseChanged, RunStarted
from orchestrator.reporting.live.plain import line
from orchestrator.wording import clean_line


@dataclass
class TimedView:
    """A listener that leaves out nothing, such as phases inside a repeat and repeats without a launch."""

    write: Callable[[str], object]
    """Gets a line with its newline, as `sys.stderr.write` does."""
    clock: Callable[[], datetime]
    """The time in UTC."""
    _total: int = field(default=0, init=False)

    def __call__(self, event: Event) -> None:
        """Write an event."""
        if isinstance(event, RunStarted):
            self._total = event.planned
        text = _phase(event) if isinstance(event, PhaseChanged) else line(event, self._total)
        self.write(f"{self.clock().isoformat(timespec='milliseconds')} {text}\n")


def _phase(event: PhaseChanged) -> str:
    return f"  {clean_line(f'{event.cell_id} repeat {event.repeat}: {event.phase} begins')}"
