"""Several processes that take turns: in order of arrival, one each, whoever is killed, stopped or another user."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from filelock import FileLock

from orchestrator.running import waiting_line
from orchestrator.running.turn import WaitingNotes, waiting_text
from orchestrator.running.waiting_line import Holder, Ticket

RUN = """
import os, sys, threading, time
from datetime import UTC, datetime
from pathlib import Path
from orchestrator.running import waiting_line
from orchestrator.running.turn import Turn, Turns

lock, name, hold_s = Path(sys.argv[1]), sys.argv[2], float(sys.argv[4])
rounds, user = int(sys.argv[3]), int(sys.argv[5])
waiting_line.STALE_S = 3.0
if user:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
os.umask(0o077)
clock = lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
turns = Turns((lock,))
for number in range(rounds):
    say = lambda event: print(event.message, flush=True)
    with turns.taken(Turn(name, f"cell-{number}", clock), say, threading.Event()) as mine:
        assert mine
        with open(lock.parent / "order", "a") as order:
            order.write(name)
        time.sleep(hold_s)
"""
TIMEOUT_S = 60.0


class Host:
    """A folder of locks, and processes that measure in turn."""

    def __init__(self, folder: Path, closing: ExitStack) -> None:
        self.lock = folder / "measuring.lock"
        self.queue = folder / "measuring.lock.queue"
        self._closing = closing
        (folder / "order").touch()
        (folder / "order").chmod(0o666)

    def order(self) -> str:
        """Give the names of those who had a turn so far, in order."""
        return (self.lock.parent / "order").read_text()

    def start(self, name: str, rounds: int = 1, hold_s: float = 0.0, user: int = 0) -> "subprocess.Popen[str]":
        """Start a run, and wait until it waits or measures."""
        before = self.tickets()
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, str(self.lock), name, str(rounds), str(hold_s), str(user)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self._closing.callback(end, process)
        until(lambda: bool(self.tickets() - before) or process.poll() is not None)
        return process

    def tickets(self) -> set[str]:
        """Give the names of all tickets without their kinds."""
        return {path.stem for path in self.queue.glob("*") if path.suffix != ".new"} if self.queue.is_dir() else set()


def end(process: "subprocess.Popen[str]") -> str:
    """End a run, whatever state it is in, and give what it said."""
    if process.poll() is None:
        process.kill()
    return process.communicate()[0] if process.stdout and not process.stdout.closed else ""


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


@pytest.fixture
def host() -> Iterator[Host]:
    """A folder like /run/lock: everybody may write, and remove their own."""
    with tempfile.TemporaryDirectory(prefix="bench-queue-") as name, ExitStack() as closing:
        Path(name).chmod(0o1777)
        yield Host(Path(name), closing)


def test_runs_measure_one_repeat_each_in_turn(host: Host) -> None:
    """The run that has just measured goes to the end, so that nobody takes two turns while another waits."""
    lock = FileLock(host.lock, mode=0o644)
    lock.acquire()
    runs = [host.start(name, rounds=3) for name in "ABC"]
    lock.release()
    said = [run.communicate(timeout=TIMEOUT_S)[0] for run in runs]

    assert host.order() == "ABC" * 3, said
    assert host.tickets() == set()


def test_waiting_run_names_the_holder_once_per_change(host: Host) -> None:
    holder = host.start("A", hold_s=60)
    until(lambda: host.order() == "A")
    waiting = [host.start(name) for name in "BC"]
    time.sleep(2.5)
    holder.kill()

    since = "run A measures cell-0 on this host since 2026-01-02 03:04:05 UTC"
    lines = [run.communicate(timeout=TIMEOUT_S)[0].splitlines() for run in waiting]
    assert (lines[0][0], lines[1][0]) == (f"{since}; this run is next", f"{since}; 1 run waits before this one")
    assert [len([line for line in each if since in line]) for each in lines] == [1, 1]
    assert host.order() == "ABC"


@pytest.mark.parametrize("killed", [0, 1], ids=["holder", "waiter"])
def test_killed_run_blocks_nobody(host: Host, killed: int) -> None:
    runs = [host.start("A", hold_s=60)]
    until(lambda: host.order() == "A")
    runs += [host.start("B", hold_s=60), host.start("C")]
    runs[killed].send_signal(signal.SIGKILL)
    runs[killed].wait()
    if killed == 1:
        runs[0].send_signal(signal.SIGKILL)
        runs[2].communicate(timeout=TIMEOUT_S)
        assert host.order() == "AC"
        assert host.tickets() == set()
    else:
        until(lambda: host.order() == "AB")


def test_stopped_holder_keeps_its_turn(host: Host) -> None:
    holder = host.start("A", hold_s=0.1)
    until(lambda: host.order() == "A")
    holder.send_signal(signal.SIGSTOP)
    waiting = host.start("B")
    time.sleep(4.5)
    assert host.order() == "A"
    holder.send_signal(signal.SIGCONT)
    waiting.communicate(timeout=TIMEOUT_S)

    assert host.order() == "AB"


def test_stopped_waiter_is_passed_over(host: Host) -> None:
    holder = host.start("A", hold_s=60)
    until(lambda: host.order() == "A")
    stopped, waiting = host.start("B"), host.start("C")
    stopped.send_signal(signal.SIGSTOP)
    holder.kill()
    waiting.communicate(timeout=TIMEOUT_S)
    assert host.order() == "AC"
    stopped.send_signal(signal.SIGCONT)
    stopped.communicate(timeout=TIMEOUT_S)

    assert host.order() == "ACB"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may start processes of other users")
def test_runs_of_several_users_stand_in_one_queue(host: Host) -> None:
    """Whoever makes the folder, in a folder with the sticky bit and under a umask that closes files."""
    holder = host.start("A", user=1000, hold_s=60)
    until(lambda: host.order() == "A")
    runs = [host.start("B", user=1001, rounds=2), host.start("C", user=1002, rounds=2), host.start("D", rounds=2)]
    time.sleep(1.5)
    holder.kill()
    said = [run.communicate(timeout=TIMEOUT_S)[0] for run in runs]

    assert host.order() == "ABCDBCD", said
    assert "run A measures cell-0 on this host" in said[0]


def test_older_version_holds_the_same_lock(host: Host) -> None:
    """A version without a queue locks the same file, and is waited for."""
    with FileLock(host.lock, mode=0o644):
        waiting = host.start("A")
        time.sleep(1.5)
        assert host.order() == ""

    assert waiting.communicate(timeout=TIMEOUT_S)[0] == "another run measures on this host; this run is next\n"
    assert host.order() == "A"


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
        (json.dumps({"run": "x" * 3000}).encode(), Holder("x" * waiting_line.MOST_CHARACTERS, "?")),
        (json.dumps({"run": "x" * 5000}).encode(), Holder("?", "?")),
        (b"[" * 4000, Holder("?", "?")),
        (b"\xff\xfe", Holder("?", "?")),
        (b'{"run": {"a": 1}, "since": "never"}', Holder("{'a': 1}", "?")),
    ],
)
def test_text_of_others_is_bounded_and_harmless(ticket: Ticket, tmp_path: Path, text: bytes, holder: Holder) -> None:
    other = others(ticket, tmp_path, text)

    assert ticket.holder() == holder
    other.close()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/etc/passwd")])
@pytest.mark.parametrize("kind", ["measuring", "waiting", "new"])
def test_what_is_no_ticket_is_passed_over(
    ticket: Ticket, tmp_path: Path, make: Callable[[Path], None], kind: str
) -> None:
    make(tmp_path / "measuring.lock.queue" / f"{0:020d}-{0:016x}.{kind}")

    assert (ticket.ahead(), ticket.holder()) == (0, None)


def test_ticket_that_was_removed_is_made_again(ticket: Ticket, tmp_path: Path) -> None:
    (path,) = (tmp_path / "measuring.lock.queue").iterdir()
    path.unlink()
    ticket.ahead()

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


def test_alternating_runs_name_each_other_once(host: Host) -> None:
    """Not for each repeat: nothing changes but the cell of the other run."""
    lock = FileLock(host.lock, mode=0o644)
    lock.acquire()
    runs = [host.start(name, rounds=4, hold_s=0.6) for name in "AB"]
    lock.release()
    said = [run.communicate(timeout=TIMEOUT_S)[0] for run in runs]

    assert host.order() == "AB" * 4
    assert [said[0].count("run B measures"), said[1].count("run A measures")] == [1, 1], said


class Notes:
    """The notes of a run under a clock that is set by hand."""

    def __init__(self) -> None:
        self._time_s = 0.0
        self._notes = WaitingNotes(lambda: self._time_s)

    def wait(self, run: str, cell: str, ahead: int = 0, seconds: float = 1.0) -> str:
        """Begin a wait, look at its begin and after so many seconds; give what is said."""
        self._notes.begin()
        said = [self._notes.new(Holder(run, cell), ahead)]
        self._time_s += seconds
        said.append(self._notes.new(Holder(run, cell), ahead))
        return "".join(said)

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


def test_another_cell_is_told_after_a_minute_of_waiting() -> None:
    notes = Notes()
    notes.wait("B", "c0", seconds=30)
    notes.measure(3600)

    assert notes.wait("B", "c1", seconds=29) == ""
    assert notes.wait("B", "c2", seconds=2) == waiting_text(Holder("B", "c2"), 0)
    assert notes.wait("B", "c2", seconds=600) == ""
