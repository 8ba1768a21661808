"""A run, from a matrix, a bundle or an interrupted run to its report."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.domain import Cell, Outcome
from orchestrator.errors import HostError, InputError
from orchestrator.images.registries.pushed_file import image_source
from orchestrator.reporting.findings.compose import report as read_report
from orchestrator.reporting.findings.model import Report
from orchestrator.results.decisions import Decisions, write_decisions
from orchestrator.results.store import Run
from orchestrator.running import Policy, execute
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.bundle_plans import PlanSource, chosen_bundle, wanted_plan
from orchestrator.workflows.inputs.data import with_carried_data, with_data
from orchestrator.workflows.inputs.planned_matrix import plan_matrix
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.asked_looks import AskedLooks, check_budget, until_decided, with_first_blocks
from orchestrator.workflows.measure.frontier_run import first_plan, frontier_run
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
    until_decided: bool = False
    """Measure block by block until every comparison of every group is decided."""
    max_blocks: int | None = None
    """Most blocks of a run until decided, in place of 64."""
    budget: str | None = None
    """Most time of a run until decided, such as `2h`. With `resume`, in place of its own."""


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
    cells = job.run.plan().cells  # of a run until decided, the plan has grown
    failed = has_failed(cells, job.run.outcomes(cells))
    return RunResult(job.run, report, report_page(job.run, report), host.stop.is_set(), failed)


def carry_out(job: Job, options: RunOptions, host: Host, go_on: str) -> None:
    """Measure what a job still has to, by its plan and the options of how to measure.

    Raises `HostError` as `run` does, with the command `go_on` if something has been measured.
    """
    policy = Policy(
        job.plan.seed, options.jobs, options.retries, options.fail_fast, options.retry_failed, options.extra_repeats
    )
    decisions = None if options.resume else _decisions(options)
    setting = Setting(
        options.idle_wait_s,
        keep=lambda run: write_decisions(run, decisions) if decisions else None,
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
                if adaptive := until_decided(surroundings, policy, _asked_looks(options)):
                    adaptive.carry_out()
                elif any(cell.frontier for cell in job.plan.cells):
                    frontier_run(surroundings, policy).carry_out()
                else:
                    list(execute(job.plan, surroundings, policy))
        except HostError as error:
            if not job.run.has_begun:
                raise
            raise HostError(f"{error}\nwhat is measured is kept; go on with: {go_on}") from error


def _job(options: RunOptions, host: Host) -> Job:
    results, runtime = options.results, options.runtime
    if options.resume is not None:
        refuse_changes(options)
        job = jobs.resumed(results, options.resume, runtime, options.base_image, host)
        check_budget(job.run, _asked_looks(options))
        return job
    if options.retry_failed:
        raise InputError("--retry-failed tries again what a run has recorded: say which with --resume RUN")
    if bundle := chosen_bundle("run", options, host):
        plan = with_carried_data(wanted_plan(bundle, options), bundle, options.data, host)
        return _with_first(jobs.of_bundle(bundle, plan, results, runtime, options.repeats), options)
    planned = plan_matrix(options, host)
    planned = replace(planned, plan=with_data(planned.plan, planned.matrix, options.data, host))
    return _with_first(jobs.new(planned, results, runtime, options.repeats), options)


def _with_first(job: Job, options: RunOptions) -> Job:
    """Return a new job with what it measures first, if what it sees decides on the rest."""
    decisions = _decisions(options)
    if decisions is None:
        return replace(job, plan=first_plan(job.plan))
    if any(cell.frontier for cell in job.plan.cells):
        raise InputError(
            "--until-decided compares the cells of a plan, and a frontier adds cells: leave one of them out"
        )
    return with_first_blocks(job, decisions)


def _asked_looks(options: RunOptions) -> AskedLooks:
    return AskedLooks(options.until_decided, options.max_blocks, options.budget)


def _decisions(options: RunOptions) -> Decisions | None:
    """Return what a new run until decided is asked. Raises `InputError` for options that it does not go with."""
    given = {"--repeats": options.repeats is not None, "--quick": options.quick, "--prune-images": options.prune_images}
    return _asked_looks(options).decisions([name for name, is_given in given.items() if is_given])


def refuse_changes(options: RunOptions) -> None:
    """Raise `InputError` for options that the plan of a stored run has settled."""
    settled = (options.file, options.plan, options.select, options.exclude, options.repeats, options.models)
    of_looks = options.until_decided or options.max_blocks is not None
    if any(settled) or options.data or options.no_parity or options.strict or options.quick or of_looks:
        raise InputError(
            "--resume goes on with the run's own plan: leave out --file, --plan, --select, --exclude, --models, "
            "--data, --repeats, --quick, --no-parity, --strict, --until-decided and --max-blocks"
        )


def _resume_command(run: Run) -> str:
    return f"orchestrator run --resume {run.name} --results {run.folder.parent}"


def has_failed(cells: Iterable[Cell], outcomes: Iterable[Outcome]) -> bool:
    """Return whether any outcome is a failure that the matrix does not expect."""
    expected = {cell.id: cell.expect for cell in cells}
    return any(outcome.status.is_failure and outcome.status is not expected[outcome.cell_id] for outcome in outcomes)
