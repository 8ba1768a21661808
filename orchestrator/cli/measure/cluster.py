"""Runs on a cluster: the part of `run` that is about them, and the command `cancel`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import Json, Results, examples, run_names
from orchestrator.cli.output import outputs, speech
from orchestrator.cli.output.hosts import DETACHING, INTERRUPTED, STOPPING, stopped, this_host
from orchestrator.errors import HostError, InputError
from orchestrator.wording import counted
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from orchestrator.reporting.findings.model import Report
    from orchestrator.workflows.cluster.options import ClusterOptions
    from orchestrator.workflows.cluster.run import ClusterResult
    from orchestrator.workflows.outputs import WrittenPage
    from orchestrator.workflows.run import RunResult


def register(app: typer.Typer) -> None:
    """Add the command `cancel`."""
    app.command("cancel", epilog=examples("orchestrator cancel latest"))(cancel)


def run(options: "ClusterOptions", *, json: bool) -> bool:
    """Measure a run as a site says, or attach to one. Return False for a run that is measured here as a whole."""
    from orchestrator.clusters.site import Executor
    from orchestrator.workflows.cluster import run as workflow
    from orchestrator.workflows.cluster.options import chosen_site
    from orchestrator.workflows.inputs.cluster_runs import find_cluster_run

    found = find_cluster_run(options.results, options.resume) if options.resume is not None else None
    site = chosen_site(options, this_host()) if options.resume is None else None
    used = found.record().site if found else site
    if used is None:
        return False
    if json and options.detach:
        raise InputError("--json prints a report, and a detached run has none yet: leave one of the two out")
    host = this_host(DETACHING if used.executor is Executor.SLURM else STOPPING)
    result = workflow.resume(found, options, host) if found else workflow.run(options, used, host)
    _show(result, json=json)
    return True


def _show(result: "ClusterResult", *, json: bool) -> None:
    if result.report is None or result.page is None:
        left = f"; {counted(result.unsubmitted, 'array')} could not be submitted yet" if result.unsubmitted else ""
        speech.say(f"detached from {result.cluster.name}{left}; attach again with: {result.resume_command}")
        if result.stopped:
            raise typer.Exit(INTERRUPTED)
        speech.tell(speech.output(), result.cluster.name)
    else:
        end(result, result.report, result.page, json=json)
    if result.refusals:
        raise typer.Exit(HostError.exit_code)


def end(result: "RunResult | ClusterResult", report: "Report", page: "WrittenPage", *, json: bool) -> None:
    """Print the report of a run, and exit as the run ended."""
    from orchestrator.reporting.reports.run import RUN
    from orchestrator.reporting.reports.run.value import report_document

    if json:
        speech.print_document(report_document(report))
        if page.path is None:
            speech.say_error(f"no page: {page.problem}")
    else:
        outputs.show(RUN, report, page)
    if result.stopped:
        raise stopped(result.resume_command)
    if result.failed:
        raise typer.Exit(1)


def measure_part(part: Path, on_node: Path | None, *, retry_failed: bool) -> None:
    """Measure a part on this node. A cell that fails is a result, and no failure of the job."""
    from orchestrator.workflows.cluster.carried_part import CarriedPartOptions, measure_carried_part
    from orchestrator.workflows.cluster.part import PartOptions, measure_part

    if on_node is None:
        result = measure_part(PartOptions(part=part, retry_failed=retry_failed), this_host())
    else:
        carried = CarriedPartOptions(part=str(part), folder=on_node)
        result = measure_carried_part(carried, sys.stdin.buffer.read(), this_host())
    if result.stopped:
        raise typer.Exit(INTERRUPTED)


def cancel(
    run: Annotated[
        str, typer.Argument(metavar="RUN", autocompletion=run_names, help="A run's name or the beginning of it.")
    ],
    results: Results = option_values.RESULTS,
    json: Json = False,
) -> None:
    """Cancel the jobs of a run on a cluster. What they have measured stays."""
    from orchestrator.workflows.cluster import cancel as workflow
    from orchestrator.workflows.cluster.cancel import CancelOptions
    from orchestrator.workflows.documents.measure import cancelled_document

    result = workflow.cancel(CancelOptions(run=run, results=results), this_host())
    if json:
        speech.print_document(cancelled_document(result))
        return
    speech.say(f"cancelled {counted(len(result.jobs), 'job')} of {result.cluster.name}")
    speech.say(f"go on with: {result.resume_command}")
