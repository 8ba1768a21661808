"""Several processes that take turns: in order of arrival, one each, whoever is killed, stopped or another user."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from filelock import FileLock

from orchestrator.running.host_lock import queue as host_queue
from orchestrator.running.host_lock.lock import WaitingNotes, waiting_text
from orchestrator.running.host_lock.queue import Holder, QueueLook, Ticket
from tests.unit.running.turn_taking import HostInTurn
from tests.until import until


@pytest.fixture
def host() -> Iterator[HostInTurn]:
    """A folder like /run/lock: everybody may write, and remove their own."""
    with tempfile.TemporaryDirectory(prefix="bench-queue-") as name, ExitStack() as closing:
        Path(name).chmod(0o1777)
        yield HostInTurn(Path(name), closing)


def test_runs_measure_one_repeat_each_in_turn(host: HostInTurn) -> None:
    """The run that has just measured goes to the end, so that nobody takes two turns while another waits."""
    lock = FileLock(host.lock, mode=0o644)
    lock.acquire()
    runs = [host.start(name, rounds=3) for name in "ABC"]
    lock.release()
    host.take_turns("ABC" * 3)
    for run in runs:
        run.end()

    assert host.order() == "ABC" * 3
    assert host.tickets() == set()


def test_waiting_run_names_the_holder_once_per_change(host: HostInTurn) -> None:
    holder = host.start("A")
    until(lambda: host.order() == "A")
    waiting = [host.start(name) for name in "BC"]
    host.look(times=5)
    holder.kill()
    host.take_turns("BC", before="A")

    since = "run A measures cell-0 on this host since 2026-01-02 03:04:05 UTC"
    lines = [run.end() for run in waiting]
    assert (lines[0][0], lines[1][0]) == (f"{since}; this run is next", f"{since}; 1 run waits before this one")
    assert [len([line for line in each if since in line]) for each in lines] == [1, 1]
    assert host.order() == "ABC"


def test_killed_holder_blocks_nobody(host: HostInTurn) -> None:
    holder = host.start("A")
    until(lambda: host.order() == "A")
    host.start("B")
    host.start("C")
    holder.kill()

    until(lambda: host.order() == "AB")


def test_killed_waiter_blocks_nobody(host: HostInTurn) -> None:
    holder = host.start("A")
    until(lambda: host.order() == "A")
    killed, last = host.start("B"), host.start("C")
    killed.kill()
    holder.kill()
    last.release()
    last.end()

    assert host.order() == "AC"
    assert host.tickets() == set()


def test_stopped_holder_keeps_its_turn(host: HostInTurn) -> None:
    holder = host.start("A")
    until(lambda: host.order() == "A")
    holder.stop()
    holder.make_stale()
    waiting = host.start("B")
    host.look()
    assert host.order() == "A"
    holder.go_on()
    holder.release()
    waiting.release()
    waiting.end()

    assert host.order() == "AB"


def test_stopped_waiter_is_passed_over(host: HostInTurn) -> None:
    holder = host.start("A")
    until(lambda: host.order() == "A")
    stopped, waiting = host.start("B"), host.start("C")
    stopped.stop()
    stopped.make_stale()
    holder.kill()
    waiting.release()
    waiting.end()
    assert host.order() == "AC"
    stopped.go_on()
    stopped.release()
    stopped.end()

    assert host.order() == "ACB"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may start processes of other users")
def test_runs_of_several_users_stand_in_one_queue(host: HostInTurn) -> None:
    """Whoever makes the folder, in a folder with the sticky bit and under a umask that closes files."""
    holder = host.start("A", user=1000)
    until(lambda: host.order() == "A")
    runs = [host.start("B", rounds=2, user=1001), host.start("C", rounds=2, user=1002), host.start("D", rounds=2)]
    host.look()
    holder.kill()
    host.take_turns("BCDBCD", before="A")
    said = [run.end() for run in runs]

    assert host.order() == "ABCDBCD"
    assert said[0][0].startswith("run A measures cell-0 on this host")


def test_older_version_holds_the_same_lock(host: HostInTurn) -> None:
    """A version without a queue locks the same file, and is waited for."""
    with FileLock(host.lock, mode=0o644):
        waiting = host.start("A")
        host.look()
        assert host.order() == ""
    waiting.release()

    assert waiting.end() == ["another run measures on this host; this run is next"]
    assert host.order() == "A"


def test_alternating_runs_name_each_other_once(host: HostInTurn) -> None:
    """Not for each repeat: nothing changes but the cell of the other run."""
    lock = FileLock(host.lock, mode=0o644)
    lock.acquire()
    runs = [host.start(name, rounds=4) for name in "AB"]
    lock.release()
    host.take_turns("AB" * 4, looks=2)
    said = ["\n".join(run.end()) for run in runs]

    assert [said[0].count("run B measures"), said[1].count("run A measures")] == [1, 1], said


@pytest.fixture
def ticket(tmp_path: Path) -> Iterator[Ticket]:
    drawn = Ticket.draw(tmp_path / "measuring.lock")
    yield drawn
    drawn.close()


def others(ticket: Ticket, tmp_path: Path, text: bytes, kind: str = "measuring") -> Ticket:
    other = Ticket.draw(tmp_path / "measuring.lock")
    other.measure(Holder("r", "c"))
    (path,) = (tmp_path / "measuring.lock.queue").glob("*.measuring")
    path.write_bytes(text)
    path.rename(path.with_suffix(f".{kind}"))
    return other


@pytest.mark.parametrize(
    ("text", "holder"),
    [
        (b'{"run": "a\\u001b[31m\\nb", "cell": "\\u202ec"}', Holder("a\\u001b[31m\\u000ab", "\\u202ec")),
        (json.dumps({"run": "x" * 3000}).encode(), Holder("x" * host_queue.MOST_CHARACTERS, "?")),
        (json.dumps({"run": "x" * 5000}).encode(), Holder("?", "?")),
        (b"[" * 4000, Holder("?", "?")),
        (b"\xff\xfe", Holder("?", "?")),
        (b'{"run": {"a": 1}, "since": "never"}', Holder("{'a': 1}", "?")),
    ],
)
def test_text_of_others_is_bounded_and_harmless(ticket: Ticket, tmp_path: Path, text: bytes, holder: Holder) -> None:
    other = others(ticket, tmp_path, text)

    assert ticket.look().holder == holder
    other.close()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/etc/passwd")])
@pytest.mark.parametrize("kind", ["measuring", "waiting", "new"])
def test_what_is_no_ticket_is_passed_over(
    ticket: Ticket, tmp_path: Path, make: Callable[[Path], None], kind: str
) -> None:
    make(tmp_path / "measuring.lock.queue" / f"{0:020d}-{0:016x}.{kind}")

    assert ticket.look() == QueueLook()


def test_ticket_that_was_removed_is_made_again(ticket: Ticket, tmp_path: Path) -> None:
    (path,) = (tmp_path / "measuring.lock.queue").iterdir()
    path.unlink()
    ticket.look()

    assert path.exists()


@pytest.mark.parametrize("make", [Path.touch, lambda path: path.mkdir(), lambda path: path.symlink_to("/run")])
def test_folder_that_others_cannot_use_is_refused(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "measuring.lock.queue")
    with pytest.raises(OSError):  # noqa: PT011 - the kernel's own words
        Ticket.draw(tmp_path / "measuring.lock")


def test_line_says_who_measures_and_how_many_wait() -> None:
    since = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    assert waiting_text(Holder("r", "c", since), 2) == (
        "run r measures c on this host since 2026-01-02 03:04:05 UTC; 2 runs wait before this one"
    )
    assert waiting_text(None, 1) == "another run measures on this host; 1 run waits before this one"


class Notes:
    """The notes of a run under a clock that is set by hand."""

    def __init__(self) -> None:
        self._time_s = 0.0
        self._notes = WaitingNotes(lambda: self._time_s)

    def wait(self, run: str, cell: str, ahead: int = 0, seconds: float = 1.0) -> str:
        """Begin a wait, look at its begin and after so many seconds; give what is said."""
        self._notes.begin()
        notices = [self._notes.new(QueueLook(ahead, Holder(run, cell)))]
        self._time_s += seconds
        notices.append(self._notes.new(QueueLook(ahead, Holder(run, cell))))
        return "".join(notice for notice in notices if notice is not None)

    def measure(self, seconds: float) -> None:
        """Let time pass that is no waiting."""
        self._time_s += seconds


def test_each_state_of_the_queue_is_told_once() -> None:
    """The run that measures and the number of those before this one; three that take turns come back to two states."""
    notes = Notes()
    said = [notes.wait(run, f"c{repeat}", ahead) for repeat in range(5) for run, ahead in (("B", 1), ("C", 0))]

    assert said[:2] == [waiting_text(Holder("B", "c0"), 1), waiting_text(Holder("C", "c0"), 0)]
    assert said[2:] == [""] * 8
    assert notes.wait("C", "c5", ahead=1) == waiting_text(Holder("C", "c5"), 1)
    assert notes.wait("D", "c5", ahead=1) == waiting_text(Holder("D", "c5"), 1)


def test_another_cell_is_named_after_a_minute() -> None:
    """Another cell of the holder is named only after a minute of waiting."""
    notes = Notes()
    notes.wait("B", "c0", seconds=30)
    notes.measure(3600)

    assert notes.wait("B", "c1", seconds=29) == ""
    assert notes.wait("B", "c2", seconds=2) == waiting_text(Holder("B", "c2"), 0)
    assert notes.wait("B", "c2", seconds=600) == ""
