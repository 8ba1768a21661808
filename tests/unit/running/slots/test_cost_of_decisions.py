"""The cost of decisions, counted in lines that run and not in time."""

import statistics
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import pytest

from bench.hosts import slots
from orchestrator.running.slots import schedule, waiting
from orchestrator.running.slots.waiting import SlotJob

COUNTED = {schedule.__file__, waiting.__file__}
EVERY = 16
"""One of so many decisions is counted, as counting slows it down a hundredfold."""


class CountedSchedule(schedule.Schedule[int]):
    """A schedule that counts the lines of its code that run in a decision."""

    def __init__(self, jobs: Sequence[SlotJob[int]]) -> None:
        super().__init__(jobs, slots.POOLS)
        self.lines: list[int] = []
        self.decisions = 0

    def place(self, now_s: float) -> schedule.PlacedJob[int] | None:
        self.decisions += 1
        if self.decisions % EVERY:
            return super().place(now_s)
        self.lines.append(0)
        before = sys.gettrace()
        sys.settrace(self.trace)
        try:
            return super().place(now_s)
        finally:
            sys.settrace(before)

    def trace(self, frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename not in COUNTED:
            return None
        self.lines[-1] += event == "line"
        return self.trace


def lines_of(jobs: Sequence[SlotJob[int]]) -> list[int]:
    """Return the lines of the counted decisions, from the first job to the last."""
    counted = CountedSchedule(jobs)
    slots.played_s(counted)
    return counted.lines


@pytest.mark.parametrize("jobs", [slots.hard_jobs, lambda number: slots.jobs(number, 1)], ids=["hard", "mixed"])
def test_a_decision_costs_the_same_among_more(jobs: Callable[[int], Sequence[SlotJob[int]]]) -> None:
    """So all of them cost linearly, and of many jobs of like length few are looked at."""
    few, many = lines_of(jobs(1_000)), lines_of(jobs(10_000))

    assert len(many) > 9 * len(few) > 9 * 1_000 / EVERY
    assert statistics.mean(many) <= 1.25 * statistics.mean(few)
    assert max(many) <= 1.25 * max(few)
