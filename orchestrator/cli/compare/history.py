"""The command `history`, which shows series over all runs and the points at which they change."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import Json, Results, examples
from orchestrator.cli.output import outputs, speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.reporting.formats import HTML, render
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from orchestrator.workflows.history import HistoryResult

_WIDTH = 100


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("history", epilog=examples("orchestrator history --select 'mxnet-*/lenet-*' --metric all"))(history)


def history(
    results: Results = option_values.RESULTS,
    select: Annotated[
        list[str],
        typer.Option("--select", metavar="GLOB", help="Only series whose name matches, such as 'mxnet-*/lenet-*'."),
    ] = [],
    exclude: Annotated[list[str], typer.Option("--exclude", metavar="GLOB", help="No series whose name matches.")] = [],
    metric: Annotated[
        list[str], typer.Option("--metric", metavar="NAME", help="Which metrics; throughput by default, 'all' for all.")
    ] = list(option_values.HISTORY_METRICS),
    host: Annotated[str, typer.Option("--host", help="Only series of this host.")] = "",
    by_release: Annotated[
        bool, typer.Option("--by-release", help="Series of each release too, next to those that follow the newest one.")
    ] = False,
    acknowledged: Annotated[
        Path | None, typer.Option("--acknowledged", metavar="FILE", help="Changes that are known, with their reasons.")
    ] = None,
    min_effect: Annotated[
        float, typer.Option("--min-effect", min=0.001, max=1, help="Smallest change to look for, as a share.")
    ] = option_values.MIN_EFFECT,
    format_: Annotated[str | None, outputs.format_option("suites", "traces")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="PATH", help="Write there; the folder of the pages if it names no format."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show a series for each cell, metric and host over all runs, with the points at which it changes."""
    from orchestrator.reporting.reports.history.report import HISTORY
    from orchestrator.workflows import history as workflow
    from orchestrator.workflows.history import HistoryOptions

    options = HistoryOptions(
        results=results,
        select=tuple(select),
        exclude=tuple(exclude),
        metrics=tuple(metric),
        host=host,
        by_release=by_release,
        acknowledged=acknowledged,
        min_effect=min_effect,
        format=outputs.named_format(HISTORY, format_, output, json=json),
        output=output,
    )
    result = workflow.history(options, this_host())
    if result.selected and not result.series:
        _say_nothing_to_show(result.selected, writes_page=result.has_pages)
    if result.format == HTML:
        if result.page is not None:
            speech.say(f"page: {result.page}")
    elif result.has_pages:
        _show(result)
    elif output is None:
        sys.stdout.write(render(HISTORY, result.series, result.format))


def _show(result: "HistoryResult") -> None:
    from orchestrator.reporting.reports.history.report import HISTORY

    if result.series:
        outputs.print_table(HISTORY, result.series, _WIDTH, soft_wrap=True)
    if result.page is not None:
        speech.tell(speech.output(_WIDTH), f"page: {result.page}")


def _say_nothing_to_show(number: int, *, writes_page: bool) -> None:
    from orchestrator.regression.history.series import LEAST_POINTS

    speech.say(
        f"no series of {LEAST_POINTS} runs or more here; --by-release shows those of one release, and there are "
        f"{number} in all{'; no page is written' if writes_page else ''}"
    )
