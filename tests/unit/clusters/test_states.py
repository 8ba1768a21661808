"""The words of Slurm as typed states."""

import pytest

from orchestrator.clusters.states import (
    OUT_OF_TIME,
    JobState,
    SeenJob,
    read_history,
    read_log,
    read_queue,
    read_statuses,
    state_of,
)

QUEUE = """\
12|0|RUNNING|node1|/shared/a/submissions/bench-a-1.sh|None
12|1|PENDING||/shared/a/submissions/bench-a-1.sh|Resources
12|2|COMPLETED|node2|/shared/a/submissions/bench-a-1.sh|None
12|3|NODE_FAIL|node[3-4]|bench-a-1|NodeDown | really
7|N/A|RUNNING|node9|/shared/other.sh|None
garbage
"""
HISTORY = """\
12_3|TIMEOUT|node7|0:0
12_3.batch|CANCELLED|node7|0:15
12_4|CANCELLED by 1000|None assigned|0:0
12_5|FAILED|node8|3:0
12_6|FAILED|node9|124:0
12_[7-9]|PENDING|None assigned|0:0
"""


def test_a_queue_gives_the_tasks_of_arrays() -> None:
    assert list(read_queue(QUEUE)) == [
        SeenJob(12, 0, JobState.RUNNING, "node1", "bench-a-1"),
        SeenJob(12, 1, JobState.PENDING, "", "bench-a-1", "Resources"),
        SeenJob(12, 2, JobState.COMPLETED, "node2", "bench-a-1"),
        SeenJob(12, 3, JobState.NODE_FAIL, "node[3-4]", "bench-a-1", "NodeDown"),
    ]


def test_a_history_gives_tasks_without_steps() -> None:
    """Steps, and tasks that have not begun, are left out."""
    assert list(read_history(HISTORY)) == [
        SeenJob(12, 3, JobState.TIMEOUT, "node7"),
        SeenJob(12, 4, JobState.CANCELLED),
        SeenJob(12, 5, JobState.FAILED, "node8", reason="exit status 3:0"),
        SeenJob(12, 6, JobState.TIMEOUT, "node9", reason="exit status 124:0"),
    ]


def test_statuses_are_those_that_a_wait_gives() -> None:
    """One is of a job that a signal ended, and one of a job that is in no array."""
    text = "12                  0                   31744\n12 1 10\n13 N/A 256\n\n"

    assert read_statuses(text) == {"12_0": 124, "12_1": -10}


def test_a_task_has_the_id_that_people_write() -> None:
    assert SeenJob(12, 3, JobState.RUNNING).id == "12_3"


@pytest.mark.parametrize(
    ("word", "reason", "state"),
    [
        ("TIMEOUT", "", JobState.TIMEOUT),
        ("PREEMPTED", "", JobState.PREEMPTED),
        ("BOOT_FAIL", "", JobState.BOOT_FAIL),
        ("DEADLINE", "", JobState.DEADLINE),
        ("OUT_OF_MEMORY", "", JobState.OUT_OF_MEMORY),
        ("CANCELLED by 0", "", JobState.CANCELLED),
        ("CANCELLED+", "", JobState.CANCELLED),
        ("REQUEUED", "", JobState.REQUEUED),
        ("REQUEUE_HOLD", "", JobState.REQUEUED),
        ("PENDING", "Priority", JobState.PENDING),
        ("PENDING", "launch failed requeued held", JobState.LAUNCH_FAILED),
        ("PENDING", "job requeued in held state", JobState.REQUEUED),
        ("PENDING", "JobHoldMaxRequeue", JobState.REQUEUED),
        ("PENDING", "BeginTime", JobState.PENDING),
        ("CONFIGURING", "Prolog", JobState.RUNNING),
        ("COMPLETING", "", JobState.RUNNING),
        ("SUSPENDED", "", JobState.RUNNING),
        ("", "", JobState.RUNNING),
        ("WHATEVER_COMES", "", JobState.RUNNING),
    ],
)
def test_a_word_is_a_state(word: str, reason: str, state: JobState) -> None:
    assert state_of(word, reason) is state


def test_only_waiting_and_running_is_live() -> None:
    assert [state for state in JobState if state.is_live] == [JobState.PENDING, JobState.RUNNING]


@pytest.mark.parametrize(
    ("text", "state", "node"),
    [
        ("", None, ""),
        ("part 000 on node1\nmeasuring\n", None, "node1"),
        (f"part 000 on node1\n{OUT_OF_TIME}\n", JobState.TIMEOUT, "node1"),
        (
            "error: *** STEP 12.0 ON node2 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***",
            JobState.TIMEOUT,
            "node2",
        ),
        ("error: *** JOB 12 ON node2 CANCELLED AT 2026-01-02T03:04:05 ***\n", JobState.CANCELLED, "node2"),
        ("*** JOB 12 ON n CANCELLED AT 2026-01-02T03:04:05 DUE TO PREEMPTION ***\n", JobState.PREEMPTED, "n"),
    ],
)
def test_a_log_tells_how_its_job_ended(text: str, state: JobState | None, node: str) -> None:
    assert read_log(text) == (state, node)
