"""The answers of a scheduler, as typed states. Its refusals are read in `refusals.py`, and no text of it elsewhere."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from os import waitstatus_to_exitcode
from pathlib import PurePosixPath

from orchestrator.processes import last_line

QUEUE_FORMAT = "%F|%K|%T|%N|%o|%r"
"""Of `squeue`: array, index, state, nodes, batch script, reason. The reason comes last, as it may hold anything."""
HISTORY_FORMAT = "JobID,State,NodeList,ExitCode"
"""Of `sacct`, which writes arrays as `12_3`."""


class JobState(StrEnum):
    """The state of a job, in the words of Slurm where it has one."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    NODE_FAIL = "NODE_FAIL"
    PREEMPTED = "PREEMPTED"
    CANCELLED = "CANCELLED"
    REQUEUED = "REQUEUED"
    """It went back into the queue, and is held there."""
    BOOT_FAIL = "BOOT_FAIL"
    DEADLINE = "DEADLINE"
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    LAUNCH_FAILED = "LAUNCH_FAILED"
    """The prolog failed, or the node could not start it."""
    FORGOTTEN = "FORGOTTEN"
    """The scheduler knows it no longer and keeps no accounts."""

    @property
    def is_live(self) -> bool:
        """Return true if the job waits or runs."""
        return self in {JobState.PENDING, JobState.RUNNING}


GOES_ON = frozenset({JobState.TIMEOUT, JobState.CANCELLED, JobState.PREEMPTED, JobState.REQUEUED})
"""Ends after which the node of a job is as fit as before, so that it may go on with the part."""
_LIVE = {
    "CONFIGURING": JobState.RUNNING, "COMPLETING": JobState.RUNNING, "SUSPENDED": JobState.RUNNING,
    "STOPPED": JobState.RUNNING, "SIGNALING": JobState.RUNNING, "STAGE_OUT": JobState.RUNNING,
    "RESIZING": JobState.RUNNING, "RESV_DEL_HOLD": JobState.PENDING,
}  # fmt: skip
_ENDED = {
    "REVOKED": JobState.CANCELLED, "REQUEUE_FED": JobState.REQUEUED, "REQUEUE_HOLD": JobState.REQUEUED,
    "SPECIAL_EXIT": JobState.REQUEUED, "LAUNCH_FAILED": JobState.LAUNCH_FAILED,
    "RECONFIG_FAIL": JobState.LAUNCH_FAILED,
}  # fmt: skip
_HELD_AFTER_LAUNCH = re.compile(r"launch[ _]failed[ _]requeued[ _]held|JobLaunchFailure|Prolog", re.IGNORECASE)
"""The reason of a pending job that was to begin and could not."""
_HELD = re.compile(r"requeued in held|requeued?[ _]held|JobHoldMaxRequeue", re.IGNORECASE)
"""The reason of a pending job that a node has had before, and that never begins again by itself."""
OUT_OF_TIME = "stopped before the time limit of this job"
"""The last line of a job that its warning has ended. The scheduler only sees that it failed."""
OUT_OF_TIME_STATUS = 124
"""The exit status of such a job, as of the program `timeout`. It is known where the log stays on the node."""
STATUS_FORMAT = "ArrayJobID,ArrayTaskID,exit_code"
"""Of `squeue`: array, index, and the status that `wait` gives."""
_BEGAN = re.compile(r"^part \S+ on (\S+)$", re.MULTILINE)
_CANCELLED = re.compile(r"\*\*\* (?:JOB|STEP) \S+ ON (\S+) CANCELLED AT \S+(?: DUE TO ([A-Z ]+?))? \*\*\*")
_CAUSES = {
    "TIME LIMIT": JobState.TIMEOUT, "NODE FAILURE": JobState.NODE_FAIL, "PREEMPTION": JobState.PREEMPTED,
}  # fmt: skip
NODE_FORMAT = "%N|%T"
"""Of `sinfo`: node and state."""
_TAKES_JOBS = {"idle", "mixed", "allocated", "completing", "reserved", "planned"}
"""States of a node that runs jobs, or will when those before have ended."""
_TASK = re.compile(r"(\d+)_(\d+)")


