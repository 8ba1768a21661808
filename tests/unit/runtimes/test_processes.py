"""Processes of this host: bounded in time and output, and nothing of them left behind."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from orchestrator import files, processes
from orchestrator.files import TAIL_BYTES, BoundedLog
from orchestrator.processes import Cause, Finished, StartError, last_line, tail
from tests.unit.runtimes.late_clock import LateClock, SteppedClock
from tests.until import has_ended, is_stopped, until

SHELL = {"PATH": "/usr/bin:/bin"}


def children() -> set[str]:
    """Ids of the processes that this one has started: those that run, and ended ones that nobody waited for."""
    return {pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


@pytest.fixture(scope="module", autouse=True)
def before() -> set[str]:
    """Processes of other tests, such as an engine that lives as long as they do."""
    return children()


def run(command: str, folder: Path, *, timeout_s: float = 30.0, stop: threading.Event | None = None) -> Finished:
    return processes.run(
        ["sh", "-c", command], environment=SHELL, folder=folder, log=folder / "log.txt", timeout_s=timeout_s,
        stop=stop or threading.Event(),
    )  # fmt: skip


def test_log_has_output_and_errors_in_order(tmp_path: Path) -> None:
    """Output and errors go to the log in order, and the exit code is known."""
    finished = run("echo out; echo err >&2; exit 7", tmp_path)

    assert (finished.cause, finished.exit_code) == (Cause.EXITED, 7)
    assert (tmp_path / "log.txt").read_text() == "out\nerr\n"
    assert 0 < finished.start_s <= finished.wall_s


def test_a_signal_is_a_negative_exit_code(tmp_path: Path) -> None:
    assert run("kill -11 $$", tmp_path).exit_code == -11


def test_only_the_given_environment_reaches_the_process(tmp_path: Path) -> None:
    run("env", tmp_path)

    names = {line.partition("=")[0] for line in (tmp_path / "log.txt").read_text().splitlines()}
    assert names <= {"PATH", "PWD", "SHLVL", "_", "OLDPWD"}


def test_overtime_kills_process_and_children(tmp_path: Path) -> None:
    """A process that is over its time is killed with its children."""
    finished = run("sleep 600 & echo $!; wait", tmp_path, timeout_s=0.3)

    assert (finished.cause, finished.exit_code) == (Cause.TIMED_OUT, None)
    assert finished.wall_s < 300
    until(lambda: has_ended(int((tmp_path / "log.txt").read_text())))


STOPPED = """
import subprocess, sys, threading
from pathlib import Path
from types import SimpleNamespace
from orchestrator import processes
from tests.unit.runtimes.late_clock import LateClock
folder = Path(sys.argv[1])
processes.time = LateClock(folder / "late")
subprocess._time = processes.time.monotonic
"""
WHEN_LATE = "echo $$ >began; until [ -e late ]; do sleep 0.05; done"
RUN = """
finished = processes.run(
    ["sh", "-c", {command!r}], environment={{"PATH": "/usr/bin:/bin"}}, folder=folder, log=folder / "log.txt",
    timeout_s=600, stop=threading.Event())
print(finished.cause, finished.exit_code)
"""


def stopped_meanwhile(folder: Path, calling: str, *, ends: bool) -> str:
    """Run code in an orchestrator that is stopped for an hour, as by Ctrl-Z; `ends` says that its process ends then.

    Returns the output of the code.
    """
    orchestrator = processes._start(
        ["python3", "-c", STOPPED + calling, str(folder)], _python_environment(), folder, -1
    )
    assert orchestrator.stdout is not None
    until(lambda: (folder / "began").exists() and (folder / "began").read_text().endswith("\n"))
    until((folder / "read").exists)
    os.kill(orchestrator.pid, signal.SIGSTOP)
    until(lambda: is_stopped(orchestrator.pid))
    (folder / "late").touch()
    if ends:
        until(lambda: has_ended(int((folder / "began").read_text())))
    os.kill(orchestrator.pid, signal.SIGCONT)
    return orchestrator.communicate()[0].decode()


def test_late_look_invents_no_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ended in time is no timeout, although nobody looked until its time was over."""
    monkeypatch.setattr(processes, "time", LateClock(tmp_path / "late"))

    def look_late() -> bool:
        (tmp_path / "late").touch()
        until(lambda: has_ended(int((tmp_path / "began").read_text())))
        return False

    finished = processes.run(
        ["sh", "-c", f"{WHEN_LATE}; exit 7"], environment=SHELL, folder=tmp_path, log=tmp_path / "log.txt",
        timeout_s=600, stop=threading.Event(), watch=look_late,
    )  # fmt: skip

    assert (finished.cause, finished.exit_code) == (Cause.EXITED, 7)


