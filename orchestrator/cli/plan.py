"""`plan`: what would run, what is skipped and why, and about how long it takes on this host."""

import sys
from typing import Annotated

import typer
import yaml
from rich.table import Table
from rich.text import Text

from orchestrator import matrix, planning
from orchestrator.catalog import DatasetInfo
from orchestrator.cli import carried, composition, estimating, speech
from orchestrator.cli.carried import PlanName
from orchestrator.cli.options import (
    DEFAULT_LIMIT,
    DEFAULT_RESULTS,
    Exclude,
    Json,
    Limit,
    MatrixFile,
    ModelsFolder,
    NoParity,
    Results,
    Select,
    Strict,
)
from orchestrator.domain import Plan


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan)


def plan(
    file: MatrixFile = None,
    plan: PlanName = None,
    select: Select = [],
    exclude: Exclude = [],
    limit: Limit = DEFAULT_LIMIT,
    models: ModelsFolder = None,
    no_parity: NoParity = False,
    strict: Strict = False,
    results: Results = DEFAULT_RESULTS,
    json: Json = False,
    long: Annotated[bool, typer.Option("--long", help="Print the matrix with every field spelled out.")] = False,
) -> None:
    """Show what would run, what is skipped and why, and about how long it takes."""
    bundle = carried.chosen("plan", file, plan)
    if bundle is not None:
        carried.refuse_matrix_options(None, models, strict=strict)
        own: tuple[DatasetInfo, ...] = ()
        wanted, document = carried.plan_of(bundle, select, exclude, no_parity=no_parity), bundle.matrix()
    else:
        prepared = composition.prepare(
            file, select, exclude, limit, models_folder=models, no_parity=no_parity, strict=strict
        )
        wanted, own = prepared.plan, prepared.matrix.own_datasets
        document = composition.without_credentials(matrix.long_form(prepared.matrix), prepared.settings)
    if long:
        if json:
            speech.print_json(document)
        else:
            sys.stdout.write(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))
        return
    estimate = estimating.estimated(wanted, results, own)
    if json:
        sys.stdout.writelines(planning.plan_json(wanted, estimate))
        return
    _show(wanted, estimate, is_carried=bundle is not None)


def _show(plan: Plan, estimate: planning.PlanEstimate, *, is_carried: bool) -> None:
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
    for line in carried.script_lines(plan):
        speech.say(line)
    for warning in filter(None, (*plan.warnings, estimating.too_slow(estimate))):
        speech.say(f"warning: {warning}")
    console.print()
    console.print(Text(_summary(plan, estimate, is_carried=is_carried)))


def _summary(plan: Plan, estimate: planning.PlanEstimate, *, is_carried: bool) -> str:
    """`10 cells × 3 repeats …`, in words."""
    building = (
        "; nothing is built, the images came with the bundle"
        if is_carried
        else f", {estimating.duration(estimate.build_s)} to build and {estimate.disk_bytes / 1e9:.1f} GB of disk "
        "where nothing is there"
    )
    return (
        f"{_counted(len(plan.cells), 'cell')}, {_counted(estimate.containers, 'container')}, "
        f"{_counted(estimate.parity_containers, 'parity check')}, "
        f"{_counted(len(plan.images), 'image')}, {len(plan.skips)} skipped\n"
        f"about {estimating.duration(estimate.run_s)} to measure "
        f"(at most {estimating.duration(estimate.longest_run_s)}){building}"
    )


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
