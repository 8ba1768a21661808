"""The one module that starts processes of this host, and what waiting for them has in common with containers."""

import contextlib
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, Any, Protocol

from orchestrator.files import TAIL_BYTES, BoundedLog, read_tail

LINE_CHARACTERS = 300
TICK_S = 0.5
"""Seconds between two looks of a waiting parent: short for people, too long to disturb a measurement."""

Watch = Callable[[], bool]
"""Looks at what runs, and returns true where that must end."""
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b.|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class Stop(Protocol):
    """Something that can say that all work must end, such as `threading.Event`."""

    def is_set(self) -> bool:
        """Return true if all work must end."""
        ...


class StartError(Exception):
    """A process or container that could not be started. The message is one line."""


class LostError(StartError):
    """A launch that was lost with its engine, which is no verdict on it."""


class Cause(StrEnum):
    """The cause that ended a wait."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    CUT_OFF = "cut_off"
    """The one who watched it had it end."""


@dataclass(frozen=True, slots=True)
class WaitEnd:
    """The end of a wait, and the longest time without a look."""

    cause: Cause
    away_s: float = 0.0
    """Longest time between two looks, beyond a tick: this process was stopped (Ctrl-Z), or got no CPU."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a process."""

    cause: Cause
    exit_code: int | None
    """None unless it ended by itself; negative for the signal that killed it."""
    wall_s: float
    start_s: float = 0.0
    """From asking for the process to having it."""
    log_omitted_bytes: int = 0
    """Of its output, what the bound of the log left out."""
    away_s: float = 0.0
    """Longest time for which nobody looked: `wall_s` may be too long by as much."""


@dataclass(frozen=True, slots=True)
class Captured:
    """The output of a short command."""

    exit_code: int | None
    """None where it ran out of time and was killed."""
    output: str
    errors: str


def worker(work: Callable[..., None], *arguments: object) -> tuple[BaseProcess, "Connection[Any, Any]"]:
    """Start a Python process that does some work with the other end of a connection, and ends with this one."""
    context = multiprocessing.get_context("spawn")  # a fork would copy the locks of its parent's threads
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def last_line(text: str) -> str:
    """Return the last non-empty line without control characters, bounded in length, or an empty text."""
    for line in reversed(re.split(r"[\r\n]+", text)):
        clean = " ".join(_CONTROL.sub("", line).split())
        if clean:
            return clean if len(clean) <= LINE_CHARACTERS else clean[: LINE_CHARACTERS - 1] + "…"
    return ""


def tail(path: Path) -> str:
    """Read the end of a log, at most `TAIL_BYTES`, or return an empty text if there is none."""
    return read_tail(path, TAIL_BYTES)


def wait(done: threading.Event, *, timeout_s: float | None, stop: Stop, watch: Watch | None = None) -> WaitEnd:
    """Block until `done`, the time is over, all must stop, or `watch` says so, which is called about twice a second.

    Where nobody looked for a while, `TIMED_OUT` says that the time is over and not that what runs took it all: ask
    that once more. The clock stands still while the system sleeps.
    """
    looked = time.monotonic()
    deadline = None if timeout_s is None else looked + timeout_s
    away_s = 0.0
    while True:
        left = TICK_S if deadline is None else min(TICK_S, deadline - looked)
        is_done = done.wait(max(left, 0.0))
        now = time.monotonic()
        away_s, looked = max(away_s, now - looked - TICK_S), now
        if is_done:
            return WaitEnd(Cause.EXITED, away_s)
        if stop.is_set():
            return WaitEnd(Cause.STOPPED, away_s)
        if deadline is not None and now >= deadline:
            return WaitEnd(Cause.TIMED_OUT, away_s)
        if watch and watch():
            return WaitEnd(Cause.CUT_OFF, away_s)


