"""The runs of a results folder that are under way, looked at again and again by one reader for all viewers."""

import os
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.results.names import PARTS
from orchestrator.results.results_folder import pending
from orchestrator.server.state import TIMED, State, Story, cells, head
from orchestrator.server.tail import EventTail, FileId, file_id

SEARCH_S = 5.0
"""The shortest time between two searches for runs that have begun."""
_REST = 50
"""Times as long as a search took is the pause after it."""
_MOST_OVER = 8
"""Runs that are shown after their end."""
_BROKEN = (ArithmeticError, LookupError, OSError, TypeError, ValueError)
"""The errors that a file of events may lead to, if somebody else has written it."""


@dataclass(frozen=True, slots=True)
class RunChange:
    """The news of a run, or its whole state if `whole`."""

    run: str
    head: State
    cells: dict[str, list[Any]]
    whole: bool = False


@dataclass(slots=True)
class _Watched:
    """A run that is under way, with what was told of it last."""

    folder: Path
    tail: EventTail
    story: Story = field(default_factory=Story)
    head: State = field(default_factory=dict)
    cells: dict[str, list[Any]] = field(default_factory=dict)
    held: tuple[object, object] | None = None
    """The states and rates that the cells were made of. Whenever one changes, there is another object."""

    def change(self, run: str, now_s: float) -> RunChange | None:
        """Read on, and return what is new."""
        is_alive = self.tail.is_alive  # before its last events are read
        for event, at in self.tail.events():
            try:
                self.story.tell(event, at)
            except _BROKEN:
                continue
        new = head(self.story, self.folder, now_s, self.head, is_alive=is_alive)
        changed, is_whole = self._changed_cells()
        is_whole = is_whole or not self.head
        if new == self.head and not changed and not is_whole:
            return None
        self.head = new
        return RunChange(run, new, self.cells if is_whole else changed, is_whole)

    def _changed_cells(self) -> tuple[dict[str, list[Any]], bool]:
        """Return the cells that are new or have changed, and true if others have gone."""
        progress = self.story.progress
        if self.held is not None and self.held[0] is progress.cells and self.held[1] is progress.rates:
            return {}, False
        self.held = progress.cells, progress.rates
        before, self.cells = self.cells, cells(progress)
        changed = {cell: state for cell, state in self.cells.items() if before.get(cell) != state}
        return changed, before.keys() != self.cells.keys()


class Lookout:
    """The reader. It is used by one thread at a time."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._watched: dict[str, _Watched] = {}
        self._settled: dict[str, FileId] = {}
        """Files of events whose writers have gone."""
        self._over: deque[str] = deque()
        self._states: dict[str, RunChange] = {}
        self._search_at_s = 0.0
        self._listed: object = None
        self.changes = 0
        """Rises if something was measured, or runs came or went, since which the site is older than its files."""

    def look(self, now_s: float) -> tuple[list[RunChange], list[str]]:
        """Return what is new, and the names of runs that are shown no more."""
        if now_s >= self._search_at_s:
            began = time.perf_counter()
            self._search()
            self._search_at_s = now_s + max(SEARCH_S, _REST * (time.perf_counter() - began))
        new: list[RunChange] = []
        for run, watched in list(self._watched.items()):
            ended = watched.story.ended
            try:
                change = watched.change(run, now_s)
            except _BROKEN:
                self._leave(run)
                self._states.pop(run, None)
                continue
            self.changes += watched.story.ended != ended
            if change is None:
                continue
            new.append(change)
            self._states[run] = RunChange(run, watched.head, watched.cells, whole=True)
            if watched.head["over"]:
                self._leave(run)
                self._over.append(run)
                self.changes += 1
        gone = []
        while len(self._over) > _MOST_OVER:
            gone.append(self._over.popleft())
            self._states.pop(gone[-1], None)
        return new, gone

    @property
    def states(self) -> list[RunChange]:
        """Return all that is shown, the run that began last first."""
        return sorted(self._states.values(), key=lambda each: each.head["began"] or 0.0, reverse=True)

    @property
    def early(self) -> frozenset[str]:
        """Return the runs under way in which nothing is timed at the moment."""
        return frozenset(
            run
            for run, watched in self._watched.items()
            if not any(item["phase"] in TIMED for item in watched.head.get("running", ()))
        )

    def close(self) -> None:
        """Close the files of all runs."""
        for run in list(self._watched):
            self._leave(run)

    def _search(self) -> None:
        listed = []
        for run, folder in _run_folders(self._results):
            listed.append(run)
            found = file_id(folder)
            if found is None or self._settled.get(run) == found:
                continue
            watched = self._watched.get(run)
            if watched is not None and watched.tail.file_id == found:
                continue
            self._begin(run, Path(folder), is_known=watched is not None)
        for run in self._watched.keys() - set(listed):
            self._leave(run)
            self._states.pop(run, None)
        if listed != self._listed:
            self.changes += self._listed is not None
            self._listed = listed

    def _begin(self, run: str, folder: Path, *, is_known: bool) -> None:
        try:
            tail = EventTail(folder)
        except OSError:
            return
        if is_known:
            self._leave(run)
        if not tail.is_alive and not is_known:
            self._settled[run] = tail.file_id
            tail.close()
            return
        if run in self._over:
            self._over.remove(run)
        self._watched[run] = _Watched(folder, tail)

    def _leave(self, run: str) -> None:
        watched = self._watched.pop(run)
        self._settled[run] = watched.tail.file_id
        watched.tail.close()


def _run_folders(results: Path) -> Iterator[tuple[str, str]]:
    """Yield every folder that may be one of a run, with the name of the run: those of parts of a run on a cluster too.

    Runs of a search lie one folder deeper.
    """
    hidden = pending(results)
    for entry in _folders(str(results)):
        if entry.name in hidden or entry.name.startswith("."):
            continue
        yield entry.name, entry.path
        if entry.name.startswith("bisect-"):
            yield from ((f"{entry.name}/{inner.name}", inner.path) for inner in _folders(entry.path))
        for part in _folders(f"{entry.path}/{PARTS}"):
            for node in _folders(part.path):
                yield f"{entry.name}/{PARTS}/{part.name}/{node.name}", node.path


def _folders(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((each for each in entries if each.is_dir(follow_symlinks=False)), key=lambda each: each.name)
    except OSError:
        return []
