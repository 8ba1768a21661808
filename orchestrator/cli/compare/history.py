"""The command `history`, which shows series over all runs and the points at which they change."""

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.options import Json, Results
from orchestrator.cli.output import outputs, speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.regression.history.series import LEAST_POINTS, MIN_EFFECT
from orchestrator.reporting.reports import history_words as words
from orchestrator.reporting.reports.history import write_html
from orchestrator.workflows import history as workflow
from orchestrator.workflows.history import HistoryOptions, HistoryResult
from orchestrator.workflows.inputs.stored_runs import DEFAULT_RESULTS

PAGE_FOLDER = "history"
_WIDTH = 100


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("history")(history)


def history(
    results: Results = DEFAULT_RESULTS,
    select: Annotated[
        list[str],
        typer.Option("--select", metavar="GLOB", help="Only series whose name matches, such as 'mxnet-*/lenet-*'."),
    ] = [],
    metric: Annotated[
        list[str], typer.Option("--metric", metavar="NAME", help="Which metrics; throughput by default, 'all' for all.")
    ] = ["throughput"],
    host: Annotated[str, typer.Option("--host", help="Only series of this host.")] = "",
    by_release: Annotated[
        bool, typer.Option("--by-release", help="Series of each release too, beside those that follow the newest one.")
    ] = False,
    acknowledged: Annotated[
        Path | None, typer.Option("--acknowledged", metavar="FILE", help="Changes that are known, with their reasons.")
    ] = None,
    min_effect: Annotated[
        float, typer.Option("--min-effect", min=0.001, max=1, help="Smallest change to look for, as a share.")
    ] = MIN_EFFECT,
    format_: Annotated[str | None, outputs.format_option(HISTORY)] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="PATH", help="Write there; the folder of the pages if it names no format."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show a series for each cell, metric and host over all runs, with the points at which it changes."""
    options = HistoryOptions(
        results=results,
        select=tuple(select),
        metrics=tuple(metric),
        host=host,
        by_release=by_release,
        acknowledged=acknowledged,
        min_effect=min_effect,
    )
    result = workflow.history(options, this_host(json=json))
    page = _page(result, results, output)
    if json:
        speech.print_json([words.entry(one) for one in result.series])
        return
    console = speech.output(_WIDTH)
    for one in result.series:
        speech.tell(console, words.label(one), "bold")
        latest = words.figure(one.metric, one.points[-1].value)
        speech.tell(console, f"  {words.sparkline(one)}  {latest}; {words.summary(one)}")
        for shift in one.shifts:
            row = words.shift_row(one, shift)
            text = f"  {row[0]} {row[1]}: {row[2]} → {row[3]}, × {row[4]}, p {row[5]}, {row[6]}"
            speech.tell(console, text)
    if page is not None:
        speech.tell(console, f"page: {page}")


def _page(result: HistoryResult, results: Path, output: Path | None) -> Path | None:
    """Write the pages of the series, unless series were selected and none of them can be shown."""
    if result.selected and not result.series:
        speech.say(
            f"no series of {LEAST_POINTS} runs or more here; --by-release shows those of one release, and there are "
            f"{result.selected} in all; no page is written"
        )
        return None
    return (
        write_html(result.series, output) if output else write_html(result.series, results / PAGE_FOLDER, result.every)
    )
