"""Jobs carried out at once, each in a thread of its own, as a schedule places them."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Generic, TypeVar

from orchestrator.running.slots.schedule import PlacedJob, Schedule

Entry = TypeVar("Entry")
Result = TypeVar("Result")


class Neighbours:
    """The names of what runs at the moment, and for each all that ran at any time beside it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._beside: dict[str, set[str]] = {}

    @contextmanager
    def present(self, name: str) -> Iterator[Callable[[], tuple[str, ...]]]:
        """Announce what runs, and give a function that returns the names of all that has run beside it so far."""
        with self._lock:
            mine = set(self._beside)
            for others in self._beside.values():
                others.add(name)
            self._beside[name] = mine
        try:
            yield lambda: self._seen(mine)
        finally:
            with self._lock:
                del self._beside[name]

    def _seen(self, mine: set[str]) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(mine))


def _nothing() -> frozenset[str]:
    return frozenset()


class JobsAtOnce(Generic[Entry, Result]):
    """The carrying out of a schedule. Work on the entries of one job is done one after the other.

    `left_out` returns the UUIDs of GPUs that are used no more. A job on one of them is broken off, and what is left of
    it waits for other GPUs.
    """

    def __init__(
        self,
        schedule: Schedule[Entry],
        work: Callable[[Entry, PlacedJob[Entry]], Result],
        clock: Callable[[], float],
        left_out: Callable[[], frozenset[str]] = _nothing,
    ) -> None:
        self._schedule = schedule
        self._work = work
        self._clock = clock
        self._left_out = left_out
        self._ended: SimpleQueue[Result | _End[Entry]] = SimpleQueue()
        self._threads: dict[int, threading.Thread] = {}
        self._given_up = threading.Event()

    def results(self) -> Iterator[Result]:
        """Give the results as they come. An error of the work is raised once all that runs has ended."""
        error: BaseException | None = None
        try:
            while self._schedule if error is None else self._threads:
                while error is None and (placed := self._next()):
                    self._start(placed)
                ended = self._ended.get()
                if not isinstance(ended, _End):
                    yield ended
                    continue
                self._threads.pop(id(ended.placed)).join()
                self._schedule.done(ended.placed)
                if ended.left:
                    self._schedule.add([ended.placed.job.rest(ended.left, {gpu.uuid for gpu in ended.placed.gpus})])
                if ended.error is not None:
                    error = error or ended.error
                    self._given_up.set()
        finally:
            self._given_up.set()
            for thread in self._threads.values():
                thread.join()
        if error is not None:
            raise error

    def _next(self) -> PlacedJob[Entry] | None:
        self._schedule.leave_out(self._left_out())
        return self._schedule.place(self._clock())

    def _start(self, placed: PlacedJob[Entry]) -> None:
        thread = threading.Thread(target=self._carry_out, args=(placed,), name=f"slot of {len(placed.gpus)} GPUs")
        self._threads[id(placed)] = thread
        thread.start()

    def _carry_out(self, placed: PlacedJob[Entry]) -> None:
        error: BaseException | None = None
        left: tuple[Entry, ...] = ()
        own = {gpu.uuid for gpu in placed.gpus}
        try:
            for number, entry in enumerate(placed.job.entries):
                if self._given_up.is_set():
                    break
                if own & self._left_out():
                    left = placed.job.entries[number:]
                    break
                self._ended.put(self._work(entry, placed))
        except BaseException as raised:
            error = raised
        self._ended.put(_End(placed, error, left))


class _End(Generic[Entry]):
    """The end of a job, or of a part of it after which its GPUs were used no more."""

    def __init__(self, placed: PlacedJob[Entry], error: BaseException | None, left: tuple[Entry, ...]) -> None:
        self.placed = placed
        self.error = error
        self.left = left
