"""A run on a cluster: frozen, submitted and followed, or its parts measured here one after the other."""

import sys
from dataclasses import dataclass, replace

from orchestrator.clusters.arrays import Wanted, arrays
from orchestrator.clusters.folder import ClusterRun, PartState, nodes_of_job, part_states
from orchestrator.clusters.ownership import claim, this_host
from orchestrator.clusters.record import ClusterRecord, JobsRecord
from orchestrator.clusters.site import Executor, Site
from orchestrator.clusters.slurm import Slurm
from orchestrator.clusters.states import GOES_ON, JobState
from orchestrator.errors import HostError, InputError
from orchestrator.reporting.findings.model import Report
from orchestrator.results.files.writing import locked
from orchestrator.results.store import Run
from orchestrator.wording import counted
from orchestrator.workflows.cluster import cancelled
from orchestrator.workflows.cluster.follow import Follower, Pause
from orchestrator.workflows.cluster.freeze import freeze
from orchestrator.workflows.cluster.options import ClusterOptions, refuse_kubernetes
from orchestrator.workflows.cluster.part import PartOptions, measure_part
from orchestrator.workflows.cluster.submission import Submitter
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.cluster_runs import cluster_report, refuse_fleet_check, refuse_merged
from orchestrator.workflows.outputs import WrittenPage, report_page
from orchestrator.workflows.run import refuse_changes

PROGRAM = (sys.executable, "-m", "orchestrator")
"""This program, for nodes that see it at the same path."""


@dataclass(frozen=True, slots=True)
class ClusterResult:
    """A run on a cluster that came to its end, or whose jobs go on."""

    cluster: ClusterRun
    is_detached: bool
    """Its jobs go on without this program. `resume_command` attaches again."""
    stopped: bool = False
    """It was asked to stop, or to detach."""
    unsubmitted: int = 0
    """Arrays that the scheduler did not take before the end."""
    refusals: tuple[str, ...] = ()
    """The words of the scheduler about arrays that it can never take."""
    report: Report | None = None
    """None while jobs go on."""
    page: WrittenPage | None = None
    failed: bool = False
    """An outcome is a failure that the matrix does not expect."""

    @property
    def resume_command(self) -> str:
        """The command that goes on with the run."""
        return self.cluster.resume_command


def run(options: ClusterOptions, site: Site, host: Host, pause: Pause | None = None) -> ClusterResult:
    """Freeze a new run and measure its parts on a site.

    Raises `InputError` with every mistake of the matrix, `HostError` if the scheduler cannot be used.
    """
    refuse_kubernetes(site)
    cluster, record = freeze(options, site, host)
    host.say(f"run: {cluster.folder}")
    return _reported(measured(cluster, record, options, host, pause))


def resume(cluster: ClusterRun, options: ClusterOptions, host: Host, pause: Pause | None = None) -> ClusterResult:
    """Attach to a run again, and submit the parts that have repeats without a final outcome and no live job.

    Raises `InputError` for options that the run has settled, `HostError` as `run` does.
    """
    refuse_changes(options)
    if options.site is not None or options.replicate is not None or options.images is not None:
        raise InputError("--resume goes on with the run's own site: leave out --site, --replicate and --images")
    refuse_merged(cluster)
    record = refuse_fleet_check(cluster)
    return _reported(measured(ClusterRun(cluster.folder.absolute()), record, options, host, pause))


def measured(
    cluster: ClusterRun, record: ClusterRecord, options: ClusterOptions, host: Host, pause: Pause | None
) -> ClusterResult:
    """Measure what is left of a run, and return it without a report.

    Raises `HostError` if the scheduler cannot be used, or if another program follows the run.
    """
    refuse_kubernetes(record.site)
    in_use = HostError(f"{cluster.folder}: another orchestrator follows this run; a first Ctrl-C there detaches it")
    lock = locked(cluster.folder / ".lock", in_use, "choose another --results")
    try:
        with host.working():
            if record.site.executor is Executor.LOCAL:
                _measure_here(cluster, record, options, host)
                return ClusterResult(cluster, is_detached=False, stopped=host.stop.is_set())
            return _submitted(cluster, record, options, host, pause or host.stop.wait)
    except HostError as error:
        raise HostError(f"{error}\nwhat is submitted goes on; go on with: {cluster.resume_command}") from error
    finally:
        lock.release()


def _measure_here(cluster: ClusterRun, record: ClusterRecord, options: ClusterOptions, host: Host) -> None:
    for state in _wanted(cluster, record, retry_failed=options.retry_failed):
        if host.stop.is_set():
            return
        host.say(f"part {state.part.name}: {', '.join(state.part.groups)}")
        measure_part(PartOptions(part=cluster.part_folder(state.part.name), retry_failed=options.retry_failed), host)