def test_stopped_orchestrator_invents_no_timeout(tmp_path: Path) -> None:
    """A process that ended by itself while the orchestrator was stopped past the limit is no timeout."""
    said = stopped_meanwhile(tmp_path, RUN.format(command=f"{WHEN_LATE}; exit 7"), ends=True)

    assert said == "exited 7\n"


def test_stopped_orchestrator_still_sees_timeouts(tmp_path: Path) -> None:
    said = stopped_meanwhile(tmp_path, RUN.format(command="echo $$ >began; sleep 600"), ends=False)

    assert said == "timed_out None\n"


def test_stopped_orchestrator_still_reads_answers(tmp_path: Path) -> None:
    """A short command that answered while the orchestrator was stopped past the limit has answered."""
    calling = (
        f"said = processes.capture(['sh', '-c', {WHEN_LATE + '; echo yes'!r}],\n"
        "    environment={'PATH': '/usr/bin:/bin'}, folder=folder, timeout_s=600)\n"
        "print(said.exit_code, said.output.strip())"
    )
    assert stopped_meanwhile(tmp_path, calling, ends=True) == "0 yes\n"


def test_stop_ends_a_process_long_before_its_time(tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    finished = run("sleep 600", tmp_path, timeout_s=600.0, stop=stop)

    assert finished.cause is Cause.STOPPED
    assert finished.wall_s < 300


def test_children_left_behind_are_killed(tmp_path: Path) -> None:
    """Children that a process leaves behind are killed when it ends."""
    finished = run("sleep 600 & echo $!", tmp_path, timeout_s=600.0)

    assert (finished.cause, finished.exit_code) == (Cause.EXITED, 0)
    assert finished.wall_s < 300
    until(lambda: has_ended(int((tmp_path / "log.txt").read_text())))


def test_process_dies_with_its_orchestrator(tmp_path: Path) -> None:
    """A process dies with the orchestrator that started it."""
    code = (
        "import threading, sys; from pathlib import Path; from orchestrator import processes\n"
        "processes.run(['sh', '-c', 'echo $$; exec sleep 600'], environment={'PATH': '/usr/bin:/bin'},\n"
        "    folder=Path(sys.argv[1]), log=Path(sys.argv[1]) / 'inner.txt', timeout_s=600, stop=threading.Event())"
    )
    inner = tmp_path / "inner.txt"
    orchestrator = processes._start(["python3", "-c", code, str(tmp_path)], _python_environment(), tmp_path, -1)
    until(lambda: inner.exists() and inner.read_text().strip())
    orchestrator.kill()
    orchestrator.communicate()

    until(lambda: has_ended(int(inner.read_text())))


def _python_environment() -> dict[str, str]:
    folder = Path(sys.executable).parent
    return {"PATH": f"{folder}:/usr/bin:/bin", "PYTHONPATH": str(Path(processes.__file__).parents[1])}


def test_what_cannot_be_started_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="no-such-thing: there is no such program"):
        processes.capture(["no-such-thing"], environment=SHELL, folder=tmp_path, timeout_s=5)
    (tmp_path / "tool").touch(mode=0o644)
    with pytest.raises(StartError, match="tool: may not be executed"):
        processes.capture([str(tmp_path / "tool")], environment=SHELL, folder=tmp_path, timeout_s=5)
    with pytest.raises(StartError, match="cannot be started"):
        processes.capture(["true"], environment=SHELL, folder=tmp_path / "missing", timeout_s=5)


