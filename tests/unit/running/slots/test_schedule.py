"""The placing of jobs on GPUs."""

import random
from collections import defaultdict
from dataclasses import replace

import pytest

from orchestrator.domain import System
from orchestrator.running.slots.schedule import Schedule
from orchestrator.running.slots.waiting import SlotJob
from tests.unit.running.slots.virtual_host import (
    FOUR,
    GPUS,
    ONE,
    POOLS,
    TWO,
    a_job,
    bound_s,
    collisions,
    mixed_jobs,
    play,
)

CPU = System("cpu")


@pytest.mark.parametrize("seed", range(20))
def test_mixed_jobs_reach_the_bound(seed: int) -> None:
    """64 jobs of 1, 2 and 4 GPUs take at most 5 % longer than the area over the GPUs, and never meet on one."""
    jobs = mixed_jobs(seed)
    played = play(Schedule(jobs, POOLS))

    assert len(played) == len(jobs)
    assert collisions(played) == []
    assert max(each.end_s for each in played) <= 1.05 * bound_s(jobs)


@pytest.mark.parametrize("seed", range(5))
def test_wrong_estimates_lose_no_job(seed: int) -> None:
    """Jobs that take a quarter to four times what was expected all run, never two on one GPU."""
    drawn = random.Random(seed)
    jobs = mixed_jobs(seed, blocks=3)
    factors = {job.entries[0]: drawn.uniform(0.25, 4) for job in jobs}
    played = play(Schedule(jobs, POOLS), lambda job: factors[job.entries[0]] * job.expected_s)

    assert sorted(each.name for each in played) == sorted(job.entries[0] for job in jobs)
    assert collisions(played) == []


def test_jobs_of_the_host_run_alone() -> None:
    jobs = [a_job(f"cpu-{number}", CPU, block=number) for number in range(3)]
    played = play(Schedule([*mixed_jobs(1, blocks=3), *jobs], POOLS))
    alone = [each for each in played if each.placed.job.system is CPU]

    assert len(alone) == 3
    assert not [(one.name, other.name) for one in alone for other in played if one is not other and one.meets(other)]


def test_blocks_come_in_turn() -> None:
    """No job begins while two earlier blocks still have waiting ones."""
    played = play(Schedule(mixed_jobs(3, blocks=5), POOLS))
    last_begin = [max(each.begin_s for each in played if each.placed.job.block == block) for block in range(5)]

    for each in played:
        assert all(last_begin[block] <= each.begin_s for block in range(each.placed.job.block - 1))


def test_wide_job_is_not_starved() -> None:
    """Short jobs pass one of eight GPUs only if they end before it could begin."""
    eight = System("8_gpu", gpus=8)
    long = a_job("long", ONE, 100.0)
    wide = a_job("wide", eight, 10.0, block=1)
    short = [a_job(f"short-{number}", ONE, 30.0, block=1) for number in range(40)]
    played = {each.name: each for each in play(Schedule([long, wide, *short], {**POOLS, eight: GPUS}))}

    assert played["wide"].begin_s == 100.0
    assert sum(each.begin_s < 100.0 for each in played.values()) > 1


def test_groups_rotate_over_the_gpus() -> None:
    """Sixteen repeats of a group come on most of eight GPUs, though one GPU at a time gets free."""
    jobs = [a_job(f"{group}-{block}", ONE, 10.0, block, group) for block in range(16) for group in "abcdefgh"]
    used = defaultdict(set)
    for each in play(Schedule(jobs, POOLS)):
        used[each.placed.job.group] |= each.uuids

    assert min(len(uuids) for uuids in used.values()) >= 6


