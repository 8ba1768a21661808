"""The events of a run in its folder."""

import fcntl
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orchestrator.events import Event, Notice, RunStarted
from orchestrator.reporting.live.lines import parsed_line
from orchestrator.reporting.live.recorded import recorded
from orchestrator.results.names import EVENTS
from tests.unit.reporting.live.test_lines import EVENTS as EVERY

AT = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)


def test_events_are_told_and_written(tmp_path: Path) -> None:
    told: list[Event] = []
    with recorded(tmp_path, told.append, lambda: AT) as tell:
        for event in EVERY:
            tell(event)

    lines = (tmp_path / EVENTS).read_bytes().splitlines()
    written = [parsed_line(line) for line in lines]
    assert told == list(EVERY)
    assert written == [(event, AT) for event in EVERY if type(event).__name__ != "PhaseChanged"]
    assert [path.name for path in tmp_path.iterdir()] == [EVENTS]


def test_the_writer_holds_the_lock(tmp_path: Path) -> None:
    def is_locked() -> bool:
        with (tmp_path / EVENTS).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False

    with recorded(tmp_path, lambda event: None, lambda: AT):
        assert is_locked()
    assert not is_locked()


def test_a_run_taken_up_begins_anew(tmp_path: Path) -> None:
    for planned in (3, 2):
        with recorded(tmp_path, lambda event: None, lambda: AT) as tell:
            tell(RunStarted(planned))

    (line,) = (tmp_path / EVENTS).read_text().splitlines()
    assert json.loads(line)["planned"] == 2


@pytest.mark.parametrize("kind", ["missing", "link"])
def test_a_run_goes_on_without(tmp_path: Path, kind: str) -> None:
    """A folder that has gone keeps nobody from measuring, and a link in the place of the file is replaced."""
    other = tmp_path / "other"
    other.write_text("stays")
    folder = tmp_path / "run"
    if kind == "link":
        folder.mkdir()
        (folder / EVENTS).symlink_to(other)
    told: list[Event] = []
    with recorded(folder, told.append, lambda: AT) as tell:
        tell(Notice("x"))

    assert told == [Notice("x")]
    assert other.read_text() == "stays"
