"""A run, from a matrix, a bundle or an interrupted run to its report."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.domain import Cell, Outcome
from orchestrator.errors import HostError, InputError
from orchestrator.images.registries.pushed_file import image_source
from orchestrator.reporting.findings.compose import report as read_report
from orchestrator.reporting.findings.model import Report
from orchestrator.results.store import Run
from orchestrator.running import Policy, execute
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.bundle_plans import PlanSource, chosen_bundle, wanted_plan
from orchestrator.workflows.inputs.data import with_carried_data, with_data
from orchestrator.workflows.inputs.planned_matrix import plan_matrix
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.jobs import Job, Setting, begun
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.outputs import WrittenPage, report_page


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(PlanSource):
    """The options of `run`."""

    data: Path | None = None
    """Folder that holds `mnist/`, `cifar10/` and others."""
    jobs: int = option_values.JOBS
    """Environments made at the same time."""
    runtime: RuntimeName = RuntimeName.AUTO
    """The place that cells run in."""
    repeats: int | None = None
    """Repeats of each cell, in place of the matrix's."""
    results: Path = option_values.RESULTS
    """The results folder."""
    resume: str | None = None
    """A stored run to go on with, in place of a matrix. `latest` for the last one."""
    fail_fast: bool = False
    """Leave the rest not run after a failure."""
    retries: int = option_values.RETRIES
    """Further attempts after a crash."""
    retry_failed: bool = False
    """With `resume`, try again what has failed."""
    extra_repeats: int = option_values.EXTRA_REPEATS
    """Most times that a disturbed repeat is measured again."""
    idle_wait_s: float = option_values.IDLE_WAIT_S
    """Longest wait for an idle host before a cell."""
    prune_images: bool = False
    """Remove each image that this program built after its last cell, unless another run needs it."""
    images: Path | None = None
    """A file of `push`, whose images are pulled by digest where the engine lacks them. Nothing is built then."""
    exclusive: bool = False
    """Measure one cell at a time, also where cells on different GPUs are known not to disturb each other."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run that came to its end, or was stopped."""

    run: Run
    """The stored run. It gives its plan, its outcomes and its files."""
    report: Report
    """Cells with their measurements, groups with their ranks, parity, problems and warnings."""
    page: WrittenPage
    """The page of the report, in the run's folder."""
    stopped: bool
    """The run was asked to stop. `resume_command` goes on with it."""
    failed: bool
    """An outcome, of this time or of before, is a failure that the matrix does not expect."""

    @property
    def resume_command(self) -> str:
        """The command that goes on with the run."""
        return _resume_command(self.run)


def run(options: RunOptions, host: Host) -> RunResult:
    """Build what is missing, launch every cell, and report. A cell that fails is part of the result.

    Raises `InputError` with every mistake of the matrix, `HostError` if this host cannot begin or go on.

    Example: `run(RunOptions(repeats=5, runtime=RuntimeName.VENV), this_host()).report.groups`
    """
    source = image_source(options.images) if options.images is not None else None
    job = replace(_job(options, host), images=source)
    carry_out(job, options, host, _resume_command(job.run))
    report = read_report(job.run)
    failed = has_failed(job.plan.cells, job.run.outcomes(job.plan.cells))
    return RunResult(job.run, report, report_page(job.run, report), host.stop.is_set(), failed)


def carry_out(job: Job, options: RunOptions, host: Host, go_on: str) -> None:
    """Measure what a job still has to, by its plan and the options of how to measure.

    Raises `HostError` as `run` does, with the command `go_on` if something has been measured.
    """
    policy = Policy(
        job.plan.seed, options.jobs, options.retries, options.fail_fast, options.retry_failed, options.extra_repeats
    )
    setting = Setting(
        options.idle_wait_s,
        retry_failed=options.retry_failed,
        selects=True,
        prune_images=options.prune_images,
        exclusive=options.exclusive,
    )
    with host.working():
        for warning in job.plan.warnings:
            host.say(f"warning: {warning}")
        try:
            with begun(job, setting, host) as surroundings:
                list(execute(job.plan, surroundings, policy))
        except HostError as error:
            if not job.run.has_begun:
                raise
            raise HostError(f"{error}\nwhat is measured is kept; go on with: {go_on}") from error


def _job(options: RunOptions, host: Host) -> Job:
    results, runtime = options.results, options.runtime
    if options.resume is not None:
        refuse_changes(options)
        return jobs.resumed(results, options.resume, runtime, options.base_image, host)
    if options.retry_failed:
        raise InputError("--retry-failed tries again what a run has recorded: say which with --resume RUN")
    if bundle := chosen_bundle("run", options, host):
        plan = with_carried_data(wanted_plan(bundle, options), bundle, options.data, host)
        return jobs.of_bundle(bundle, plan, results, runtime, options.repeats)
    planned = plan_matrix(options, host)
    planned = replace(planned, plan=with_data(planned.plan, planned.matrix, options.data, host))
    return jobs.new(planned, results, runtime, options.repeats)


def refuse_changes(options: RunOptions) -> None:
    """Raise `InputError` for options that the plan of a stored run has settled."""
    settled = (options.file, options.plan, options.select, options.exclude, options.repeats, options.models)
    if any(settled) or options.data or options.no_parity or options.strict or options.quick:
        raise InputError(
            "--resume goes on with the run's own plan: leave out --file, --plan, --select, --exclude, --models, "
            "--data, --repeats, --quick, --no-parity and --strict"
        )


def _resume_command(run: Run) -> str:
    return f"orchestrator run --resume {run.name} --results {run.folder.parent}"


def has_failed(cells: Iterable[Cell], outcomes: Iterable[Outcome]) -> bool:
    """Return whether any outcome is a failure that the matrix does not expect."""
    expected = {cell.id: cell.expect for cell in cells}
    return any(outcome.status.is_failure and outcome.status is not expected[outcome.cell_id] for outcome in outcomes)