def test_several_gpus_are_near_each_other() -> None:
    """Jobs of two GPUs come on pairs with a link, jobs of four on one NUMA node."""
    linked = tuple(replace(gpu, nvlinks=(gpu.index ^ 1,)) for gpu in GPUS)
    jobs = [a_job(f"{system.name}-{number}", system) for system in (TWO, FOUR) for number in range(8)]
    for each in play(Schedule(jobs, {TWO: linked, FOUR: linked})):
        indices = sorted(gpu.index for gpu in each.placed.gpus)
        assert indices in ([[0, 1], [2, 3], [4, 5], [6, 7]] if len(indices) == 2 else [[0, 1, 2, 3], [4, 5, 6, 7]])


def test_only_suitable_gpus_are_given() -> None:
    half = System("half", gpus=1, gpu="Half*")
    jobs = [a_job(f"half-{number}", half) for number in range(9)]
    played = play(Schedule([*jobs, *mixed_jobs(2)], {**POOLS, half: GPUS[4:6]}))

    assert {uuid for each in played if each.placed.job.system is half for uuid in each.uuids} == {"GPU-4", "GPU-5"}


def test_interrupted_job_goes_on_where_it_was() -> None:
    job = SlotJob(0, "group", ONE, 10.0, ("left",), frozenset({"GPU-6"}))
    (first, *_) = play(Schedule([job, a_job("other", ONE, 1.0)], POOLS))

    assert first.uuids == {"GPU-6"}


def test_interrupted_job_waits_for_its_gpu() -> None:
    """Others of like length pass it. None that is as long comes before it on its own GPU."""
    jobs = [a_job("long", ONE, 20.0), SlotJob(0, "group", ONE, 10.0, ("left",), frozenset({"GPU-1"}))]
    jobs += [a_job(f"other-{number}", ONE, 10.0) for number in range(4)]
    schedule = Schedule(jobs, {ONE: GPUS[1:3]})
    played = {each.name: each for each in play(schedule)}

    assert (played["long"].uuids, played["left"].uuids) == ({"GPU-1"}, {"GPU-1"})
    assert played["left"].begin_s == 20.0
    assert min(each.begin_s for name, each in played.items() if "other" in name) == 0.0


def test_interrupted_job_takes_another_gpu_for_a_failed_one() -> None:
    """One of several GPUs keeps those that are left."""
    job = SlotJob(0, "group", TWO, 10.0, ("left",), frozenset({"GPU-4", "GPU-5"}))
    schedule = Schedule([job], POOLS)
    schedule.leave_out(frozenset({"GPU-4"}))
    (played,) = play(schedule)

    assert len(played.uuids) == 2
    assert "GPU-5" in played.uuids
    assert "GPU-4" not in played.uuids


def test_jobs_of_like_length_are_drawn() -> None:
    """The order in which they are given decides between jobs whose expected times are within a tenth."""
    jobs = [a_job(name, ONE, seconds) for name, seconds in (("a", 10.0), ("b", 10.1), ("c", 10.05), ("long", 15.0))]
    schedule = Schedule(jobs, {ONE: GPUS[:1]})

    assert [each.name for each in play(schedule)] == ["long", "a", "b", "c"]


def test_failed_gpus_get_no_further_jobs() -> None:
    """Jobs of systems that have too few GPUs left are given none, one at a time."""
    jobs = [*(a_job(f"{number}", ONE) for number in range(9)), a_job("four", FOUR)]
    schedule = Schedule(jobs, {ONE: GPUS[:2], FOUR: GPUS[:4]})
    first = schedule.place(0.0)
    schedule.leave_out(frozenset({"GPU-0"}))
    assert first
    schedule.done(first)
    played = {each.name: each for each in play(schedule)}

    assert {uuid for each in played.values() for uuid in each.uuids} == {"GPU-1"}
    assert sorted([*played, *first.job.entries]) == [*map(str, range(9)), "four"]


def test_system_with_too_few_gpus_waits_for_none() -> None:
    """Its jobs run alone, and never wait for GPUs that the host does not have."""
    played = play(Schedule([a_job("four", FOUR), a_job("one", ONE)], {ONE: GPUS, FOUR: GPUS[:3]}))

    assert {each.name: len(each.uuids) for each in played} == {"four": 0, "one": 1}
