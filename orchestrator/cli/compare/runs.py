"""The command `compare`, for stored runs, files of other tools, and the verdict of a regression test again."""

from typing import Annotated

import typer

from orchestrator.cli.compare.regress import Metrics
from orchestrator.cli.options import HiddenCells, Json, Results, ShownCells, examples, run_names
from orchestrator.cli.output import outputs
from orchestrator.cli.output.hosts import this_host
from orchestrator.cli.output.outputs import Output, RegressionFormat
from orchestrator.workflows import option_values


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "compare",
        epilog=examples(
            "orchestrator compare latest:mxnet==1.5.1 latest:mxnet==1.9.1 --metric latency_p50=3%",
            "orchestrator compare before.json after.json --format md",
        ),
    )(compare)


def compare(
    one: Annotated[
        str,
        typer.Argument(
            metavar="A",
            autocompletion=run_names,
            help="A run, or several as RUN,RUN,…; one release of them: RUN:mxnet==1.5.1. Or files of pyperf, "
            "pytest-benchmark, hyperfine, Google Benchmark or Bencher.",
        ),
    ],
    other: Annotated[
        str | None,
        typer.Argument(metavar="[B]", autocompletion=run_names, help="The same. Without it, A is a regression test."),
    ] = None,
    metric: Metrics = [],
    select: ShownCells = [],
    exclude: HiddenCells = [],
    results: Results = option_values.RESULTS,
    json: Json = False,
    format_: RegressionFormat = None,
    output: Output = None,
) -> None:
    """Compare stored runs or files of other tools, B over A, where that is fair.

    Exit 1 if B is worse or broke in what is shown.
    """
    from orchestrator.reporting.reports.regression.report import REGRESSION
    from orchestrator.workflows import compare as workflow
    from orchestrator.workflows.compare import CompareOptions

    options = CompareOptions(
        baseline=one, candidate=other, metrics=tuple(metric), select=tuple(select), exclude=tuple(exclude),
        results=results, format=outputs.wanted_format(REGRESSION, format_, output, json=json), output=output,
    )  # fmt: skip
    result = workflow.compare(options, this_host())
    outputs.show_regression(result.regression, result.page, result.format, is_written=output is not None)
    if result.regression.regressions:
        raise typer.Exit(1)
