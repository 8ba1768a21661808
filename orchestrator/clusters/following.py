"""The jobs of a run as the scheduler shows them, set against what was submitted."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator.clusters.record import JobEnd, JobsRecord, Submission
from orchestrator.clusters.states import OUT_OF_TIME_STATUS, JobState, SeenJob


@dataclass(frozen=True, slots=True)
class JobsSeen:
    """One look at the jobs of a run."""

    live: Mapping[str, SeenJob]
    """The job of each part that has one."""
    ends: Mapping[str, JobEnd]
    """The last jobs of parts whose end was not known before."""
    vanished: Mapping[str, SeenJob]
    """The last jobs of parts that neither run nor have a known end: the controller has forgotten them."""
    held: tuple[str, ...]
    """Ids of jobs that wait for ever, after a launch that failed."""
    unknown: tuple[str, ...] = ()
    """Ids of live jobs of arrays that were given up, because the scheduler had not shown them."""


def look(jobs: JobsRecord, seen: Sequence[SeenJob]) -> JobsSeen:
    """Set what the scheduler shows against what was submitted."""
    shown = {(job.array, job.index): job for job in seen}
    live: dict[str, SeenJob] = {}
    ends: dict[str, JobEnd] = {}
    vanished: dict[str, SeenJob] = {}
    held = []
    for part, task in _last_tasks(jobs.submissions).items():
        job = shown.get((task.array, task.index))
        known = jobs.ends.get(part)
        if job is not None and job.state.is_live:
            live[part] = job
        elif known is not None and known.job == task.id:
            continue
        elif job is None:
            vanished[part] = task
        else:
            ends[part] = end_of(job)
            if job.state in {JobState.LAUNCH_FAILED, JobState.REQUEUED}:
                held.append(job.id)
    unknown = []
    known_arrays = {each.array for each in jobs.submissions}
    for job in (each for each in seen if each.state.is_live):
        earlier = jobs.part_of(job.array, job.index)
        if earlier is not None:  # of a submission before the last, whose end nobody waited for
            live.setdefault(earlier, job)
        elif job.array not in known_arrays:
            unknown.append(job.id)
    return JobsSeen(live, ends, vanished, tuple(held), tuple(unknown))


def _last_tasks(submissions: Iterable[Submission]) -> dict[str, SeenJob]:
    """Return the last task of each part."""
    return {
        part: SeenJob(each.array, index, JobState.FORGOTTEN)
        for each in submissions
        if each.array is not None
        for index, part in enumerate(each.parts)
    }


def end_of(job: SeenJob) -> JobEnd:
    """Return the end of a job."""
    detail = job.reason if job.state is JobState.FAILED else ""
    return JobEnd(job.id, job.state, job.node, detail)


def with_status(end: JobEnd, status: int | None) -> JobEnd:
    """Return the end of a job with its exit status, if that is known. A job that was warned has one of its own."""
    if end.state is not JobState.FAILED or status is None or status < 0:
        return end
    if status == OUT_OF_TIME_STATUS:
        return replace(end, state=JobState.TIMEOUT, detail="")
    return replace(end, detail=f"exit status {status}")


def remembered(
    vanished: Mapping[str, SeenJob], accounts: Iterable[SeenJob], last: Mapping[str, SeenJob]
) -> dict[str, JobEnd]:
    """Return the ends of jobs that the controller has forgotten.

    They come from the accounts of the cluster, or else say only where a job was seen last.
    """
    told = {(job.array, job.index): job for job in accounts if not job.state.is_live}
    ends = {}
    for part, task in vanished.items():
        job = told.get((task.array, task.index))
        seen_on = last[part].node if part in last and last[part].id == task.id else ""
        ends[part] = end_of(job) if job else JobEnd(task.id, JobState.FORGOTTEN, seen_on)
    return ends


def found_again(jobs: JobsRecord, seen: Iterable[SeenJob]) -> JobsRecord:
    """Return the record with the ids of arrays that the scheduler has and their submitter did not know yet."""
    arrays = {job.name: job.array for job in seen}
    submissions = (
        each if each.array is not None else replace(each, array=arrays.get(each.name)) for each in jobs.submissions
    )
    return jobs.model_copy(update={"submissions": tuple(submissions)})


def without(jobs: JobsRecord, names: Container[str]) -> JobsRecord:
    """Return the record without the submissions of these names, which were never made."""
    return jobs.model_copy(update={"submissions": tuple(each for each in jobs.submissions if each.name not in names)})
