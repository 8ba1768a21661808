"""The commands `runs` and `show`."""

from datetime import timedelta
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import HiddenCells, Json, Results, ShownCells, examples, run_cells, run_names
from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.cli.output.tables import plain_table, texts
from orchestrator.wording import rate, seconds
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from rich.table import Table

    from orchestrator.domain import Outcome
    from orchestrator.results.scripts.contract import ScriptResult
    from orchestrator.results.store import Run
    from orchestrator.workflows.look.runs import EndedRepeat, ShowResult


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        "runs",
        epilog=examples("orchestrator runs --results /srv/results", "orchestrator runs --select 'mxnet-1.9.1-*'"),
    )(runs)
    app.command("show", epilog=examples("orchestrator show latest mxnet-1.9.1-cpu/lenet-train-b200"))(show)


def runs(
    select: Annotated[
        list[str],
        typer.Option(
            "--select",
            metavar="GLOB",
            autocompletion=run_cells,
            help="Only runs with a cell whose id matches, such as 'mxnet-*'; may be repeated.",
        ),
    ] = [],
    results: Results = option_values.RESULTS,
    json: Json = False,
) -> None:
    """List the runs of a results folder, oldest first."""
    from orchestrator.workflows.documents.look import runs_document
    from orchestrator.workflows.look import runs as workflow
    from orchestrator.workflows.look.runs import RunsOptions

    summaries = workflow.runs(RunsOptions(results=results, select=tuple(select)), this_host())
    if json:
        speech.print_document(runs_document(summaries))
        return
    table = plain_table("run", "matrix", "runtime", "host", "took", "cells", "repeats", "outcomes")
    for run in summaries:
        counts = ", ".join(f"{count} {status}" for status, count in run.counts)
        pending = f"{run.pending} without outcome" if run.pending else ""
        took = "" if run.wall_s is None else str(timedelta(seconds=round(run.wall_s)))
        ended = run.problem or "; ".join(part for part in (counts, pending) if part)
        table.add_row(
            *texts(run.name, run.matrix, run.runtime, run.host, took, str(run.cells), str(run.planned), ended)
        )
    speech.output().print(table)


def show(
    run: Annotated[
        str,
        typer.Argument(
            metavar="[RUN]",
            autocompletion=run_names,
            help="A run's name or the beginning of it, the latest by default; or a CELL of the latest run that has it.",
        ),
    ] = "",
    cell: Annotated[
        str,
        typer.Argument(
            metavar="[CELL]", autocompletion=run_cells, help="Only the repeats of this cell, with figures and files."
        ),
    ] = "",
    select: ShownCells = [],
    exclude: HiddenCells = [],
    results: Results = option_values.RESULTS,
    json: Json = False,
) -> None:
    """Show how every repeat of a run ended; of one cell also its figures and files."""
    from orchestrator.workflows.documents.look import show_document
    from orchestrator.workflows.look import runs as workflow
    from orchestrator.workflows.look.runs import ShowOptions

    options = ShowOptions(run=run, cell=cell, select=tuple(select), exclude=tuple(exclude), results=results)
    shown = workflow.show(options, this_host())
    for line in shown.problem.splitlines():
        speech.say_error(line)
    if json:
        speech.print_document(show_document(shown))
        return
    speech.output().print(_cell_table(shown) if shown.cell else _run_table(shown))


def _run_table(shown: "ShowResult") -> "Table":
    on_nodes = any(each.node for each in shown.ended)
    table = plain_table("cell", "repeat", *(("node",) if on_nodes else ()), "status", "wall", "reason or log")
    for each in shown.ended:
        outcome = each.outcome
        last = outcome.reason or outcome.disturbance or outcome.log or ""
        table.add_row(*texts(*_begun(each, on_nodes), *_end(outcome), last))
    return table


def _cell_table(shown: "ShowResult") -> "Table":
    on_nodes = any(each.node for each in shown.ended)
    disturbed = any(outcome.disturbance for outcome in shown.outcomes)
    figures = "printed" if shown.is_script else "samples/s"
    first, last = ("node",) if on_nodes else (), ("disturbed by",) if disturbed else ()
    table = plain_table("cell", "repeat", *first, "status", "wall", figures, "files", *last)
    for each in shown.ended:
        by = (each.outcome.disturbance,) if disturbed else ()
        table.add_row(*texts(*_begun(each, on_nodes), *_end(each.outcome), *_details(shown, each), *by))
    return table


def _begun(ended: "EndedRepeat", on_nodes: bool) -> tuple[str, ...]:
    """Return cell and number of a repeat, and its node where runs have several."""
    return ended.outcome.cell_id, str(ended.outcome.repeat), *((ended.node,) if on_nodes else ())


def _end(outcome: "Outcome") -> tuple[str, str]:
    """Return status and duration of a repeat."""
    status = f"{outcome.status.value}, disturbed" if outcome.disturbance else outcome.status.value
    return status, seconds(outcome.wall_s) if outcome.wall_s else "–"


def _details(shown: "ShowResult", ended: "EndedRepeat") -> tuple[str, str]:
    """Return the figures of a repeat, or the reason there is none, and the folder of its files."""
    from orchestrator.results.scripts.contract import ScriptResult
    from orchestrator.results.throughput import throughput

    run, outcome = ended.run, ended.outcome
    folder = str(run.repeat_folder(outcome.cell_id, outcome.repeat))
    result, problem = shown.result(ended)
    if result is None:
        return problem or outcome.reason, folder
    if isinstance(result, ScriptResult):
        return _printed(result), folder
    if result.largest_batch:
        return f"largest batch {result.largest_batch.fits:,}", folder
    return rate(throughput(result, epochs=_in_epochs(run, outcome.cell_id))), folder


def _printed(result: "ScriptResult") -> str:
    """Return the median of each figure, or the problem of one that cannot be trusted. One without values is `–`."""
    medians = {
        name: format(median(each.values), ",.6g") if each.values else "–" for name, each in result.metrics.items()
    }
    return ", ".join(f"{name} {each.problem or medians[name]}" for name, each in result.metrics.items())


def _in_epochs(run: "Run", cell_id: str) -> bool:
    """Return whether the timed blocks of a cell are epochs, of which the first does not count."""
    return any(cell.id == cell_id and cell.duration.epochs is not None for cell in run.plan().cells)
