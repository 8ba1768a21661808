"""The submission of arrays, written down so that neither a killed submitter nor an absent controller doubles one."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.clusters.arrays import JobArray
from orchestrator.clusters.carried import packed
from orchestrator.clusters.folder import ClusterRun
from orchestrator.clusters.following import found_again, without
from orchestrator.clusters.ownership import Ownership
from orchestrator.clusters.record import ClusterRecord, JobEnd, JobsRecord, Submission
from orchestrator.clusters.refusals import Refusal
from orchestrator.clusters.sbatch import MOST_SCRIPT_BYTES, BatchJob, script
from orchestrator.clusters.slurm import Slurm, SubmitError
from orchestrator.clusters.states import SeenJob
from orchestrator.clusters.turns import array_of_its_lane, arrays_before
from orchestrator.results.files.writing import made_folder, write_atomically

SCRIPTS = "submissions"
"""Folder of every batch script that was written for a submission, those that were refused too."""
LOOKS_BEFORE_GIVEN_UP = 2
"""Looks at the queue that have to miss an array before it counts as not taken: what is shown may lag behind."""


@dataclass
class Submitter:
    """The arrays of a run that wait to be submitted, and the record of those that were."""

    cluster: ClusterRun
    record: ClusterRecord
    slurm: Slurm
    command: tuple[str, ...]
    """The program, for a site that names none."""
    say: Callable[[str], object]
    """Reports a line."""
    owned: Ownership
    is_halted: Callable[[], bool] = lambda: False
    """Returns true as soon as nothing more is to be submitted."""
    retry_failed: bool = False
    waiting: list[JobArray] = field(default_factory=list)
    held_back: str = ""
    """The word of the scheduler that holds back what waits; empty if nothing does."""
    refusals: list[str] = field(default_factory=list)
    """The words of the scheduler about arrays that it can never take."""
    taken: int = 0
    """Arrays that the scheduler has taken."""
    _unsure: dict[str, JobArray] = field(default_factory=dict)
    """Arrays by the name of their script, that the controller may have taken before it went away."""
    _misses: Counter[str] = field(default_factory=Counter)
    """Looks at the queue that have not shown an array."""

    def __post_init__(self) -> None:
        self.jobs: JobsRecord = self.cluster.jobs()
        if not self.jobs.submissions:
            self.jobs = self.jobs.model_copy(update={"job_name": f"bench-{self.cluster.name}"})

    @property
    def is_unsure(self) -> bool:
        """Return true if the scheduler has to be asked whether it has an array."""
        return any(each.array is None for each in self.jobs.submissions)

    def settle(self, seen: Sequence[SeenJob]) -> None:
        """Learn from the queue which arrays the controller has taken. One that two looks have missed waits again."""
        if not self.is_unsure:
            return
        jobs = found_again(self.jobs, seen)
        missed = [each.name for each in jobs.submissions if each.array is None]
        self._misses.update(missed)
        given_up = {name for name in missed if self._misses[name] >= LOOKS_BEFORE_GIVEN_UP}
        self._write(without(jobs, given_up))
        self.waiting[:0] = [array for name, array in self._unsure.items() if name in given_up]
        self._unsure = {name: array for name, array in self._unsure.items() if name in set(missed) - given_up}

    def submit(self) -> int:
        """Submit what waits, as far as the scheduler takes it, and return the number of arrays that it took.

        Nothing is submitted as long as it is not known whether the scheduler has an earlier array.
        """
        before, self.held_back = self.taken, ""
        while self.waiting and not (self.held_back or self.is_unsure or self.is_halted()):
            self._submit(self.waiting.pop(0))
        return self.taken - before

    def ended(self, ends: dict[str, JobEnd]) -> None:
        """Write down how jobs ended."""
        if ends:
            self._write(self.jobs.model_copy(update={"ends": {**self.jobs.ends, **ends}}))

    def _submit(self, array: JobArray) -> None:
        before, name = self.jobs, self._new_name()
        path, size_bytes = self._write_script(name, array)
        if size_bytes > MOST_SCRIPT_BYTES and len(array.parts) > 1:
            self.waiting[:0] = array.halves()
            return
        self._write(_with(before, Submission(name, array.parts, nodes=array.nodes)))
        try:
            identity = self.slurm.submit(path, self._arrays_before(array, before))
        except SubmitError as error:
            if error.kind is Refusal.AWAY:
                self._unsure[name] = array
                self.held_back = str(error)
                return
            self._write(before)
            if error.kind is Refusal.NEVER:
                self._give_way(array, f"sbatch refuses {path}: {error}")
            elif len(array.parts) > 1:
                self.waiting[:0] = array.halves()
            else:
                self.waiting.insert(0, array)
                self.held_back = str(error)
            return
        self._write(_with(before, Submission(name, array.parts, identity, array.nodes)))
        self.taken += 1

    def _give_way(self, array: JobArray, refusal: str) -> None:
        """Go on without an array that the scheduler refuses, or without the nodes for which it does."""
        if self.record.is_fleet_check:
            of_node = [array, *(each for each in self.waiting if each.nodelist == array.nodelist)]
            self.waiting[:] = [each for each in self.waiting if each.nodelist != array.nodelist]
            self._put_aside((part for each in of_node for part in each.parts), refusal)
            self.say(f"{', '.join(array.nodelist)} is left out: {refusal}")
            return
        if array.nodelist or array.exclude:
            known = self.slurm.nodes(self.record.site.partition)
            there = array.on_known(known)
            if there != array:
                self.waiting.insert(0, there)
                gone = (node for node in (*array.nodelist, *array.exclude) if node not in known)
                self.say(f"submitted again without {', '.join(gone)}, which `sinfo` does not list: {refusal}")
                return
        self._put_aside(array.parts, refusal)
        self.say(f"not submitted: {refusal}")

    def _put_aside(self, parts: Iterable[str], refusal: str) -> None:
        """Write down that parts cannot be submitted as they are."""
        self.refusals.append(refusal)
        self._write(self.jobs.model_copy(update={"refusals": {**self.jobs.refusals, **dict.fromkeys(parts, refusal)}}))

    def _arrays_before(self, array: JobArray, jobs: JobsRecord) -> tuple[int, ...]:
        """Return the arrays that have to end first, where the nodes of a run at a time are bounded."""
        at_once = self.record.site.nodes_at_once
        return array_of_its_lane(jobs, at_once) if self.record.is_fleet_check else arrays_before(array, jobs, at_once)

    def _new_name(self) -> str:
        """Return a name of a script that no earlier submission of the run had, even one that was refused."""
        folder = made_folder(self.cluster.folder / SCRIPTS)
        return f"bench-{self.cluster.name}-{sum(1 for _ in folder.glob('*.sh')) + 1}"

    def _write_script(self, name: str, array: JobArray) -> tuple[Path, int]:
        """Write the script of an array. Return its path and its size in bytes."""
        inputs = packed(self.cluster.folder, array.parts) if self.record.site.on_nodes else ""
        job_name = self.jobs.job_name or name
        job = BatchJob(job_name, self.cluster.folder, self.command, retry_failed=self.retry_failed, inputs=inputs)
        path, text = self.cluster.folder / SCRIPTS / f"{name}.sh", script(array, self.record.site, job)
        write_atomically(path, text)
        return path, len(text.encode())

    def _write(self, jobs: JobsRecord) -> None:
        self.owned.confirm()
        self.cluster.write_jobs(jobs)
        self.jobs = jobs


def _with(jobs: JobsRecord, submission: Submission) -> JobsRecord:
    """Return the record with a submission, whose parts no longer count as refused."""
    left = {part: word for part, word in jobs.refusals.items() if part not in submission.parts}
    return jobs.model_copy(update={"submissions": (*jobs.submissions, submission), "refusals": left})
