"""One part of a run, measured on the node that this process is on, as an ordinary run of its plan."""

import platform
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from orchestrator.clusters import kubernetes
from orchestrator.clusters.folder import ClusterRun, complete_on, node_runs, run_on
from orchestrator.clusters.record import PART, PartRecord, plan_of, read_part
from orchestrator.clusters.site import ImagesFrom
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.reporting.findings.compose import report as read_report
from orchestrator.results.files import frozen as frozen_files
from orchestrator.results.names import PARTS
from orchestrator.results.store import Run
from orchestrator.workflows.cluster.options import run_options
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.node_caches import NODE_VARIABLE, node_cache
from orchestrator.workflows.inputs.data import check_again
from orchestrator.workflows.inputs.stored_runs import STORED_MATRIX, stored_settings
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.jobs import Job
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.outputs import report_page
from orchestrator.workflows.run import carry_out


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOptions:
    """The options of `run --part`."""

    part: Path
    """The folder of the part."""
    retry_failed: bool = False
    """Try again what has failed."""
    own_run: str = ""
    """The name of a new run, which comes back in a file. Empty in a folder that nodes share."""

    def run(self) -> Run:
        """Return the run that comes back in a file."""
        return Run(self.part.absolute() / self.own_run)


@dataclass(frozen=True, slots=True)
class PartResult:
    """A part that was measured here, or that others had measured already."""

    run: Run | None
    """The run on this node. None if there was nothing left to do."""
    stopped: bool = False


def measure_part(options: PartOptions, host: Host) -> PartResult:
    """Measure a part on this node. What it has begun before goes on; another node begins a run of its own.

    Raises `InputError` if there is no such part, `HostError` as `run` does.
    """
    host = _with_own_cache(host)
    folder = options.part.absolute()
    record = read_part(folder / PART)
    plan, node = plan_of(record), this_node(host)
    every = node_runs(folder, plan.cells, retry_failed=options.retry_failed)
    complete = complete_on(every)
    if node in complete or len(complete) >= record.replicate:
        host.say(f"part {record.part} is complete: {', '.join(complete)} measured it")
        return PartResult(None)
    run, has_begun = run_on(folder, node, lambda run: jobs.elsewhere(run, run.record().host, host) is not None)
    if options.own_run:
        run, has_begun = options.run(), False
    others = [each.run.name for each in every if each.run.name != run.name and not each.is_complete]
    if others and not has_begun:
        host.say(f"part {record.part} begins anew on {node}: figures of {', '.join(others)} do not mix with its own")
    job = _resumed(run, record, host) if has_begun else _new(run, record, plan, ClusterRun(folder.parent.parent), host)
    frozen = None if record.images.kind is ImagesFrom.BUILD else record.images
    job = replace(job, frozen_images=frozen, part_of=f"{record.run}/{PARTS}/{record.part}" if options.own_run else None)
    # A node by itself has no folder of the whole run.
    go_on = (
        f"orchestrator run --resume {record.run}" if options.own_run else ClusterRun(folder.parents[1]).resume_command
    )
    carry_out(job, run_options(record.options, folder, retry_failed=options.retry_failed), host, go_on)
    report_page(run, read_report(run))
    return PartResult(run, host.stop.is_set())


def this_node(host: Host) -> str:
    """Return the name of the node that this process is on."""
    return host.environment.get(NODE_VARIABLE) or host.environment.get(kubernetes.NODE_VARIABLE) or platform.node()


def _with_own_cache(host: Host) -> Host:
    """Return the host of a job with a cache folder for its node alone.

    Nodes often share home folders. They would make environments at one place at once, and measure in turn.
    """
    if NODE_VARIABLE not in host.environment:
        return host
    own = node_cache(host, host.environment[NODE_VARIABLE])
    return replace(host, environment={**host.environment, "XDG_CACHE_HOME": str(own)})


def _resumed(run: Run, record: PartRecord, host: Host) -> Job:
    return jobs.resumed(run.folder.parent, run.name, RuntimeName.AUTO, record.options.base_image, host)


def _new(run: Run, record: PartRecord, plan: Plan, cluster: ClusterRun, host: Host) -> Job:
    """Return the job of a part that nobody has begun on this node, with the frozen files of its run."""
    frozen = frozen_files.frozen_of(plan)
    frozen_files.check(cluster.folder, frozen)
    check_again(plan)
    try:
        matrix = yaml.safe_load((cluster.folder / STORED_MATRIX).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(f"{cluster.folder / STORED_MATRIX}: cannot be read, which this part needs: {error}") from error
    return Job(
        plan,
        stored_settings(Run(cluster.folder), record.options.base_image, host.environment),
        run,
        RuntimeName(record.options.runtime),
        matrix,
        plan.models,
        frozen=tuple((each, frozen_files.folder_of(cluster.folder, each)) for each in frozen),
    )
