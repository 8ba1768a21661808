"""The arrays that wait for others where the nodes of a run at a time are bounded."""

import itertools
import random

import pytest

from orchestrator.clusters.arrays import JobArray
from orchestrator.clusters.parts import NodeNeeds
from orchestrator.clusters.record import JobEnd, JobsRecord, Submission
from orchestrator.clusters.states import JobState
from orchestrator.clusters.turns import array_of_its_lane, arrays_before

NEEDS = NodeNeeds()


def submitted(*sizes: tuple[int, int]) -> JobsRecord:
    """Return the record of arrays, each of so many tasks and nodes for each task."""
    names = iter(f"{number:03}" for number in itertools.count())
    submissions = [
        Submission(f"a-{number}", tuple(next(names) for _ in range(tasks)), number, nodes)
        for number, (tasks, nodes) in enumerate(sizes, 1)
    ]
    return JobsRecord(submissions=tuple(submissions))


def array(tasks: int, nodes: int = 1) -> JobArray:
    return JobArray(tuple(f"new-{number}" for number in range(tasks)), 10, NEEDS, nodes)


@pytest.mark.parametrize(
    ("sizes", "new", "at_once", "before"),
    [
        (((9, 1),), array(1), None, ()),
        ((), array(9), 4, ()),
        (((9, 1),), array(1), 4, (1,)),
        (((1, 1), (1, 1)), array(1), 4, ()),
        (((1, 1), (1, 1)), array(3), 4, (1,)),
        (((1, 1), (1, 1)), array(4), 4, (1, 2)),
        (((1, 2), (2, 1)), array(1, 2), 4, (1,)),
        (((9, 1), (1, 1), (1, 1)), array(1), 3, (1,)),
        (((1, 1),) * 5, array(1), 2, (3, 4)),
    ],
)
def test_small_arrays_run_side_by_side(
    sizes: tuple[tuple[int, int], ...], new: JobArray, at_once: int | None, before: tuple[int, ...]
) -> None:
    assert arrays_before(new, submitted(*sizes), at_once) == before


def test_what_has_ended_is_not_waited_for() -> None:
    jobs = submitted((2, 1), (2, 1))
    ends = {"000": JobEnd("1_0", JobState.COMPLETED), "001": JobEnd("1_1", JobState.TIMEOUT)}
    ended = jobs.model_copy(update={"ends": ends})

    assert arrays_before(array(2), jobs, 2) == (1, 2)
    assert arrays_before(array(2), ended, 2) == (2,)
    again = ended.model_copy(update={"submissions": (*ended.submissions, Submission("a-3", ("002", "003"), 3))})
    assert arrays_before(array(2), again, 2) == (3,)


def test_a_lane_has_one_array_at_a_time() -> None:
    jobs = submitted(*[(1, 1)] * 5)

    assert [array_of_its_lane(jobs, at_once) for at_once in (None, 1, 3, 5, 6)] == [(), (5,), (3,), (1,), ()]


@pytest.mark.parametrize("seed", range(20))
def test_a_bound_holds_whenever_arrays_end(seed: int) -> None:
    """Arrays of random sizes begin as soon as those that they wait for have ended, in a random order."""
    chance = random.Random(seed)
    at_once = chance.randint(1, 6)
    sizes = [(chance.randint(1, 4), chance.randint(1, at_once)) for _ in range(30)]
    jobs, waits = JobsRecord(), {}
    for number, (tasks, nodes) in enumerate(sizes, 1):
        waits[number] = set(arrays_before(array(tasks, nodes), jobs, at_once))
        new = Submission(f"a-{number}", tuple(f"{number}-{task}" for task in range(tasks)), number, nodes)
        jobs = jobs.model_copy(update={"submissions": (*jobs.submissions, new)})
    ended: set[int] = set()
    while len(ended) < len(sizes):
        running = [number for number in waits if number not in ended and waits[number] <= ended]
        used = sum(min(tasks, max(1, at_once // nodes)) * nodes for tasks, nodes in (sizes[n - 1] for n in running))
        assert 0 < used <= at_once
        ended.add(chance.choice(running))
