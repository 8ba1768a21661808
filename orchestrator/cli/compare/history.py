"""The command `history`, which shows series over all runs and the points at which they change."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.examples import examples
from orchestrator.cli.options import Json, Results
from orchestrator.cli.output import outputs, speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.errors import InputError
from orchestrator.limits import MIN_EFFECT
from orchestrator.reporting.formats import HTML, JSON, TABLE, render
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from orchestrator.workflows.history import HistoryResult

PAGE_FOLDER = "history"
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
    format_: Annotated[str | None, outputs.format_option("suites")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="PATH", help="Write there; the folder of the pages if it names no format."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show a series for each cell, metric and host over all runs, with the points at which it changes."""
    from orchestrator.reporting.formats import terminal
    from orchestrator.reporting.reports.history import HISTORY
    from orchestrator.workflows import history as workflow

    shown_as = _shown_as(format_, output, json=json)
    options = workflow.HistoryOptions(
        results=results,
        select=tuple(select),
        exclude=tuple(exclude),
        metrics=tuple(metric),
        host=host,
        by_release=by_release,
        acknowledged=acknowledged,
        min_effect=min_effect,
    )
    result = workflow.history(options, this_host(json=json))
    if result.selected and not result.series:
        _say_nothing_to_show(result.selected, writes_page=shown_as in {None, HTML})
    if shown_as not in {None, HTML}:
        outputs.deliver(render(HISTORY, result.series, shown_as), output)
        return
    page = _page(result, results, output)
    if shown_as == HTML:
        if page is not None:
            speech.say(f"page: {page}")
    elif json:
        outputs.deliver(render(HISTORY, result.series, JSON), None)
    else:
        console = speech.output(_WIDTH)
        if result.series:
            console.print(terminal.shown(HISTORY, result.series), soft_wrap=True)
        if page is not None:
            speech.tell(console, f"page: {page}")


def _shown_as(format_: str | None, output: Path | None, *, json: bool) -> str | None:
    """Return the requested format, or None for the series on the terminal, or as JSON, and their pages."""
    from orchestrator.reporting.reports.history import HISTORY
    from orchestrator.workflows.outputs import chosen_format, named_by

    if json and format_ not in {None, JSON}:
        raise InputError(f"--json and --format {format_} ask for two formats: leave one out")
    if format_ is None and named_by(output) is None:
        return None
    option = "--json" if format_ is None else "--format"
    shown_as = chosen_format(HISTORY, JSON if json else format_, output, option)
    return None if shown_as == TABLE and output is None else shown_as


def _say_nothing_to_show(number: int, *, writes_page: bool) -> None:
    from orchestrator.regression.history.series import LEAST_POINTS

    speech.say(
        f"no series of {LEAST_POINTS} runs or more here; --by-release shows those of one release, and there are "
        f"{number} in all{'; no page is written' if writes_page else ''}"
    )


def _page(result: "HistoryResult", results: Path, output: Path | None) -> Path | None:
    """Write the pages of the series, unless series were selected and none of them can be shown."""
    from orchestrator.reporting.reports.history import write_html

    if result.selected and not result.series:
        return None
    if output:
        return write_html(result.series, output)
    return write_html(result.series, results / PAGE_FOLDER, result.every)
