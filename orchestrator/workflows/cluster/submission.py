"""The submission of arrays, written down so that neither a killed submitter nor an absent controller doubles one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.clusters.arrays import JobArray
from orchestrator.clusters.carried import packed
from orchestrator.clusters.folder import ClusterRun
from orchestrator.clusters.following import found_again
from orchestrator.clusters.record import ClusterRecord, JobEnd, JobsRecord, Submission
from orchestrator.clusters.sbatch import BatchJob, script
from orchestrator.clusters.slurm import Slurm, SubmitError
from orchestrator.clusters.states import Refusal, SeenJob
from orchestrator.errors import HostError
from orchestrator.results.writing import made_folder, write_atomically

MOST_SCRIPT_BYTES = 4 * 1024 * 1024
"""Largest batch script that Slurm takes, unless its `max_script_size` is another. It refuses a larger one itself."""
SCRIPTS = "submissions"
"""Folder of every batch script that was written for a submission, those that were refused too."""


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
    retry_failed: bool = False
    waiting: list[JobArray] = field(default_factory=list)
    refused: str = ""
    """The word of the scheduler that holds back what waits; empty if nothing does."""
    _unsure: dict[str, JobArray] = field(default_factory=dict)
    """Arrays by the name of their jobs, that the controller may have taken before it went away."""

    def __post_init__(self) -> None:
        self.jobs: JobsRecord = self.cluster.jobs()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all jobs that were or may have been submitted."""
        return tuple(each.name for each in self.jobs.submissions)

    @property
    def is_unsure(self) -> bool:
        """Return true if the scheduler has to be asked whether it has an array."""
        return any(each.array is None for each in self.jobs.submissions)

    def settle(self, seen: Sequence[SeenJob]) -> None:
        """Learn from the queue which arrays the controller has taken. The others wait again."""
        if not self.is_unsure:
            return
        self._write(found_again(self.jobs, seen))
        taken = set(self.names)
        self.waiting[:0] = [array for name, array in self._unsure.items() if name not in taken]
        self._unsure.clear()

    def submit(self) -> int:
        """Submit what waits, as far as the scheduler takes it, and return the number of arrays that it took.

        Raises `HostError` if it can never take one.
        """
        taken, self.refused = 0, ""
        while self.waiting and not self.refused:
            taken += self._submit(self.waiting.pop(0))
        return taken

    def ended(self, ends: dict[str, JobEnd]) -> None:
        """Write down how jobs ended."""
        if ends:
            self._write(self.jobs.model_copy(update={"ends": {**self.jobs.ends, **ends}}))

    def _submit(self, array: JobArray) -> bool:
        before, name = self.jobs, self._new_name()
        path, size_bytes = self._write_script(name, array)
        if size_bytes > MOST_SCRIPT_BYTES and len(array.parts) > 1:
            self.waiting[:0] = array.halves()
            return False
        self._write(_with(before, Submission(name, array.parts, nodes=array.nodes)))
        try:
            identity = self.slurm.submit(path, self._last_array(before))
        except SubmitError as error:
            if error.kind is Refusal.AWAY:
                self._unsure[name] = array
                self.refused = str(error)
                return False
            self._write(before)
            if error.kind is Refusal.NEVER:
                self._give_way(array, f"sbatch refuses {path}: {error}")
            elif len(array.parts) > 1:
                self.waiting[:0] = array.halves()
            else:
                self.waiting.insert(0, array)
                self.refused = str(error)
            return False
        self._write(_with(before, Submission(name, array.parts, identity, array.nodes)))
        return True

    def _give_way(self, array: JobArray, refusal: str) -> None:
        """Go on without the nodes for which the scheduler refuses an array.

        Raises `HostError` if it refuses the array for something else.
        """
        if self.record.is_fleet_check:
            self.waiting[:] = [each for each in self.waiting if each.nodelist != array.nodelist]
            if self.waiting or self.jobs.submissions:
                self.say(f"{', '.join(array.nodelist)} is left out: {refusal}")
                return
        elif array.nodelist or array.exclude:
            known = self.slurm.nodes(self.record.site.partition)
            there = array.on_known(known)
            if there != array:
                self.waiting.insert(0, there)
                gone = (node for node in (*array.nodelist, *array.exclude) if node not in known)
                self.say(f"submitted again without {', '.join(gone)}, which `sinfo` does not list: {refusal}")
                return
        raise HostError(refusal)

    def _last_array(self, before: JobsRecord) -> int | None:
        """Return the array that has to end first, where the nodes of a run at a time are bounded.

        An array has all nodes of the bound, but one of a fleet check has a single node.
        """
        at_once = self.record.site.nodes_at_once
        if at_once is None:
            return None
        known = [each.array for each in before.submissions if each.array is not None]
        back = at_once if self.record.is_fleet_check else 1
        return known[-back] if len(known) >= back else None

    def _new_name(self) -> str:
        """Return a name of jobs that no earlier submission of the run had, even one that was refused."""
        folder = made_folder(self.cluster.folder / SCRIPTS)
        return f"bench-{self.cluster.name}-{sum(1 for _ in folder.glob('*.sh')) + 1}"

    def _write_script(self, name: str, array: JobArray) -> tuple[Path, int]:
        """Write the script of an array. Return its path and its size in bytes."""
        inputs = packed(self.cluster.folder, array.parts) if self.record.site.on_nodes else ""
        job = BatchJob(name, self.cluster.folder, self.command, retry_failed=self.retry_failed, inputs=inputs)
        path, text = self.cluster.folder / SCRIPTS / f"{name}.sh", script(array, self.record.site, job)
        write_atomically(path, text)
        return path, len(text.encode())

    def _write(self, jobs: JobsRecord) -> None:
        self.cluster.write_jobs(jobs)
        self.jobs = jobs


def _with(jobs: JobsRecord, submission: Submission) -> JobsRecord:
    return jobs.model_copy(update={"submissions": (*jobs.submissions, submission)})
