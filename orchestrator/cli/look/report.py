"""The command `report`."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import EveryRun, HiddenCells, Json, Results, ShownCells, examples, run_names
from orchestrator.cli.output import github, outputs, speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.cli.output.outputs import Format, Output
from orchestrator.reporting.formats import HTML, TABLE
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from orchestrator.workflows.report import ReportResult


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "report", epilog=examples("orchestrator report latest --format html", "orchestrator report --all -o hosts.csv")
    )(report)


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            autocompletion=run_names,
            help="A run's name or the beginning of it, the latest by default; of several, each is a column.",
        ),
    ] = None,
    every: EveryRun = False,
    select: ShownCells = [],
    exclude: HiddenCells = [],
    results: Results = option_values.RESULTS,
    format_: Format = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Show a run again from its files, or several side by side, such as those of different hosts."""
    from orchestrator.reporting.reports.run import RUN
    from orchestrator.workflows import report as workflow
    from orchestrator.workflows.report import ReportOptions

    shown_as = outputs.wanted_format(RUN, format_, output, json=json)
    options = ReportOptions(
        runs=runs or (), every=every, select=tuple(select), exclude=tuple(exclude), results=results, format=shown_as,
        output=output,
    )  # fmt: skip
    result = workflow.report(options, this_host())
    github.add_summary(shown_as, lambda: result.render("md"))
    if shown_as == HTML:
        for problem in result.problems:
            speech.say_error(f"no page: {problem}")
        speech.say(f"page: {result.page}")
    elif shown_as == TABLE and output is None:
        _show(result)
    elif output is None:
        sys.stdout.write(result.render(shown_as))


def _show(result: "ReportResult") -> None:
    from orchestrator.reporting.reports.run import RUN
    from orchestrator.reporting.reports.side_by_side.report import SIDE_BY_SIDE
    from orchestrator.workflows.outputs import WrittenPage

    if result.side_by_side is not None:
        outputs.print_table(SIDE_BY_SIDE, result.side_by_side)
    else:
        outputs.show(RUN, result.reports[0], WrittenPage(result.page, "\n".join(result.problems)))
