"""The commands of Slurm: `sbatch`, `squeue`, `sacct`, `scancel` and `sinfo`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator import processes
from orchestrator.clusters.refusals import Refusal, has_no_accounting, not_cancelled, refusal, said
from orchestrator.clusters.states import (
    HISTORY_FORMAT,
    NODE_FORMAT,
    QUEUE_FORMAT,
    STATUS_FORMAT,
    SeenJob,
    read_history,
    read_nodes,
    read_queue,
    read_statuses,
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


class NoAnswerError(Exception):
    """A question that the scheduler did not answer. The message is one line of its command."""


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

    @property
    def keeps_accounts(self) -> bool:
        """Return false once the cluster has said that it keeps none."""
        return self._keeps_accounts

    def submit(self, script: Path, after: Sequence[int] = ()) -> int:
        """Submit an array and return its id. With `after`, it begins when those arrays have ended.

        Raises `SubmitError` if the scheduler refuses it or is away, `HostError` if there is no `sbatch`.
        """
        dependency = [f"--dependency=afterany:{':'.join(map(str, after))}"] if after else []
        answer = self._ask("sbatch", "--parsable", *dependency, str(script), timeout_s=SUBMIT_TIMEOUT_S)
        identity = answer.output.strip().partition(";")[0].partition("\n")[0]
        if answer.exit_code == 0 and identity.isdecimal():
            return int(identity)
        words = answer.errors or answer.output
        message = said(words) or f"sbatch ended with status {answer.exit_code}"
        # One that was killed, or said nothing that is understood, may have submitted the array before.
        was_cut_off = answer.exit_code is None or answer.exit_code <= 0 or not words.strip()
        raise SubmitError(Refusal.AWAY if was_cut_off else refusal(words), message)

    def queue(self, names: Sequence[str]) -> tuple[SeenJob, ...]:
        """Ask once for all jobs of these names, those that have just ended too.

        Raises `NoAnswerError` if the controller is away.
        """
        answer = self._ask(
            "squeue", "--noheader", "--array", "--states=all", f"--name={','.join(names)}", f"--format={QUEUE_FORMAT}"
        )
        if answer.exit_code != 0:
            raise NoAnswerError(_word(answer, "squeue"))
        return tuple(read_queue(answer.output))

    def exit_statuses(self, jobs: Sequence[str]) -> dict[str, int]:
        """Ask for the exit statuses of jobs that have just ended. Jobs that are not known are left out.

        Raises `NoAnswerError` if the controller is away.
        """
        answer = self._ask(
            "squeue", "--noheader", "--array", "--states=all", f"--jobs={','.join(jobs)}", f"--Format={STATUS_FORMAT}"
        )
        if answer.exit_code != 0 and refusal(answer.errors) is Refusal.AWAY:
            raise NoAnswerError(_word(answer, "squeue"))
        return read_statuses(answer.output) if answer.exit_code == 0 else {}

    def history(self, arrays: Sequence[int]) -> tuple[SeenJob, ...]:
        """Ask the accounts for arrays that the controller has forgotten. Empty if the cluster keeps none.

        Raises `NoAnswerError` if they cannot be asked now.
        """
        if not self._keeps_accounts or not arrays:
            return ()
        listed = ",".join(map(str, arrays))
        try:
            answer = self._ask(
                "sacct", "--noheader", "--parsable2", "--duplicates", f"--jobs={listed}", f"--format={HISTORY_FORMAT}"
            )
        except HostError:
            self._keeps_accounts = False
            return ()
        self._keeps_accounts = not has_no_accounting(answer.errors)
        if answer.exit_code != 0 and self._keeps_accounts:
            raise NoAnswerError(_word(answer, "sacct"))
        return tuple(read_history(answer.output)) if answer.exit_code == 0 else ()

    def cancel(self, jobs: Sequence[str]) -> None:
        """Cancel arrays or tasks, by their ids. Those that have ended are left as they are.

        Raises `HostError` if any other cannot be cancelled.
        """
        if not jobs:
            return
        answer = self._ask("scancel", *jobs)
        if answer.exit_code == 0 or (answer.errors.strip() and not not_cancelled(answer.errors)):
            return
        line = not_cancelled(answer.errors) or _word(answer, "scancel")
        away = refusal(answer.errors) is Refusal.AWAY
        remedy = "try again when the controller answers" if away else "not every job is cancelled; `squeue` lists them"
        raise HostError(f"scancel: {line}; {remedy}")

    def nodes(self, partition: str | None, named: str = "") -> dict[str, bool]:
        """Ask for the nodes of a partition, or of a list such as `node[1-8]`, and return which of them take jobs.

        Raises `HostError` if the controller does not answer, or knows no such nodes.
        """
        chosen = [f"--partition={partition}"] if partition else []
        listed = [f"--nodes={named}"] if named else []
        answer = self._ask("sinfo", "--noheader", "--Node", f"--format={NODE_FORMAT}", *chosen, *listed)
        if answer.exit_code != 0:
            away = refusal(answer.errors) is Refusal.AWAY
            remedy = "try again when the controller answers" if away else "name nodes that `sinfo` lists"
            raise HostError(f"sinfo: {last_line(answer.errors)}; {remedy}")
        return read_nodes(answer.output)

    def _ask(self, program: str, *arguments: str, timeout_s: float = TIMEOUT_S) -> Captured:
        try:
            return processes.capture(
                [program, *arguments], environment=self._environment, folder=self._folder, timeout_s=timeout_s
            )
        except StartError as error:
            raise HostError(f"{error}; a site with `executor: slurm` needs a host of the cluster") from error


def _word(answer: Captured, program: str) -> str:
    """Return what a command that failed has said, in one line."""
    return last_line(answer.errors) or last_line(answer.output) or f"{program} ended with status {answer.exit_code}"