def sleeping_s() -> float:
    """Return the seconds the system has slept since its start, by which the monotonic clock is behind others."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


def corrected_wall_s(wall_s: float, away_s: float, reported_s: float | None) -> float:
    """Correct a duration by the reported time of its end, if nobody looked for `away_s`.

    What is told comes from another clock, or from the files of what ran: it never leads out of what is certain.
    """
    if away_s <= TICK_S or reported_s is None:
        return wall_s
    return min(wall_s, max(reported_s, wall_s - away_s - TICK_S))


def run(  # noqa: PLR0913 - all that a process is given, every one by name
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    log: Path,
    timeout_s: float | None,
    stop: Stop,
    watch: Watch | None = None,
) -> Finished:
    """Run a command to its end with its output appended to `log`.

    Nothing of its process group outlives the call.

    Raises `StartError` where it cannot be started.
    """
    began = time.perf_counter()
    with BoundedLog(log) as bounded:
        process = _start(command, environment, folder, subprocess.STDOUT)
        started = time.perf_counter()
        done = threading.Event()
        pump = threading.Thread(target=_pump, args=(process.stdout, bounded), daemon=True)
        pump.start()
        threading.Thread(target=_announce_exit, args=(process.pid, done), daemon=True).start()
        try:
            waited = wait(done, timeout_s=timeout_s, stop=stop, watch=watch)
            cause = waited.cause
            if cause is Cause.TIMED_OUT and _has_exited(process.pid):
                cause = Cause.EXITED
        finally:
            ended = time.perf_counter()
            _end_group(process)
            # A grandchild that left the group may hold the pipe open; its words are not worth waiting for.
            pump.join(1.0)
    if cause is Cause.EXITED and process.returncode != 0 and stop.is_set():
        # A scheduler that ends a job signals every process of it: this one did not fail by itself.
        cause = Cause.STOPPED
    code = process.returncode if cause is Cause.EXITED else None
    return Finished(cause, code, ended - began, started - began, bounded.omitted_bytes, waited.away_s)


def capture(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    timeout_s: float,
    stdin: bytes | None = None,
) -> Captured:
    """Run a short command, with `stdin` to read where there is any, and give back what it said.

    Raises `StartError` where it cannot be started.
    """
    process = _start(
        command, environment, folder, subprocess.PIPE, subprocess.DEVNULL if stdin is None else subprocess.PIPE
    )
    try:
        try:
            output, errors = process.communicate(stdin, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            # Once more, for what this process has not seen: it may have been stopped itself.
            output, errors = process.communicate(timeout=TICK_S)
        return Captured(process.returncode, output.decode("utf-8", "replace"), errors.decode("utf-8", "replace"))
    except subprocess.TimeoutExpired:
        return Captured(None, "", f"no answer within {timeout_s:g} s")
    finally:
        _end_group(process)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                with contextlib.suppress(BrokenPipeError):  # what it did not read it did not want
                    stream.close()


def page(command: Sequence[str], text: bytes, environment: Mapping[str, str]) -> bool:
    """Show a text on the terminal by a pager, until its reader leaves it. Return false if it cannot be started."""
    try:
        pager = subprocess.Popen(command, stdin=subprocess.PIPE, env=dict(environment))  # noqa: S603 - the user names it
    except OSError:
        return False
    # Ctrl-C is the pager's: it stops a search there, and ends nothing.
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with contextlib.suppress(BrokenPipeError):
            pager.communicate(text)
        pager.wait()
    finally:
        signal.signal(signal.SIGINT, handler)
    return True


def _start(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    errors: int,
    stdin: int = subprocess.DEVNULL,
) -> "subprocess.Popen[bytes]":
    search = environment.get("PATH", os.defpath)
    if shutil.which(command[0], path=search) is None:
        there = shutil.which(command[0], mode=os.F_OK, path=search) is not None
        raise StartError(f"{command[0]}: {'may not be executed' if there else 'there is no such program'}")
    try:
        return subprocess.Popen(  # noqa: S603 - a list, never a shell; the commands are our own
            [*_dies_with_us(), *command], env=dict(environment), cwd=folder, stdin=stdin,
            stdout=subprocess.PIPE, stderr=errors, start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise StartError(f"{command[0]}: cannot be started: {getattr(error, 'strerror', None) or error}") from error


def _dies_with_us() -> tuple[str, ...]:
    # A killed orchestrator must not leave a benchmark behind that disturbs the next one.
    setpriv = shutil.which("setpriv", path=os.defpath)
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()


def _announce_exit(pid: int, done: threading.Event) -> None:
    # WNOWAIT leaves a zombie behind, so that the group's id cannot be given away before the group is killed.
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    except ChildProcessError:
        pass  # reaped by the one who killed it
    finally:
        done.set()


def _has_exited(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    except ChildProcessError:
        return True


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _pump(stream: IO[bytes], log: BoundedLog) -> None:
    with stream:
        while data := os.read(stream.fileno(), 65536):
            log.write(data)
