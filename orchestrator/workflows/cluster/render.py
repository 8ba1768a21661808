"""The Jobs of a run for Kubernetes, written to a file. They are created by whoever has the cluster."""

from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.clusters.arrays import Wanted, minutes
from orchestrator.clusters.folder import ClusterRun, part_states
from orchestrator.clusters.kubernetes import job, lacking, text
from orchestrator.clusters.record import ClusterRecord, plan_of
from orchestrator.clusters.site import Pods, Site
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.results.files.writing import made_folder, write_atomically
from orchestrator.wording import listing
from orchestrator.workflows.cluster.freeze import results_of, split, write
from orchestrator.workflows.cluster.options import ClusterOptions, chosen_site
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.cluster_runs import refuse_merged, required_cluster_run
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.run import refuse_changes

FOLDER = "kubernetes"
"""Folder of the files of Jobs, below that of the run."""


@dataclass(frozen=True, slots=True)
class RenderedJob:
    """The Job of one part."""

    part: str
    groups: tuple[str, ...]
    pods: int
    minutes: int
    """Its time limit."""


@dataclass(frozen=True, slots=True)
class RenderResult:
    """A run whose Jobs were written."""

    cluster: ClusterRun
    claim: str
    path: Path | None
    """The file of the Jobs; None if nothing is left to measure."""
    jobs: tuple[RenderedJob, ...]
    pythons: tuple[str, ...]
    """The Pythons that the image must have, one for each kind of environment."""


def render(options: ClusterOptions, host: Host) -> RenderResult:
    """Freeze a new run, or take one up again, and write a Job for each part that is still to be measured.

    Raises `InputError` with every mistake of the matrix and the site, and for what a pod cannot measure.

    Example: `render(ClusterOptions(site="site.yaml"), this_host()).path`
    """
    cluster, record = _new(options, host) if options.resume is None else _resumed(options, options.resume)
    pods = _pods(record.site, str(cluster.folder))
    states = part_states(cluster, record, retry_failed=options.retry_failed)
    wanted = [Wanted(state.part, state.missing, state.complete, state.failed) for state in states if state.missing]
    path = _write(cluster, record, pods, wanted, retry_failed=options.retry_failed) if wanted else None
    jobs = (
        RenderedJob(each.part.name, each.part.groups, each.nodes, minutes(each.part.seconds, record.site.time))
        for each in wanted
    )
    return RenderResult(cluster, pods.claim, path, tuple(jobs), _pythons(record) if wanted else ())


def _new(options: ClusterOptions, host: Host) -> tuple[ClusterRun, ClusterRecord]:
    site = chosen_site(options, host)
    if site is None:
        raise InputError("render k8s needs a site file with `executor: kubernetes`: name it with --site FILE")
    if options.runtime is RuntimeName.DOCKER:
        raise InputError("--runtime docker: a pod has no container engine; take venv, or host")
    pods = _pods(site, "this site")
    auto = options.runtime is RuntimeName.AUTO
    options = replace(options, runtime=RuntimeName.VENV) if auto else options
    frozen = split(options, host)
    mistakes = [*lacking((part for part, _ in frozen.parts), pods), *unreachable(frozen.plan)]
    if mistakes:
        raise InputError(*mistakes)
    cluster, record = write(frozen, options, site, results_of(options, site))
    host.say(f"run: {cluster.folder}")
    return cluster, record


def _pods(site: Site, whose: str) -> Pods:
    if site.kubernetes is None:
        raise InputError(f"{whose} says `executor: {site.executor}`: render k8s needs `executor: kubernetes`")
    return site.kubernetes


def unreachable(plan: Plan) -> list[str]:
    """Return the mistakes about files of this host, which no pod sees."""
    names = [data.name for data in plan.data]
    return [f"no pod sees the files of {listing(names)}: select cells with synthetic data"] if names else []


def _resumed(options: ClusterOptions, name: str) -> tuple[ClusterRun, ClusterRecord]:
    refuse_changes(options)
    if options.site is not None or options.replicate is not None:
        raise InputError("--resume goes on with the run's own site: leave out --site and --replicate")
    cluster = required_cluster_run(options.results, name)
    refuse_merged(cluster)
    return ClusterRun(cluster.folder.absolute()), cluster.record()


def _write(cluster: ClusterRun, record: ClusterRecord, pods: Pods, wanted: list[Wanted], *, retry_failed: bool) -> Path:
    """Write the Jobs to a file of their own, and return it. What was written before stays."""
    folder = made_folder(cluster.folder / FOLDER)
    path = folder / f"jobs-{sum(1 for _ in folder.glob('jobs-*.yaml')) + 1}.yaml"
    jobs = (job(each, record.run, record.site, pods, retry_failed=retry_failed) for each in wanted)
    write_atomically(path, text(record.run, jobs))
    return path


def _pythons(record: ClusterRecord) -> tuple[str, ...]:
    """Return the Pythons of the environments, which the image of the orchestrator must have."""
    if record.options.runtime != RuntimeName.VENV:
        return ()
    found = {image.environment.python for image in plan_of(record).images}
    return tuple(sorted(found, key=lambda python: tuple(map(int, python.split(".")))))
