"""The one module that starts processes of this host, and what waiting for them has in common with containers."""

import contextlib
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
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol, Self

from orchestrator.files import open_to_append, read_tail

LOG_BYTES = 16 * 1024 * 1024
TAIL_BYTES = 64 * 1024
LINE_CHARACTERS = 300
TICK_S = 0.5
"""How often a waiting parent looks up: often enough for people, too seldom to disturb a measurement."""

Watch = Callable[[], None]
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b.|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class Stop(Protocol):
    """Something that can say that all work must end, such as `threading.Event`."""

    def is_set(self) -> bool:
        """Whether to stop."""
        ...


class StartError(Exception):
    """A process or container that could not be started; the message is one line."""


class LostError(StartError):
    """What ran was lost with the engine that it ran on, which is no verdict on it."""


class Cause(StrEnum):
    """Why the waiting ended."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Finished:
    """How a process ended."""

    cause: Cause
    exit_code: int | None
    """None unless it ended by itself; negative for the signal that killed it."""
    wall_s: float
    start_s: float = 0.0
    """From asking for the process to having it."""
    log_omitted_bytes: int = 0
    """Of its output, what the bound of the log left out."""


@dataclass(frozen=True, slots=True)
class Captured:
    """What a short command said."""

    exit_code: int | None
    """None where it ran out of time and was killed."""
    output: str
    errors: str


class BoundedLog:
    """A log file that keeps its beginning and its end, whatever is written to it.

    A disk that is full does not raise here, and nor does a link or a pipe in its place, into which nothing is written:
    the writer must go on draining, or the one who speaks blocks.
    """

    def __init__(self, path: Path, *, limit_bytes: int = LOG_BYTES, tail_bytes: int = TAIL_BYTES) -> None:
        self._file: IO[bytes] | None = None
        with contextlib.suppress(OSError):
            self._file = open_to_append(path)
        self._room = limit_bytes - tail_bytes
        self._tail_bytes = tail_bytes
        self._tail = bytearray()
        self.omitted_bytes = 0
        """Left out so far between the beginning and the end."""

    def write(self, data: bytes) -> None:
        """Keep `data`, or what the bound leaves of it."""
        head, rest = data[: self._room], data[self._room :]
        if head:
            self._room -= len(head)
            self._append(head)
        if rest:
            self._tail += rest
            surplus = len(self._tail) - self._tail_bytes
            if surplus > 0:
                self.omitted_bytes += surplus
                del self._tail[:surplus]

    def _append(self, data: bytes) -> None:
        try:
            if self._file:
                self._file.write(data)
        except OSError:
            self.close()

    def close(self) -> None:
        """Write the kept end, with a word on what lies between, and close the file."""
        file, self._file = self._file, None
        if file is None:
            return
        omitted = f"\n[… {self.omitted_bytes} bytes left out …]\n".encode() if self.omitted_bytes else b""
        with contextlib.suppress(OSError), file:
            file.write(omitted + bytes(self._tail))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def last_line(text: str) -> str:
    """Give the last line that says something, without control characters, bounded in length; empty if there is none."""
    for line in reversed(re.split(r"[\r\n]+", text)):
        clean = " ".join(_CONTROL.sub("", line).split())
        if clean:
            return clean if len(clean) <= LINE_CHARACTERS else clean[: LINE_CHARACTERS - 1] + "…"
    return ""


def tail(path: Path) -> str:
    """Read the end of a log, at most `TAIL_BYTES`; empty where there is none."""
    return read_tail(path, TAIL_BYTES)


def wait(done: threading.Event, *, timeout_s: float | None, stop: Stop, watch: Watch | None = None) -> Cause:
    """Block until `done`, the time is over, or all must stop; `watch` is called about twice a second meanwhile."""
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    while True:
        left = TICK_S if deadline is None else min(TICK_S, deadline - time.monotonic())
        if left > 0 and done.wait(left):
            return Cause.EXITED
        if stop.is_set():
            return Cause.STOPPED
        if deadline is not None and time.monotonic() >= deadline:
            return Cause.TIMED_OUT
        if watch:
            watch()


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
    """Run a command to its end with its output appended to `log`; nothing of its process group outlives the call.

    Raises `StartError` where it cannot be started.
    """
    began = time.perf_counter()
    with BoundedLog(log) as kept:
        process = _start(command, environment, folder, subprocess.STDOUT)
        started = time.perf_counter()
        done = threading.Event()
        pump = threading.Thread(target=_pump, args=(process.stdout, kept), daemon=True)
        pump.start()
        threading.Thread(target=_announce_exit, args=(process.pid, done), daemon=True).start()
        try:
            cause = wait(done, timeout_s=timeout_s, stop=stop, watch=watch)
        finally:
            ended = time.perf_counter()
            _end_group(process)
            # A grandchild that left the group may hold the pipe open; its words are not worth waiting for.
            pump.join(1.0)
    code = process.returncode if cause is Cause.EXITED else None
    return Finished(cause, code, ended - began, started - began, log_omitted_bytes=kept.omitted_bytes)


def capture(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    timeout_s: float,
    given: bytes | None = None,
) -> Captured:
    """Run a short command, with `given` to read where there is any, and give back what it said.

    Raises `StartError` where it cannot be started.
    """
    process = _start(
        command, environment, folder, subprocess.PIPE, subprocess.DEVNULL if given is None else subprocess.PIPE
    )
    try:
        output, errors = process.communicate(given, timeout=timeout_s)
        return Captured(process.returncode, output.decode("utf-8", "replace"), errors.decode("utf-8", "replace"))
    except subprocess.TimeoutExpired:
        return Captured(None, "", f"no answer within {timeout_s:g} s")
    finally:
        _end_group(process)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                with contextlib.suppress(BrokenPipeError):  # what it did not read it did not want
                    stream.close()


def _start(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    errors: int,
    given: int = subprocess.DEVNULL,
) -> "subprocess.Popen[bytes]":
    search = environment.get("PATH", os.defpath)
    if shutil.which(command[0], path=search) is None:
        there = shutil.which(command[0], mode=os.F_OK, path=search) is not None
        raise StartError(f"{command[0]}: {'may not be executed' if there else 'there is no such program'}")
    try:
        return subprocess.Popen(  # noqa: S603 - a list, never a shell; the commands are our own
            [*_dies_with_us(), *command], env=dict(environment), cwd=folder, stdin=given,
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


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _pump(stream: IO[bytes], log: BoundedLog) -> None:
    with stream:
        while data := os.read(stream.fileno(), 65536):
            log.write(data)