def _wanted(cluster: ClusterRun, record: ClusterRecord, *, retry_failed: bool) -> list[PartState]:
    return [state for state in part_states(cluster, record, retry_failed=retry_failed) if state.missing]


def _submitted(
    cluster: ClusterRun, record: ClusterRecord, options: ClusterOptions, host: Host, pause: Pause
) -> ClusterResult:
    owned = claim(cluster.folder, this_host())
    try:
        cancellation = cancelled.watch(cluster.folder)
        submitter = Submitter(
            cluster, record, Slurm(host.environment, cluster.folder), PROGRAM, host.say, owned,
            is_halted=lambda: host.stop.is_set() or cancellation.is_asked(), retry_failed=options.retry_failed,
        )  # fmt: skip
        return _followed(submitter, Follower(submitter, host, pause, cancellation), options, host)
    finally:
        owned.release()


def _followed(submitter: Submitter, follower: Follower, options: ClusterOptions, host: Host) -> ClusterResult:
    """Submit what is left of a run, and wait for the end of its jobs unless that is not wanted."""
    cluster, record = submitter.cluster, submitter.record
    live = follower.attach()
    if live is None:
        return ClusterResult(cluster, is_detached=True, stopped=True)
    submitter.waiting += arrays(_left(submitter, live, host), record.site)
    is_whole = follower.submitted() if options.detach else follower.follow()
    if submitter.refusals and not (submitter.taken or live):
        raise HostError("\n".join(dict.fromkeys(submitter.refusals)))
    if not options.detach and is_whole:
        _tell_of_files(cluster, record, submitter.jobs, host)
    return ClusterResult(
        cluster, is_detached=options.detach or not is_whole, stopped=not is_whole,
        unsubmitted=len(submitter.waiting), refusals=tuple(submitter.refusals),
    )  # fmt: skip


def _left(submitter: Submitter, live: set[str], host: Host) -> list[Wanted]:
    """Return the parts that are to be submitted, each with the nodes that it is wanted on."""
    cluster, record, retry_failed = submitter.cluster, submitter.record, submitter.retry_failed
    left_out = live | (set() if retry_failed else _on_their_nodes(cluster, submitter.jobs, record))
    states = [state for state in _wanted(cluster, record, retry_failed=retry_failed) if state.part.name not in left_out]
    if record.site.on_nodes:  # a node by itself begins anew, so no job asks for it
        return [Wanted(state.part, state.missing, state.complete) for state in states]
    goes_on = {part for part, end in submitter.jobs.ends.items() if end.state in GOES_ON}
    cut_off = (state for state in states if state.part.name in goes_on and not (state.failed or state.part.node))
    begun = {state.part.name: state.begun for state in cut_off}
    fit = _taking_jobs(submitter, host) if any(begun.values()) else set()
    return [
        Wanted(
            state.part, state.missing, state.complete,
            state.failed or tuple(node for node in begun.get(state.part.name, ()) if node in fit),
        )
        for state in states
    ]  # fmt: skip


def _taking_jobs(submitter: Submitter, host: Host) -> set[str]:
    """Return the nodes that the scheduler gives jobs to. None of them if that cannot be told."""
    try:
        nodes = submitter.slurm.nodes(submitter.record.site.partition)
    except HostError as error:
        host.say(f"{error}; parts that were cut off may begin anew on other nodes")
        return set()
    return {node for node, takes_jobs in nodes.items() if takes_jobs}


def _on_their_nodes(cluster: ClusterRun, jobs: JobsRecord, record: ClusterRecord) -> set[str]:
    """Return the parts that a job has measured whose results stay on its nodes until somebody brings them.

    A job that the scheduler has forgotten may have measured its part as well.
    """
    if not record.site.on_nodes:
        return set()
    may_have = {JobState.COMPLETED, JobState.FORGOTTEN}
    measured = ((part, end.job) for part, end in jobs.ends.items() if end.state in may_have)
    return {part for part, job in measured if nodes_of_job(cluster.part_folder(part), job) < jobs.nodes_of(job)}


def _tell_of_files(cluster: ClusterRun, record: ClusterRecord, jobs: JobsRecord, host: Host) -> None:
    if left := _on_their_nodes(cluster, jobs, record):
        place = record.site.on_node(cluster.name)
        host.say(f"the results of {counted(len(left), 'part')} lie on their nodes in {place}: bring these files, and")
        host.say(f"merge each with: orchestrator merge FILE --results {cluster.folder.parent}")


def _reported(result: ClusterResult) -> ClusterResult:
    """Return a run that came to its end with its report."""
    if result.is_detached:
        return result
    report = cluster_report(result.cluster)
    problems = (problem for each in (report, *report.replicates) for problem in each.problems)
    failed = any(problem.status.is_failure and not problem.expected for problem in problems)
    page = report_page(Run(result.cluster.folder), report)
    return replace(result, report=report, page=page, failed=failed)
