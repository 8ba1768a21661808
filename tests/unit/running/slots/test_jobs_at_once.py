"""The carrying out of a schedule in threads, which meet at what they wait for."""

import threading

import pytest

from orchestrator.running.slots.schedule import PlacedJob, Schedule
from orchestrator.running.slots.side_by_side import JobsAtOnce, Neighbours
from orchestrator.running.slots.waiting import SlotJob
from tests.unit.running.slots.virtual_host import GPUS, ONE, POOLS, a_job


def zero() -> float:
    return 0.0


def test_jobs_on_eight_gpus_run_at_once() -> None:
    """Eight jobs that wait for each other all end."""
    together = threading.Barrier(8, timeout=60)

    def work(entry: str, placed: PlacedJob[str]) -> tuple[str, str]:
        together.wait()
        return entry, placed.gpus[0].uuid

    jobs = [a_job(str(number), ONE) for number in range(16)]
    ended = list(JobsAtOnce(Schedule(jobs, POOLS), work, zero).results())

    assert sorted(entry for entry, _ in ended) == sorted(str(number) for number in range(16))
    assert {uuid for _, uuid in ended} == {gpu.uuid for gpu in GPUS}


def test_entries_of_a_job_come_after_each_other() -> None:
    running = threading.Lock()

    def work(entry: int, placed: PlacedJob[int]) -> int:
        assert running.acquire(blocking=False)
        running.release()
        return entry

    job = SlotJob(0, "group", ONE, 1.0, tuple(range(50)))

    assert list(JobsAtOnce(Schedule([job], POOLS), work, zero).results()) == list(range(50))


def test_error_waits_for_what_runs() -> None:
    """An error is raised once all that runs has ended, and nothing further begins."""
    failed, done = threading.Event(), []

    def work(entry: str, placed: PlacedJob[str]) -> str:
        if entry == "broken":
            failed.set()
            raise OSError("no space left")
        failed.wait()
        done.append(entry)
        return entry

    jobs = [
        a_job("broken", ONE, 9.0),
        a_job("running", ONE, 9.0),
        *(a_job(f"later-{n}", POOLS and ONE, 1.0) for n in range(9)),
    ]
    side_by_side = JobsAtOnce(Schedule(jobs, {ONE: GPUS[:2]}), work, zero)

    with pytest.raises(OSError, match="no space left"):
        list(side_by_side.results())
    assert done == ["running"]


def test_results_that_nobody_takes_end_the_work() -> None:
    """A caller that stops taking results leaves no thread behind."""
    results = JobsAtOnce(
        Schedule([a_job(str(n), ONE) for n in range(99)], POOLS), lambda entry, _: entry, zero
    ).results()
    next(results)
    results.close()  # type: ignore[attr-defined]

    assert not [thread for thread in threading.enumerate() if thread.name.startswith("slot ")]


def test_neighbours_are_all_that_ran_meanwhile() -> None:
    neighbours = Neighbours()
    with neighbours.present("a") as beside_a:
        with neighbours.present("b") as beside_b:
            pass
        with neighbours.present("c") as beside_c:
            assert beside_c() == ("a",)
        assert beside_a() == ("b", "c")
    assert beside_b() == ("a",)
