"""Every event in a line with its time."""

import pytest

from orchestrator.events import Event, PhaseChanged
from orchestrator.reporting.live.timed import TimedView
from tests.unit.reporting.live.test_lines import AT, EVENTS


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_every_event_is_one_line_with_its_time(event: Event) -> None:
    lines: list[str] = []
    TimedView(lines.append, lambda: AT)(event)

    (line,) = lines
    assert line.startswith("2026-01-02T03:04:05.678+00:00 ")
    assert line.count("\n") == 1
    assert len(line) > len("2026-01-02T03:04:05.678+00:00 \n")


def test_phases_inside_a_repeat_are_told() -> None:
    lines: list[str] = []
    TimedView(lines.append, lambda: AT)(PhaseChanged("a/b", 0, "steady\n"))

    assert lines == ["2026-01-02T03:04:05.678+00:00   a/b repeat 0: steady begins\n"]
