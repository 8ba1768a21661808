"""The jobs of a system that wait, found by their length without a look at all of them."""

import bisect
import math
from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Generic, TypeVar

from orchestrator.domain import System

_ALIKE = 1.1
"""Lengths within such a factor count as equal, as estimates are no better than that."""
_SHORTEST_S = 0.1
_LOOKS = 16
"""So many jobs of like length are looked at, however many there are."""

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class SlotJob(Generic[Entry]):
    """Work that is done one entry after the other on the same GPUs, such as a repeat of all cells of a group."""

    block: int
    group: Hashable
    """The jobs of a group rotate over the GPUs."""
    system: System
    expected_s: float
    entries: tuple[Entry, ...]
    before: frozenset[str] = frozenset()
    """UUIDs of the GPUs that other entries of it have run on before an interruption, which it waits for."""

    def rest(self, entries: tuple[Entry, ...], before: Iterable[str]) -> "SlotJob[Entry]":
        """Return what is left of a job that was broken off on some GPUs."""
        expected_s = self.expected_s * len(entries) / len(self.entries)
        return replace(self, expected_s=expected_s, entries=entries, before=frozenset(before))


class WaitingJobs(Generic[Entry]):
    """The jobs of a system in a block. The order in which they are added decides between those of like length."""

    def __init__(self) -> None:
        self._by_length: dict[int, deque[SlotJob[Entry]]] = {}
        self._lengths: list[int] = []
        """Ascending."""

    def __bool__(self) -> bool:
        """Return true while a job waits."""
        return bool(self._lengths)

    def add(self, job: SlotJob[Entry]) -> None:
        """Add a job behind those of like length."""
        length = _length(job.expected_s)
        if length not in self._by_length:
            self._by_length[length] = deque()
            bisect.insort(self._lengths, length)
        self._by_length[length].append(job)

    def longest(self) -> Sequence[SlotJob[Entry]]:
        """Return the first jobs of the greatest length."""
        return self._first(self._lengths[-1])

    def longest_within(self, limit_s: float) -> Sequence[SlotJob[Entry]]:
        """Return the first jobs of the greatest length that are expected to end in time, none if there is no such job.

        Only some of the jobs about as long as the limit are looked at. If those take longer, shorter ones are returned.
        """
        limit = _length(limit_s)
        in_time = [job for job in self._first(limit) if job.expected_s <= limit_s]
        shorter = bisect.bisect_left(self._lengths, limit)
        return in_time or (self._first(self._lengths[shorter - 1]) if shorter else [])

    def take(self, job: SlotJob[Entry]) -> None:
        """Remove one of the jobs that were returned."""
        length = _length(job.expected_s)
        self._by_length[length].remove(job)  # which is among the first ones
        if not self._by_length[length]:
            del self._by_length[length]
            self._lengths.remove(length)

    def _first(self, length: int) -> list[SlotJob[Entry]]:
        return list(islice(self._by_length.get(length, ()), _LOOKS))


def _length(seconds: float) -> int:
    """Return a number that is the same for times within a tenth of each other, and greater for longer ones."""
    return round(math.log(max(seconds, _SHORTEST_S), _ALIKE))
