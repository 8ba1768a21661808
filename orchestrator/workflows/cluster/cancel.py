"""The cancellation of a run's jobs. What they have measured stays."""

from dataclasses import dataclass
from pathlib import Path

from orchestrator.clusters.folder import ClusterRun
from orchestrator.clusters.kubernetes import RUN_LABEL
from orchestrator.clusters.site import Executor
from orchestrator.clusters.slurm import NoAnswerError, Slurm
from orchestrator.errors import HostError, InputError
from orchestrator.workflows import option_values
from orchestrator.workflows.cluster import cancelled
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.cluster_runs import required_cluster_run


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelOptions:
    """The options of `cancel`."""

    run: str
    """The name of a run, the beginning of it, or `latest`."""
    results: Path = option_values.RESULTS
    """The results folder."""


@dataclass(frozen=True, slots=True)
class CancelResult:
    """A run whose jobs were cancelled."""

    cluster: ClusterRun
    jobs: tuple[str, ...]
    """The jobs that waited or ran."""

    @property
    def resume_command(self) -> str:
        """The command that goes on with the run."""
        return self.cluster.resume_command


def cancel(options: CancelOptions, host: Host) -> CancelResult:
    """Cancel every job of a run, and ask a submitter that is still at work to submit no more.

    Raises `InputError` if it is no run on a cluster, `HostError` if the scheduler does not answer, or refuses to cancel
    a job.

    Example: `cancel(CancelOptions(run="latest"), this_host()).jobs`
    """
    cluster = required_cluster_run(options.results, options.run)
    executor = cluster.record().site.executor
    if executor is Executor.LOCAL:
        raise InputError(f"{cluster.name} has no jobs: `run` itself measures its parts; stop that with Ctrl-C")
    if executor is Executor.KUBERNETES:
        chosen = f"{RUN_LABEL}={cluster.name}"
        raise InputError(f"{cluster.name} was not submitted from here: kubectl delete jobs --selector {chosen}")
    cluster = ClusterRun(cluster.folder.absolute())
    cancelled.ask(cluster.folder)
    names = cluster.jobs().names
    if not names:
        return CancelResult(cluster, ())
    slurm = Slurm(host.environment, cluster.folder)
    try:
        queue = slurm.queue(names)
    except NoAnswerError as error:
        remedy = "nothing is cancelled; try again when it does"
        raise HostError(f"the scheduler does not answer ({error}), so {remedy}") from error
    live = tuple(sorted(job.id for job in queue if job.state.is_live))
    slurm.cancel(live)
    return CancelResult(cluster, live)
