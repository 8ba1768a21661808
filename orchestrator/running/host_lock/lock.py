"""Locks by which one run at a time measures on a host, since two would share its CPUs.

The kernel's lock of one file decides who measures, with older versions of this program too. Who waits for it stands in
a queue, in order of arrival, and takes one repeat in turn: a run that has just measured goes to its end.

A cell that has a share of the host only, its own GPUs, shares that lock with its like, and locks a file for each of its
GPUs in the same way.
"""

import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from orchestrator import processes
from orchestrator.events import Listener, Notice
from orchestrator.processes import Stop
from orchestrator.running.host_lock.queue import Holder, QueueLook, Ticket, measuring

_READABLE = 0o644
"""Reading is all it takes to lock a file: other users can take their turn and cannot change it."""
_CAREFULLY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_BETWEEN_TURNS_LOOKS = 2
"""So many looks in a row must show no holder by name before that is told: between two turns there is none."""
_REPORTED_AGAIN_S = 60.0
"""After so much waiting, another cell of a run that was named before is told."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The run and cell that a turn is taken for."""

    run: str
    cell: str
    clock: Callable[[], datetime]
    """The time in UTC."""


class Turns:
    """The turns of one run on a host, one for each lock file.

    One object serves all repeats of a run, so that what it has told of its waiting is not told for each of them.
    """

    def __init__(self, files: Sequence[Path] = (), monotonic: Callable[[], float] = time.monotonic) -> None:
        self._files = files
        self._notes = WaitingNotes(monotonic)
        self._reported: set[str] = set()

    @contextmanager
    def taken(self, turn: Turn, listener: Listener, stop: Stop, gpus: Sequence[str] = ()) -> Iterator[bool]:
        """Wait for every turn and take it. Yield false if the run is stopped meanwhile.

        With `gpus`, their UUIDs, it is the turn on these alone, beside others that name theirs.
        A file that cannot be locked is told once, and measuring goes on without it.
        """
        # In one order for all, or two runs that want the same GPUs could wait for each other.
        own = [file.with_name(f"{file.stem}-{uuid}{file.suffix}") for file in self._files for uuid in sorted(gpus)]
        wanted = [*(_Wanted(file, shared=bool(gpus)) for file in self._files), *(_Wanted(file) for file in own)]
        with ExitStack() as taken:
            yield all(self._wait(each, turn, taken, listener, stop) for each in wanted)

    def others(self, run: str) -> frozenset[str]:
        """Return the cells that other runs measure on this host at the moment, with the names of their runs."""
        holders = (holder for file in self._files for holder in measuring(file))
        return frozenset(f"{holder.cell} (run {holder.run})" for holder in holders if holder.run != run)

    def _wait(self, wanted: "_Wanted", turn: Turn, taken: ExitStack, listener: Listener, stop: Stop) -> bool:
        file = wanted.file
        with ExitStack() as waiting:
            ticket = self._ticket(file, waiting, listener)
            self._notes.begin()
            while not stop.is_set():
                look = _look(ticket)
                try:
                    if not look.ahead:
                        taken.callback(os.close, _locked(wanted))
                        if ticket:
                            ticket.measure(Holder(turn.run, turn.cell, turn.clock()))
                        taken.push(waiting.pop_all())  # the ticket says who measures until the turn is over
                        return True
                except BlockingIOError:
                    pass
                except OSError as error:
                    why = error.strerror or error
                    self._report(f"{file}: {why}; another run could measure on this host at the same time", listener)
                    return True
                text = self._notes.new(look)
                if text:
                    listener(Notice(text))
                time.sleep(processes.TICK_S)
        return False

    def _ticket(self, file: Path, waiting: ExitStack, listener: Listener) -> Ticket | None:
        try:
            ticket = Ticket.draw(file)
        except OSError as error:
            if file.parent.is_dir():
                why = error.strerror or error
                self._report(f"{file}: no queue: {why}; runs of this host take turns in no order", listener)
            return None
        waiting.callback(ticket.close)
        return ticket

    def _report(self, text: str, listener: Listener) -> None:
        if text not in self._reported:
            self._reported.add(text)
            listener(Notice(text))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A file to lock, for one alone or shared with others."""

    file: Path
    shared: bool = False


def _look(ticket: Ticket | None) -> QueueLook:
    with suppress(OSError):  # the folder of the queue has gone, or its disk is full: the lock decides alone
        return ticket.look() if ticket else QueueLook()
    return QueueLook()


class WaitingNotes:
    """The notices of a waiting run, on the run that measures and the number that wait before it.

    It is told when the run that measures, or the number of those before this one, is another. Runs that take turns
    come back to the same few states, and one run goes from cell to cell: of a state that was told, nothing new is told
    for the next minute of waiting.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._looked = monotonic()
        self._waited_s = 0.0
        """In all waits of the run together."""
        self._reported_at_s: dict[tuple[str | None, int], float] = {}
        self._last = ""
        self._nameless = 0

    def begin(self) -> None:
        """Begin to wait anew."""
        self._looked = self._monotonic()
        self._nameless = 0

    def new(self, look: QueueLook) -> str | None:
        """Return the notice after a further look, or None if nothing is new."""
        now = self._monotonic()
        self._waited_s, self._looked = self._waited_s + now - self._looked, now
        self._nameless = 0 if look.holder else self._nameless + 1
        if not look.holder and self._nameless < _BETWEEN_TURNS_LOOKS:
            return None
        state, text = (look.holder.run if look.holder else None, look.ahead), waiting_text(look.holder, look.ahead)
        reported_at_s = self._reported_at_s.get(state)
        if reported_at_s is not None and (text == self._last or self._waited_s - reported_at_s < _REPORTED_AGAIN_S):
            return None
        self._reported_at_s[state], self._last = self._waited_s, text
        return text


def waiting_text(holder: Holder | None, ahead: int) -> str:
    """Return the notice of a run that waits.

    Such as `run R measures CELL on this host since …; 2 runs wait before this one`.
    """
    if holder is None:
        now = "another run measures on this host"
    else:
        since = f" since {holder.since:%Y-%m-%d %H:%M:%S} UTC" if holder.since else ""
        now = f"run {holder.run} measures {holder.cell} on this host{since}"
    queue = {0: "this run is next", 1: "1 run waits before this one"}.get(ahead, f"{ahead} runs wait before this one")
    return f"{now}; {queue}"


def _locked(wanted: _Wanted) -> int:
    """Open and lock a file that other users may lock too. Raises `BlockingIOError` if it is locked, or `OSError`.

    In a folder that everybody may write to, the file may be anybody's, and may be no file at all.
    """
    wanted.file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = _opened(wanted.file)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "is no plain file")
        fcntl.flock(descriptor, (fcntl.LOCK_SH if wanted.shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _opened(file: Path) -> int:
    """Open it with the rights this user has, or make it.

    Some kernels refuse to open another user's file with `O_CREAT`.
    """
    for how in (os.O_RDWR, os.O_RDONLY):
        try:
            return os.open(file, how | _CAREFULLY)
        except PermissionError:
            continue
        except FileNotFoundError:
            break
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | _CAREFULLY, _READABLE)
    except FileExistsError:  # made by another run between the two
        return os.open(file, os.O_RDONLY | _CAREFULLY)
    os.fchmod(descriptor, _READABLE)  # whatever the umask
    return descriptor
