"""`run`: the whole road, from a matrix (or a run that was interrupted) to its report."""

import contextlib
import secrets
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator import __version__, matrix, reporting
from orchestrator.cli import composition, views
from orchestrator.cli.completion import run_names
from orchestrator.cli.data import check_again, with_data
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
)
from orchestrator.cli.report import PAGE_FOLDER, show
from orchestrator.cli.runtime import RuntimeName, choose
from orchestrator.cli.signals import INTERRUPTED, stop_on_signals
from orchestrator.devices import host_facts, idle, inventory
from orchestrator.domain import BuildSettings, Cell, ModelFile, Outcome, Plan
from orchestrator.errors import HostError, InputError
from orchestrator.events import Listener, Notice
from orchestrator.results.contract import RunRecord
from orchestrator.results.store import Run, plan_to_json, runs
from orchestrator.running import Policy, Surroundings, execute, new_run_name
from orchestrator.running.presence import announced


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)


@dataclass(frozen=True, slots=True)
class _Job:
    """What there is to do: a new run, or one to be taken up again."""

    plan: Plan
    settings: BuildSettings
    run: Run
    runtime: RuntimeName
    matrix: dict[str, Any] | None
    """Long form, for a new run; None for one that is there."""
    own_models: tuple[ModelFile, ...] = ()


Repeats = Annotated[int | None, typer.Option("--repeats", min=1, help="In place of the matrix's own.")]
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
    select: Select = [],
    exclude: Exclude = [],
    limit: Limit = DEFAULT_LIMIT,
    no_parity: NoParity = False,
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
    """Run a matrix: build what is missing, launch every cell, and report."""
    if resume is not None:
        changed = bool(file or select or exclude or repeats or models or data or no_parity)
        job = _resumed(results, resume, runtime, base_image, changed)
    else:
        if retry_failed:
            raise InputError("--retry-failed tries again what a run has recorded: say which with --resume RUN")
        prepared = composition.prepare(file, select, exclude, limit, base_image, models, no_parity=no_parity)
        prepared = replace(prepared, plan=with_data(prepared.plan, prepared.matrix, data))
        job = _new(prepared, results, runtime, repeats)
    policy = Policy(job.plan.seed, jobs, retries, fail_fast, retry_failed, extra_repeats)
    go_on = f"orchestrator run --resume {job.run.name} --results {results}"
    with stop_on_signals() as stop, views.follow(json=json) as listener:
        for warning in job.plan.warnings:
            listener(Notice(f"warning: {warning}"))
        try:
            outcomes = _execute(job, policy, idle_wait, listener, stop)
        except HostError as error:
            if not job.run.has_begun:
                raise
            raise HostError(f"{error}\nwhat is measured is kept; go on with: {go_on}") from error
    report = reporting.report(job.run)
    if json:
        reporting.write_html(report, job.run.folder / PAGE_FOLDER, job.run.folder)
        composition.print_json(reporting.json_value(report))
    else:
        show(job.run, report)
    if stop.is_set():
        composition.say(f"stopped; go on with: {go_on}")
        raise typer.Exit(INTERRUPTED)
    if has_failed(job.plan.cells, outcomes):
        raise typer.Exit(1)


def has_failed(cells: Iterable[Cell], outcomes: Iterable[Outcome]) -> bool:
    """Whether any outcome is a failure that the matrix does not expect."""
    expected = {cell.id: cell.expect for cell in cells}
    return any(outcome.status.is_failure and outcome.status is not expected[outcome.cell_id] for outcome in outcomes)


def _new(prepared: composition.Prepared, results: Path, runtime: RuntimeName, repeats: int | None) -> _Job:
    plan = prepared.plan
    if repeats is not None:
        plan = replace(plan, cells=tuple(replace(cell, repeats=repeats) for cell in plan.cells))
    document = composition.without_credentials(matrix.long_form(prepared.matrix), prepared.settings)
    name = new_run_name(datetime.now(UTC), secrets.token_hex(2), [run.name for run in runs(results)])
    return _Job(plan, prepared.settings, Run(results / name), runtime, document, prepared.own_models)


def _resumed(results: Path, name: str, runtime: RuntimeName, base_image: str | None, changed: bool) -> _Job:
    if changed:
        raise InputError(
            "--resume goes on with the run's own plan: "
            "leave out --file, --select, --exclude, --models, --data, --repeats and --no-parity"
        )
    found = composition.find_run(results, name)
    record = found.record()
    recorded = RuntimeName(record.runtime)
    if runtime not in {RuntimeName.AUTO, recorded}:
        raise InputError(f"{found.name} was measured with --runtime {recorded}; numbers of two runtimes do not mix")
    plan = found.plan()
    check_again(plan)
    return _Job(plan, composition.stored_settings(found, base_image), found, recorded, None)


def _execute(job: _Job, policy: Policy, idle_wait_s: float, listener: Listener, stop: threading.Event) -> list[Outcome]:
    here = inventory()
    with contextlib.ExitStack() as closing:
        closing.enter_context(announced(composition.cache_folder(), job.run.folder))
        chosen = choose(job.runtime, job.plan, job.settings, here, listener)
        closing.callback(chosen.close)
        if job.matrix is not None:
            record = _record(job, chosen.runtime.name, host_facts(here, chosen.engine_version))
            # The record comes last: with it there is a run, which must have all that going on with it needs.
            job.run.create()
            composition.store_matrix(job.run, job.matrix, job.own_models)
            job.run.write_record(record)
        surroundings = Surroundings(
            run=job.run,
            runtime=chosen.runtime,
            inventory=here,
            clock=lambda: datetime.now(UTC),
            listener=listener,
            stop=stop,
            turn=composition.cache_folder() / "measuring.lock",
            answers=composition.cache_folder() / "parity",
            idle=(lambda given, stop: idle.wait(given.cpus, idle_wait_s, stop)) if idle_wait_s else None,
        )
        list(execute(job.plan, surroundings, policy))
    # Of a resumed run, those measured before count as well.
    return list(job.run.outcomes(job.plan.cells))


def _record(job: _Job, runtime: str, host: dict[str, Any]) -> RunRecord:
    return RunRecord(
        run=job.run.name,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        orchestrator_version=__version__,
        runtime=runtime,
        host=host,
        plan=plan_to_json(job.plan),
        matrix=job.matrix or {},
    )
