"""The order of arrays where the nodes of a run at a time are bounded. Slurm bounds them within one array only."""

from collections.abc import Iterator, Sequence

from orchestrator.clusters.arrays import JobArray
from orchestrator.clusters.record import JobsRecord, Submission


def arrays_before(array: JobArray, jobs: JobsRecord, at_once: int | None) -> tuple[int, ...]:
    """Return the ids of the arrays that have to end before an array may begin.

    The latest ones may run next to it, as far as all of them together have no more nodes than the bound. Of those
    before, as many as may run at once are enough, because each of these has waited for the ones before it.
    """
    if at_once is None:
        return ()
    left = at_once - _most_nodes(len(array.parts), array.nodes, at_once)
    waited_for: list[int] = []
    for each, identity in reversed([*_not_ended(jobs)]):
        left -= _most_nodes(len(each.parts), each.nodes, at_once)
        if left < 0 and len(waited_for) < at_once:
            waited_for.append(identity)
    return tuple(reversed(waited_for))


def array_of_its_lane(jobs: JobsRecord, at_once: int | None) -> tuple[int, ...]:
    """Return the id of the array that an array of one node follows, where all arrays have one node."""
    if at_once is None:
        return ()
    known = [each.array for each in jobs.submissions if each.array is not None]
    return tuple(known[-at_once:][:1]) if len(known) >= at_once else ()


def _most_nodes(tasks: int, nodes: int, at_once: int) -> int:
    """Return the most nodes of an array at a time."""
    return min(tasks, max(1, at_once // nodes)) * nodes


def _not_ended(jobs: JobsRecord) -> Iterator[tuple[Submission, int]]:
    """Yield the submissions of which a job may wait or run, with their ids."""
    last = {part: each.array for each in jobs.submissions for part in each.parts}
    for each in jobs.submissions:
        if each.array is not None and not _has_ended(each.array, each.parts, last, jobs):
            yield each, each.array


def _has_ended(array: int, parts: Sequence[str], last: dict[str, int | None], jobs: JobsRecord) -> bool:
    """Return true if each part has a later job, or an end of this one."""
    return all(
        last[part] != array or (part in jobs.ends and jobs.ends[part].job == f"{array}_{index}")
        for index, part in enumerate(parts)
    )
