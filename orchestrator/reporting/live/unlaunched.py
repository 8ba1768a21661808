"""Repeats that ended without a launch, counted so that a view tells each reason once."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from orchestrator.domain import Status
from orchestrator.events import Event, RepeatFinished
from orchestrator.wording import clean_line, counted


@dataclass
class Unlaunched:
    """The counts, by status and reason, of the repeats of each cell."""

    _cells: dict[tuple[Status, str], Counter[str]] = field(default_factory=dict)

    def takes(self, event: Event) -> bool:
        """Count a repeat that ended without a launch, and return False for every other event."""
        if not isinstance(event, RepeatFinished) or event.outcome.attempts:
            return False
        key = event.outcome.status, event.outcome.reason
        self._cells.setdefault(key, Counter())[event.outcome.cell_id] += 1
        return True

    def lines(self) -> Iterator[tuple[Status, str]]:
        """Return one line for each reason, and forget the counts."""
        for (status, reason), cells in self._cells.items():
            where = next(iter(cells)) if len(cells) == 1 else counted(len(cells), "cell")
            said = f"{counted(cells.total(), 'repeat')} of {where}: {status.value}: {reason}"
            yield status, clean_line(said)
        self._cells = {}
