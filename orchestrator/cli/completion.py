"""Names that a shell offers for a value, if they are cheap to find. After any mistake it offers none."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import typer

from orchestrator.bundles.read.names import loaded_names
from orchestrator.errors import OrchestratorError
from orchestrator.results import names
from orchestrator.workflows import option_values
from orchestrator.workflows.host import places


def run_names(context: typer.Context, incomplete: str) -> list[str]:
    """Runs of the results folder, newest first."""
    runs = names.run_names(_results(context))[::-1]
    return _beginning(incomplete, [*runs, *(["latest"] if runs else [])])


def run_cells(context: typer.Context, incomplete: str) -> list[str]:
    """Cells of the run that was named before, or of the latest."""
    results = _results(context)
    runs = names.matching(names.run_names(results), _run_named(context.params))
    return _beginning(incomplete, names.cell_ids(results / runs[0] / "run.json")) if len(runs) == 1 else []


def _results(context: typer.Context) -> Path:
    return Path(context.params.get("results") or option_values.RESULTS)


def _run_named(params: Mapping[str, Any]) -> str:
    """Return the first run that a command line names, in any of the arguments that take runs."""
    runs = params.get("runs") or [str(params.get("run") or params.get("one") or "")]
    return str(runs[0]).partition(":")[0].partition(",")[0]


def bundle_names(context: typer.Context, incomplete: str) -> list[str]:
    """Bundles that were loaded here."""
    del context
    return _beginning(incomplete, loaded_names(places.bundles_folder(os.environ)))


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


def _beginning(incomplete: str, candidates: Iterable[str]) -> list[str]:
    return [each for each in candidates if each.startswith(incomplete)]
