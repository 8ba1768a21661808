"""Processes that take turns on a folder of locks, forked from one that has imported all they need."""

import multiprocessing
import os
import signal
import threading
from contextlib import ExitStack
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

from orchestrator import processes
from orchestrator.running.host_lock import queue as host_queue
from orchestrator.running.host_lock.lock import Turn, Turns
from tests.until import is_stopped, until

_FORKING = multiprocessing.get_context("forkserver")
_FORKING.set_forkserver_preload([__name__])
_QUICK_TICK_S = 0.02
_NEVER_STALE_S = 3600.0
"""A run that gets no CPU for a while is not passed over; `RunInTurn.make_stale` does that."""


def _measure(lock: Path, name: str, rounds: int, user: int, release: Connection) -> None:
    """Measure in turn as a run does, and hold each turn until it is released."""
    host_queue.STALE_S = _NEVER_STALE_S
    processes.TICK_S = _QUICK_TICK_S
    with (lock.parent / f"said-{name}").open("a", buffering=1) as said:
        if user:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        os.umask(0o077)
        turns = Turns((lock,))
        for number in range(rounds):
            turn = Turn(name, f"cell-{number}", lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
            with turns.taken(turn, lambda event: said.write(f"{event.message}\n"), threading.Event()) as mine:  # type: ignore[union-attr]
                assert mine
                with (lock.parent / "order").open("a") as order:
                    order.write(name)
                release.recv_bytes()


class RunInTurn:
    """A process that measures in turn; `ticket` is its first one."""

    def __init__(self, host: "HostInTurn", name: str, rounds: int, user: int) -> None:
        self.name = name
        self._said = host.lock.parent / f"said-{name}"
        before = host.tickets()
        reading, self._release = _FORKING.Pipe(duplex=False)
        self._process = _FORKING.Process(target=_measure, args=(host.lock, name, rounds, user, reading), daemon=True)
        self._process.start()
        reading.close()
        until(lambda: host.tickets() - before or self._process.exitcode is not None)
        (self._ticket,) = host.tickets() - before
        self._queue = host.queue

    def release(self, turns: int = 1) -> None:
        """Let it end its turn, or so many of them."""
        for _ in range(turns):
            self._release.send_bytes(b".")

    def end(self) -> list[str]:
        """Wait for its end, and return the lines that it said."""
        self._process.join()
        assert self._process.exitcode == 0
        return self.said()

    def said(self) -> list[str]:
        """Return the lines that it has said so far."""
        return self._said.read_text().splitlines()

    def kill(self) -> None:
        """Kill it, whatever state it is in."""
        self._process.kill()
        self._process.join()

    def stop(self) -> None:
        """Stop it as Ctrl-Z does."""
        os.kill(self._pid, signal.SIGSTOP)
        until(lambda: is_stopped(self._pid))

    def go_on(self) -> None:
        """Let it go on after a stop."""
        os.kill(self._pid, signal.SIGCONT)

    def make_stale(self) -> None:
        """Have its first ticket look as if it had been stopped for a day."""
        (path,) = self._queue.glob(f"{self._ticket}.*")
        os.utime(path, (0, 0))

    @property
    def _pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid


class HostInTurn:
    """A folder of locks, and the runs that measure by it in turn."""

    def __init__(self, folder: Path, closing: ExitStack) -> None:
        self.lock = folder / "measuring.lock"
        self.queue = folder / "measuring.lock.queue"
        self._closing = closing
        self._runs: dict[str, RunInTurn] = {}
        (folder / "order").touch()
        (folder / "order").chmod(0o666)

    def order(self) -> str:
        """Return the names of those who had a turn so far, in order."""
        return (self.lock.parent / "order").read_text()

    def start(self, name: str, rounds: int = 1, *, user: int = 0) -> RunInTurn:
        """Start a run, and wait until it waits or measures."""
        run = self._runs[name] = RunInTurn(self, name, rounds, user)
        self._closing.callback(run.kill)
        return run

    def tickets(self) -> set[str]:
        """Return the names of all tickets without their kinds."""
        return {path.stem for path in self.queue.glob("*") if path.suffix != ".new"} if self.queue.is_dir() else set()

    def look(self, times: int = 3) -> None:
        """Wait until every run that waits has looked so often."""
        for _ in range(times):
            before = self._looked()
            until(lambda before=before: all(now != before.get(name) for name, now in self._looked().items()))

    def take_turns(self, order: str, *, before: str = "", looks: int = 0) -> None:
        """Have runs take turns in this order after those of `before`, each ended once all others wait.

        All others have then looked at least so often.
        """
        for number, name in enumerate(order):
            until(lambda number=number: self.order() == before + order[: number + 1])
            until(lambda number=number: len(self.tickets()) == len(set(order[number:])))
            self.look(looks)
            self._runs[name].release()

    def _looked(self) -> dict[str, int]:
        times = {}
        for path in self.queue.glob("*.waiting"):
            try:
                times[path.name] = path.stat().st_mtime_ns
            except FileNotFoundError:
                continue
        return times
