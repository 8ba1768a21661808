"""The command `plan`."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import (
    Exclude,
    Json,
    Limit,
    MatrixFile,
    ModelsFolder,
    NoParity,
    PlanName,
    Quick,
    Results,
    Select,
    Strict,
    examples,
)
from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from orchestrator.workflows.plan import PlanResult


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "plan",
        epilog=examples(
            "orchestrator plan --select 'mxnet-*' --json",
            "orchestrator plan --for 2%",
        ),
    )(plan)


def plan(
    file: MatrixFile = None,
    plan: PlanName = None,
    select: Select = [],
    exclude: Exclude = [],
    limit: Limit = option_values.LIMIT,
    models: ModelsFolder = None,
    no_parity: NoParity = False,
    strict: Strict = False,
    quick: Quick = False,
    results: Results = option_values.RESULTS,
    wanted: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="SHARE",
            help="Show the repeats and the time that a throughput within this share takes, such as 2%.",
        ),
    ] = None,
    json: Json = False,
    long: Annotated[bool, typer.Option("--long", help="Print the matrix with every field spelled out.")] = False,
) -> None:
    """Show what would run, what is skipped and why, and about how long it takes."""
    import yaml

    from orchestrator import planning
    from orchestrator.workflows import plan as workflow
    from orchestrator.workflows.documents.measure import LONG_MATRIX
    from orchestrator.workflows.measure.precision import precision_data
    from orchestrator.workflows.plan import PlanOptions

    options = PlanOptions(
        file=file, plan=plan, select=select, exclude=exclude, limit=limit, models=models, no_parity=no_parity,
        strict=strict, quick=quick, results=results, wanted=wanted,
    )  # fmt: skip
    planned = workflow.plan(options, this_host())
    if long and json:
        speech.print_document(LONG_MATRIX.envelope(planned.matrix))
    elif long:
        sys.stdout.write(yaml.safe_dump(planned.matrix, sort_keys=False, allow_unicode=True))
    elif json:
        precision = precision_data(planned.precision) if planned.precision else None
        speech.print_document(planning.plan_envelope(planned.plan, planned.estimate, precision))
    else:
        _show(planned)


def _show(planned: "PlanResult") -> None:
    from rich.table import Table
    from rich.text import Text

    from orchestrator.cli.measure.precision import show_precision
    from orchestrator.workflows.inputs.bundle_plans import script_lines

    plan = planned.plan
    console = speech.output()
    cells = Table("cell", "repeats", "image", box=None, pad_edge=False, header_style="bold")
    for cell in plan.cells:
        cells.add_row(Text(cell.id, overflow="fold"), str(cell.repeats), Text(cell.image, overflow="fold"))
    console.print(cells)
    if plan.skips:
        skips = Table("skipped", "why", box=None, pad_edge=False, header_style="bold")
        for skip in plan.skips:
            skips.add_row(Text(skip.cell_id, overflow="fold"), Text(skip.reason, overflow="fold"))
        console.print()
        console.print(skips)
    for line in script_lines(plan):
        speech.say(line)
    for warning in planned.warnings:
        speech.say(f"warning: {warning}")
    console.print()
    console.print(Text(planned.summary))
    if planned.precision:
        show_precision(planned.precision)
