"""The commands of Slurm: `sbatch`, `squeue`, `sacct`, `scancel` and `sinfo`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator import processes
from orchestrator.clusters.states import (
    HISTORY_FORMAT,
    NODE_FORMAT,
    QUEUE_FORMAT,
    STATUS_FORMAT,
    Refusal,
    SeenJob,
    has_no_accounting,
    read_history,
    read_nodes,
    read_queue,
    read_statuses,
    refusal,
)
from orchestrator.errors import HostError
from orchestrator.processes import Captured, StartError, last_line

TIMEOUT_S = 120.0
"""Of one command. A busy controller may take a minute."""
SUBMIT_TIMEOUT_S = 180.0
"""Of `sbatch`, which by itself tries for two minutes if the controller has as many jobs as it takes."""
_STEERING = ("SBATCH_", "SLURM_", "SQUEUE_", "SACCT_", "SCANCEL_", "SINFO_", "SRUN_", "SALLOC_")
"""Beginnings of variables that change what the commands do. A shell inside another job has many of them."""
_KEPT = {"SLURM_CONF", "SLURM_JWT"}


class SubmitError(Exception):
    """A job that was not submitted. The message is one line of `sbatch`."""

    def __init__(self, kind: Refusal, message: str) -> None:
        self.kind = kind
        super().__init__(message)


class Slurm:
    """The scheduler of the cluster that this host belongs to."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._environment = {
            name: value
            for name, value in environment.items()
            if name in _KEPT or not name.startswith(_STEERING)
        }  # fmt: skip
        self._folder = folder
        self._keeps_accounts = True

    def submit(self, script: Path, after: int | None = None) -> int:
        """Submit an array and return its id. With `after`, it begins when that array has ended.

        Raises `SubmitError` if the scheduler refuses it or is away, `HostError` if there is no `sbatch`.
        """
        dependency = [f"--dependency=afterany:{after}"] if after is not None else []
        said = self._said("sbatch", "--parsable", *dependency, str(script), timeout_s=SUBMIT_TIMEOUT_S)
        identity = said.output.strip().partition(";")[0].partition("\n")[0]
        if said.exit_code == 0 and identity.isdecimal():
            return int(identity)
        message = last_line(said.errors) or last_line(said.output) or f"sbatch ended with status {said.exit_code}"
        raise SubmitError(refusal(said.errors or said.output), message)

    def queue(self, names: Sequence[str]) -> tuple[SeenJob, ...] | None:
        """Ask once for all jobs of these names, those that have just ended too. None if the controller is away."""
        said = self._said(
            "squeue", "--noheader", "--array", "--states=all", f"--name={','.join(names)}", f"--format={QUEUE_FORMAT}"
        )
        return tuple(read_queue(said.output)) if said.exit_code == 0 else None

    def exit_statuses(self, jobs: Sequence[str]) -> dict[str, int]:
        """Ask for the exit statuses of jobs that have just ended. Jobs that are not known are left out."""
        said = self._said(
            "squeue", "--noheader", "--array", "--states=all", f"--jobs={','.join(jobs)}", f"--Format={STATUS_FORMAT}"
        )
        return read_statuses(said.output) if said.exit_code == 0 else {}

    def history(self, arrays: Sequence[int]) -> tuple[SeenJob, ...]:
        """Ask the accounts for arrays that the controller has forgotten. Empty if the cluster keeps none."""
        if not self._keeps_accounts or not arrays:
            return ()
        listed = ",".join(map(str, arrays))
        try:
            said = self._said(
                "sacct", "--noheader", "--parsable2", "--duplicates", f"--jobs={listed}", f"--format={HISTORY_FORMAT}"
            )
        except HostError:
            self._keeps_accounts = False
            return ()
        self._keeps_accounts = not has_no_accounting(said.errors)
        return tuple(read_history(said.output)) if said.exit_code == 0 else ()

    def cancel(self, jobs: Sequence[str]) -> None:
        """Cancel arrays or tasks, by their ids. Those that have ended are left as they are.

        Raises `HostError` if the controller cannot be asked.
        """
        if not jobs:
            return
        said = self._said("scancel", *jobs)
        if said.exit_code != 0 and refusal(said.errors) is Refusal.AWAY:
            raise HostError(f"scancel: {last_line(said.errors)}; try again when the controller answers")

    def nodes(self, partition: str | None, named: str = "") -> dict[str, bool]:
        """Ask for the nodes of a partition, or of a list such as `node[1-8]`, and return which of them take jobs.

        Raises `HostError` if the controller does not answer, or knows no such nodes.
        """
        chosen = [f"--partition={partition}"] if partition else []
        listed = [f"--nodes={named}"] if named else []
        said = self._said("sinfo", "--noheader", "--Node", f"--format={NODE_FORMAT}", *chosen, *listed)
        if said.exit_code != 0:
            away = refusal(said.errors) is Refusal.AWAY
            remedy = "try again when the controller answers" if away else "name nodes that `sinfo` lists"
            raise HostError(f"sinfo: {last_line(said.errors)}; {remedy}")
        return read_nodes(said.output)

    def _said(self, program: str, *arguments: str, timeout_s: float = TIMEOUT_S) -> Captured:
        try:
            return processes.capture(
                [program, *arguments], environment=self._environment, folder=self._folder, timeout_s=timeout_s
            )
        except StartError as error:
            raise HostError(f"{error}; a site with `executor: slurm` needs a host of the cluster") from error