@dataclass(frozen=True, slots=True)
class SeenJob:
    """A job as the scheduler shows it."""

    array: int
    """The id of its array."""
    index: int
    state: JobState
    node: str = ""
    """The nodes that it is or was on, as the scheduler writes them; empty for one that never began."""
    name: str = ""
    """The name of its batch script, without the folder and the ending."""
    reason: str = ""
    """The reason that it waits, or its exit status."""

    @property
    def id(self) -> str:
        """Return its id as people write it, such as `12_3`."""
        return f"{self.array}_{self.index}"


def state_of(word: str, reason: str = "") -> JobState:
    """Return a state by the word of Slurm, which may be followed by details, as in `CANCELLED by 1000`.

    A word that is unknown counts as running, so that nothing is submitted twice.
    """
    name = word.split(maxsplit=1)[0].rstrip("+") if word.split() else ""
    if name == JobState.PENDING:
        if _HELD_AFTER_LAUNCH.search(reason):
            return JobState.LAUNCH_FAILED
        return JobState.REQUEUED if _HELD.search(reason) else JobState.PENDING
    if name in {*_LIVE, *_ENDED}:
        return {**_LIVE, **_ENDED}[name]
    return JobState(name) if name in set(JobState) else JobState.RUNNING


def read_queue(text: str) -> Iterator[SeenJob]:
    """Yield the jobs of an answer of `squeue`. Lines of jobs that are in no array are left out."""
    for line in text.splitlines():
        array, index, word, node, path, reason, *more = (*(part.strip() for part in line.split("|")), *[""] * 6)[:7]
        del more
        if array.isdecimal() and index.isdecimal():
            reason = _plain(reason)
            name = PurePosixPath(path).name.removesuffix(".sh")
            yield SeenJob(int(array), int(index), state_of(word, reason), _plain(node), name, reason)


def read_statuses(text: str) -> dict[str, int]:
    """Return the exit statuses of jobs by their ids, of an answer of `squeue`. One that a signal ended is negative."""
    lines = (line.split() for line in text.splitlines())
    return {
        f"{words[0]}_{words[1]}": waitstatus_to_exitcode(int(words[2]))
        for words in lines
        if len(words) == 3 and all(word.isdecimal() for word in words)
    }


def read_history(text: str) -> Iterator[SeenJob]:
    """Yield the jobs of an answer of `sacct`, without their steps."""
    for line in text.splitlines():
        identity, word, node, status, *_ = (*(part.strip() for part in line.split("|")), *[""] * 4)
        if task := _TASK.fullmatch(identity):
            node = "" if node == "None assigned" else node
            exit_status = f"exit status {status}" if status not in {"", "0:0"} else ""
            state = JobState.TIMEOUT if status == f"{OUT_OF_TIME_STATUS}:0" else state_of(word)
            yield SeenJob(int(task[1]), int(task[2]), state, _plain(node), reason=exit_status)


def read_nodes(text: str) -> dict[str, bool]:
    """Return the nodes of an answer of `sinfo`, each with whether it takes jobs. A node is listed by each partition."""
    lines = (line.split("|") for line in text.splitlines() if line.count("|") == 1)
    return {name.strip(): word.strip().rstrip("*~#!%$@^-+").lower() in _TAKES_JOBS for name, word in lines}


def read_log(text: str) -> tuple[JobState | None, str]:
    """Return how a job ended and its nodes by what its log says, None and an empty text where it says nothing.

    It outlives what the scheduler knows of the job.
    """
    began = _BEGAN.findall(text)
    node = began[-1] if began else ""
    if last_line(text) == OUT_OF_TIME:
        return JobState.TIMEOUT, node
    if cancelled := _CANCELLED.findall(text):
        own, cause = cancelled[-1]
        return _CAUSES.get(cause, JobState.CANCELLED), node or own
    return None, node


def _plain(text: str) -> str:
    """Return a text without the signs that Slurm puts around nothing."""
    bare = text.strip().removeprefix("(").removesuffix(")")
    return "" if bare in {"null", "None", "N/A", "n/a"} else bare
