"""`run`: the whole road, from a matrix (a bundle, a run that was interrupted) to its report."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated

import typer

from orchestrator.cli import carried, composition, speech, views
from orchestrator.cli import jobs as jobs_of
from orchestrator.cli.beginning import Setting, begun
from orchestrator.cli.carried import PlanName
from orchestrator.cli.completion import run_names
from orchestrator.cli.data import with_carried_data, with_data
from orchestrator.cli.options import (
    DEFAULT_LIMIT,
    DEFAULT_RESULTS,
    BaseImage,
    DataFolder,
    Exclude,
    Jobs,
    Json,
    Limit,
    MatrixFile,
    ModelsFolder,
    NoParity,
    Results,
    Select,
    Strict,
)
from orchestrator.cli.report import PAGE_FOLDER, show
from orchestrator.cli.runtime import RuntimeName
from orchestrator.cli.signals import INTERRUPTED, stop_on_signals
from orchestrator.domain import Cell, Outcome
from orchestrator.errors import HostError, InputError
from orchestrator.events import Notice
from orchestrator.matrix.values.limits import MAX_REPEATS
from orchestrator.reporting.findings.gather import report as read_report
from orchestrator.reporting.reports.run.page import write_html
from orchestrator.reporting.reports.run.value import json_value
from orchestrator.running import Policy, execute


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)


Repeats = Annotated[int | None, typer.Option("--repeats", min=1, max=MAX_REPEATS, help="In place of the matrix's own.")]
Resume = Annotated[
    str | None,
    typer.Option(
        "--resume", metavar="RUN", autocompletion=run_names, help="Take up a run again ('latest' for the last one)."
    ),
]
FailFast = Annotated[bool, typer.Option("--fail-fast", help="Leave the rest not run after a failure.")]
Retries = Annotated[int, typer.Option("--retries", min=0, help="Further attempts after a crash.")]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="With --resume: try again what has failed.")]
ExtraRepeats = Annotated[
    int, typer.Option("--extra-repeats", min=0, help="How often a repeat that was disturbed is measured again.")
]
IdleWait = Annotated[
    float,
    typer.Option(
        "--idle-wait",
        min=0,
        metavar="S",
        envvar="ORCHESTRATOR_IDLE_WAIT",
        help="Wait so long at most for an idle host before a cell.",
    ),
]


def run(
    file: MatrixFile = None,
    plan: PlanName = None,
    select: Select = [],
    exclude: Exclude = [],
    limit: Limit = DEFAULT_LIMIT,
    no_parity: NoParity = False,
    strict: Strict = False,
    base_image: BaseImage = None,
    models: ModelsFolder = None,
    data: DataFolder = None,
    jobs: Jobs = 2,
    runtime: Annotated[RuntimeName, typer.Option("--runtime", help="Where cells run.")] = RuntimeName.AUTO,
    repeats: Repeats = None,
    results: Results = DEFAULT_RESULTS,
    resume: Resume = None,
    fail_fast: FailFast = False,
    retries: Retries = 0,
    retry_failed: RetryFailed = False,
    extra_repeats: ExtraRepeats = 1,
    idle_wait: IdleWait = 10.0,
    json: Json = False,
) -> None:
    """Run a matrix, or the plan of a bundle: build what is missing, launch every cell, and report."""
    if resume is not None:
        changed = bool(file or plan or select or exclude or repeats or models or data or no_parity or strict)
        job = jobs_of.resumed(results, resume, runtime, base_image, changed=changed)
    elif retry_failed:
        raise InputError("--retry-failed tries again what a run has recorded: say which with --resume RUN")
    elif bundle := carried.chosen("run", file, plan):
        carried.refuse_matrix_options(base_image, models, strict=strict)
        wanted = carried.plan_of(bundle, select, exclude, no_parity=no_parity)
        job = jobs_of.of_bundle(bundle, with_carried_data(wanted, bundle, data), results, runtime, repeats)
    else:
        prepared = composition.prepare(
            file, select, exclude, limit, base_image, models, no_parity=no_parity, strict=strict
        )
        prepared = replace(prepared, plan=with_data(prepared.plan, prepared.matrix, data))
        job = jobs_of.new(prepared, results, runtime, repeats)
    policy = Policy(job.plan.seed, jobs, retries, fail_fast, retry_failed, extra_repeats)
    go_on = f"orchestrator run --resume {job.run.name} --results {results}"
    with stop_on_signals() as stop, views.follow(json=json) as listener:
        for warning in job.plan.warnings:
            listener(Notice(f"warning: {warning}"))
        setting = Setting(listener, stop, idle_wait, retry_failed=retry_failed, selects=True)
        try:
            with begun(job, setting) as surroundings:
                list(execute(job.plan, surroundings, policy))
        except HostError as error:
            if not job.run.has_begun:
                raise
            raise HostError(f"{error}\nwhat is measured is kept; go on with: {go_on}") from error
    _conclude(job, json=json)
    if stop.is_set():
        speech.say(f"stopped; go on with: {go_on}")
        raise typer.Exit(INTERRUPTED)
    # Of a resumed run, those measured before count as well.
    if has_failed(job.plan.cells, job.run.outcomes(job.plan.cells)):
        raise typer.Exit(1)


def _conclude(job: jobs_of.Job, *, json: bool) -> None:
    """Report what a run has measured so far: as JSON, or in the terminal, and as pages beside it."""
    report = read_report(job.run)
    if json:
        write_html(report, job.run.folder / PAGE_FOLDER, job.run.folder)
        speech.print_json(json_value(report))
    else:
        show(job.run, report)


def has_failed(cells: Iterable[Cell], outcomes: Iterable[Outcome]) -> bool:
    """Whether any outcome is a failure that the matrix does not expect."""
    expected = {cell.id: cell.expect for cell in cells}
    return any(outcome.status.is_failure and outcome.status is not expected[outcome.cell_id] for outcome in outcomes)
