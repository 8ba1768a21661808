"""The table of cells."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from orchestrator.domain import Cell, Framework
from orchestrator.planning import check_id
from orchestrator.regression.judge.exact_metrics import StoredFigures
from orchestrator.tables.columns import ColumnKind, TableColumn, TableSchema
from orchestrator.tables.rows.keys import CELL, RUN
from orchestrator.tables.rows.metrics import OF_CELLS, every_metric
from orchestrator.tables.stored import OpenedRun

_TEXT, _INTEGER, _NUMBER = ColumnKind.TEXT, ColumnKind.INTEGER, ColumnKind.NUMBER
_TRUTH, _JSON = ColumnKind.TRUTH, ColumnKind.JSON


@dataclass(frozen=True, slots=True)
class CellSource:
    """A cell of a plan, or one that the plan leaves out."""

    run: str
    cell_id: str
    cell: Cell | None
    skip_reason: str | None = None
    exact: Mapping[str, float | None] = field(default_factory=dict)
    """Values of the metrics that are known exactly, by name."""


def _pin(framework: Framework | None) -> str | None:
    return f"{framework.name}=={framework.version}" if framework else None


def _of_cell(take: Any) -> Any:
    return lambda source: take(source.cell) if source.cell is not None else None


CELLS = TableSchema(
    "cells",
    "A row for each cell of a run: its settings, and what is known of it once. Skipped cells are rows too.",
    (
        RUN,
        CELL,
        TableColumn(
            "skip_reason",
            _TEXT,
            "Reason that the plan leaves the cell out, all else is null then; else null.",
            "skip_reason",
        ),
        TableColumn("framework", _TEXT, "Name of the framework in the catalog.", "cell.framework.name"),
        TableColumn("version", _TEXT, "Release of the framework.", "cell.framework.version"),
        TableColumn(
            "backend",
            _TEXT,
            "Framework underneath, such as `mxnet==1.5.1`.",
            _of_cell(lambda cell: _pin(cell.framework.backend)),
        ),
        TableColumn("python", _TEXT, "Release line of Python.", "cell.framework.python"),
        TableColumn(
            "packages",
            _JSON,
            "Versions that the matrix pins over the catalog's.",
            _of_cell(lambda cell: dict(cell.framework.packages)),
        ),
        TableColumn("system", _TEXT, "Name of the system that it asks for.", "cell.system.name"),
        TableColumn("cpus", _INTEGER, "CPUs that it asks for; null for all.", "cell.system.cpus", "CPUs"),
        TableColumn("gpus", _INTEGER, "GPUs that it asks for.", "cell.system.gpus", "GPUs"),
        TableColumn("memory_bytes", _INTEGER, "Memory that it asks for; null for all.", "cell.system.memory_bytes"),
        TableColumn("model", _TEXT, "Model, script or operator.", "cell.workload.model"),
        TableColumn("mode", _TEXT, "Mode, such as `train` or `infer`.", "cell.workload.mode"),
        TableColumn(
            "batch_size",
            _INTEGER,
            "Samples of a step on each device, or by strong scaling on all.",
            "cell.workload.batch_size",
            "samples",
        ),
        TableColumn("global_batch", _INTEGER, "Samples of a step on all devices.", "cell.global_batch", "samples"),
        TableColumn("searches", _TRUTH, "True if it looks for the largest batch that fits.", "cell.workload.searches"),
        TableColumn("dataset", _TEXT, "Dataset, `synthetic` by default.", "cell.workload.dataset"),
        TableColumn(
            "axes",
            _JSON,
            "Axes of the mode itself, such as the size of an operator.",
            _of_cell(lambda cell: dict(cell.workload.axes)),
        ),
        TableColumn("feed", _TEXT, "Way in which batches reach the steps.", "cell.workload.feed"),
        TableColumn(
            "workers", _INTEGER, "Workers of the framework's own loader.", "cell.workload.workers", "processes"
        ),
        TableColumn("scaling", _TEXT, "`weak` or `strong`.", "cell.workload.scaling"),
        TableColumn(
            "options", _JSON, "Every option of the framework with its value.", _of_cell(lambda cell: dict(cell.options))
        ),
        TableColumn("image", _TEXT, "Image that it runs in; `environments` has it by this name.", "cell.image"),
        TableColumn("warmup_steps", _INTEGER, "Steps before the timed ones.", "cell.duration.warmup_steps", "steps"),
        TableColumn(
            "steps", _INTEGER, "Fewest timed steps; null where epochs are timed.", "cell.duration.steps", "steps"
        ),
        TableColumn("epochs", _INTEGER, "Timed epochs; null where steps are timed.", "cell.duration.epochs", "epochs"),
        TableColumn("timeout_s", _NUMBER, "Longest time of a repeat.", "cell.timeout_s"),
        TableColumn("repeats", _INTEGER, "Planned repeats.", "cell.repeats", "repeats"),
        TableColumn("expected_status", _TEXT, "Status that the matrix expects.", "cell.expect"),
        TableColumn("script", _TEXT, "Script that runs in place of a model; null without one.", "cell.script.name"),
        TableColumn(
            "definition",
            _TEXT,
            "SHA-256 of the framework's own definition of the model; empty without one.",
            "cell.definition",
        ),
        TableColumn(
            "parity_check", _TEXT, "Parity check that counts for it; `parity` has it by this id.", _of_cell(check_id)
        ),
        *OF_CELLS,
    ),
)


def cell_sources(stored: OpenedRun) -> Iterator[CellSource]:
    """Yield every cell of a plan, and then those that it leaves out."""
    if stored.plan is None:
        return
    sizes = {each.image: each.size_bytes for each in stored.environments.environments}
    answered: dict[tuple[str, str, str], Mapping[str, float | None]] = {}
    for cell in stored.plan.cells:
        key = (check_id(cell), cell.workload.mode, cell.image)
        if key not in answered:  # many cells share one check
            figures = StoredFigures(stored.run, cell, sizes.get(cell.image))
            answered[key] = {each.name: each.exact(figures) for each in every_metric() if each.exact}
        yield CellSource(stored.name, cell.id, cell, exact=answered[key])
    for skip in stored.plan.skips:
        yield CellSource(stored.name, skip.cell_id, None, skip.reason)
