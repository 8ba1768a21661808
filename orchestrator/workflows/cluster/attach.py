"""A run on a cluster for programs: submitted at one time, and followed to its report at another."""

from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.clusters.site import Executor
from orchestrator.errors import InputError
from orchestrator.workflows import option_values
from orchestrator.workflows.cluster.options import ClusterOptions, chosen_site
from orchestrator.workflows.cluster.run import ClusterResult, resume, run
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.cluster_runs import required_cluster_run


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowOptions:
    """The options of `follow`."""

    run: str = "latest"
    """The name of a run on a cluster, the beginning of it, or `latest`."""
    results: Path = option_values.RESULTS
    """The results folder."""
    retry_failed: bool = False
    """Try again what has failed."""
    detach: bool = False
    """Return once everything is submitted that is left."""


def submit(options: ClusterOptions, host: Host) -> ClusterResult:
    """Freeze a run on a cluster and submit its jobs. A site with `executor: local` measures it here, to its end.

    Raises `InputError` with every mistake of the site and the matrix, or without a site. Raises `HostError` if the
    scheduler cannot be used.

    Example: `submit(ClusterOptions(site="site.yaml", replicate=2), this_host()).cluster.name`
    """
    site = chosen_site(options, host)
    if site is None:
        raise InputError("there is no site: name its file with `site`, or measure on this host with `run`")
    return run(replace(options, detach=site.executor is Executor.SLURM), site, host)


def follow(options: FollowOptions, host: Host) -> ClusterResult:
    """Attach to a run on a cluster, submit what is left of it, and wait for the end of its jobs and its report.

    `host.stop` detaches: the jobs go on. Raises `InputError` if there is no such run, `HostError` as `submit` does.

    Example: `follow(FollowOptions(run="latest"), this_host()).report`
    """
    cluster = required_cluster_run(options.results, options.run)
    wanted = ClusterOptions(results=options.results, retry_failed=options.retry_failed, detach=options.detach)
    return resume(cluster, wanted, host)
