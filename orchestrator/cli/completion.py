"""Names that a shell offers for a value, if they are cheap to find. After any mistake it offers none."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import typer

from orchestrator.errors import OrchestratorError
from orchestrator.workflows.host import places


def run_names(context: typer.Context, incomplete: str) -> list[str]:
    """Runs of the results folder, newest first."""
    results = Path(context.params.get("results") or "results")
    names = sorted((path.parent.name for path in results.glob("*/run.json")), reverse=True)
    return _beginning(incomplete, [*names, *(["latest"] if names else [])])


def run_cells(context: typer.Context, incomplete: str) -> list[str]:
    """Cells of the run that was named before, or of the latest."""
    from orchestrator.workflows.inputs.stored_runs import find_run

    try:
        results = Path(context.params.get("results") or "results")
        cells = find_run(results, _run_named(context.params)).plan().cells
    except OrchestratorError:
        return []
    return _beginning(incomplete, (cell.id for cell in cells))


def _run_named(params: Mapping[str, Any]) -> str:
    """Return the first run that a command line names, in any of the arguments that take runs."""
    runs = params.get("runs") or [str(params.get("run") or params.get("one") or "")]
    return str(runs[0]).partition(":")[0].partition(",")[0]


def bundle_names(context: typer.Context, incomplete: str) -> list[str]:
    """Bundles that were loaded here."""
    from orchestrator.bundles.read import registry

    del context
    return _beginning(incomplete, registry.registered(places.bundles_folder(os.environ)))


def cell_ids(context: typer.Context, incomplete: str) -> list[str]:
    """Cells of the matrix, which is planned for it."""
    from orchestrator.workflows.host.host import Host
    from orchestrator.workflows.inputs.planned_matrix import MatrixOptions, plan_matrix

    file = Path(context.params.get("file") or "matrix.yaml")
    if not file.is_file():
        return []
    try:
        cells = plan_matrix(MatrixOptions(file=file, limit=_MOST_CELLS), Host(os.environ)).plan.cells
    except OrchestratorError:
        return []
    return _beginning(incomplete, (cell.id for cell in cells))


_MOST_CELLS = 2000
"""A larger matrix takes longer to plan than a person who pressed a key waits."""


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