def test_capture_gives_both_streams_in_time(tmp_path: Path) -> None:
    """Capture gives both streams and gives up in time."""
    said = processes.capture(
        ["sh", "-c", "echo a; echo b >&2; exit 3"], environment=SHELL, folder=tmp_path, timeout_s=120
    )
    late = processes.capture(["sleep", "600"], environment=SHELL, folder=tmp_path, timeout_s=0.2)

    assert (said.exit_code, said.output, said.errors) == (3, "a\n", "b\n")
    assert (late.exit_code, late.errors) == (None, "no answer within 0.2 s")


def test_waiting_looks_up_but_does_not_spin(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SteppedClock()
    monkeypatch.setattr(processes, "time", clock)
    monkeypatch.setattr(processes, "TICK_S", 0.5)
    looks: list[float] = []
    waited = processes.wait(
        clock.event(), timeout_s=1.2, stop=threading.Event(), watch=lambda: looks.append(clock.monotonic())
    )

    assert (waited.cause, waited.away_s, looks) == (Cause.TIMED_OUT, 0.0, [0.5, 1.0])


def test_long_log_keeps_both_ends(tmp_path: Path) -> None:
    """A log keeps its beginning and its end and says what is left out."""
    path = tmp_path / "log.txt"
    with BoundedLog(path, limit_bytes=20, tail_bytes=10) as log:
        for part in (b"beginning", b"-" * 100, b"the end"):
            log.write(part)

    assert path.read_text() == "beginning-\n[… 96 bytes left out …]\n---the end"


def test_short_log_is_kept_whole(tmp_path: Path) -> None:
    """A log that fits is kept as it is, and a second one follows it."""
    path = tmp_path / "log.txt"
    for text in (b"one\n", b"two\n"):
        with BoundedLog(path) as log:
            log.write(text)

    assert path.read_text() == "one\ntwo\n"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to(path.with_name("elsewhere"))])
def test_replaced_log_is_not_written(make: Callable[[Path], None], tmp_path: Path) -> None:
    """A log in whose place something else lies is neither written nor waited for."""
    path, elsewhere = tmp_path / "log.txt", tmp_path / "elsewhere"
    elsewhere.write_text("kept\n")
    make(path)
    with BoundedLog(path) as log:
        log.write(b"x")

    assert elsewhere.read_text() == "kept\n"


def test_full_disk_blocks_no_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk does not block the one that writes to the log."""
    with monkeypatch.context() as full:
        full.setattr(files, "open_to_append", lambda path: path.open("ab", buffering=0))
        log = BoundedLog(Path("/dev/full"))
    with log:
        log.write(b"x")
        log.write(b"y")
    with BoundedLog(Path("/nonexistent/log.txt")) as log:
        log.write(b"x")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("one\ntwo\n\n  \n", "two"),
        ("10 %\r50 %\r\x1b[32mdone\x1b[0m\x07", "done"),
        ("tabs\tand\x00nulls", "tabs andnulls"),
        ("x" * 400, "x" * 299 + "…"),
    ],
)
def test_last_meaningful_line_is_clean_and_short(text: str, line: str) -> None:
    assert last_line(text) == line


def test_log_tail_is_bounded_and_survives_bytes(tmp_path: Path) -> None:
    """The tail of a log is bounded and survives what is no text."""
    path = tmp_path / "log.txt"
    path.write_bytes(b"\xff" * 100_000 + b"end")

    assert len(tail(path)) == TAIL_BYTES
    assert tail(path).endswith("\ufffdend")
    assert tail(tmp_path / "missing") == ""


def test_no_process_of_these_tests_is_left(before: set[str]) -> None:
    assert children() <= before


@pytest.mark.parametrize("end", ["kill -TERM $$", "exit 143"])
def test_what_ends_with_its_job_was_stopped(tmp_path: Path, end: str) -> None:
    """A scheduler signals every process of a job, so what we started may end before we have it end."""
    asked = tmp_path / "asked"
    stop = SimpleNamespace(is_set=asked.exists)
    command = ["sh", "-c", f"touch {asked}; {end}"]
    ended = processes.run(
        command, environment={"PATH": "/usr/bin:/bin"}, folder=tmp_path, log=tmp_path / "log", timeout_s=60, stop=stop
    )

    assert (ended.cause, ended.exit_code) == (Cause.STOPPED, None)
