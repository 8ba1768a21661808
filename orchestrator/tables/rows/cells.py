"""The table of cells."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from orchestrator.domain import Cell, Framework
from orchestrator.planning import check_id
from orchestrator.regression.judge.exact_metrics import StoredFigures
from orchestrator.tables.columns import Column, ColumnKind, TableSchema
from orchestrator.tables.rows.keys import CELL, RUN
from orchestrator.tables.rows.metrics import OF_CELLS, every_metric
from orchestrator.tables.stored import StoredRun

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
        Column(
            "skip_reason",
            _TEXT,
            "Reason that the plan leaves the cell out, all else is null then; else null.",
            "skip_reason",
        ),
        Column("framework", _TEXT, "Name of the framework in the catalog.", "cell.framework.name"),
        Column("version", _TEXT, "Release of the framework.", "cell.framework.version"),
        Column(
            "backend",
            _TEXT,
            "Framework underneath, such as `mxnet==1.5.1`.",
            _of_cell(lambda cell: _pin(cell.framework.backend)),
        ),
        Column("python", _TEXT, "Release line of Python.", "cell.framework.python"),
        Column(
            "packages",
            _JSON,
            "Versions that the matrix pins over the catalog's.",
            _of_cell(lambda cell: dict(cell.framework.packages)),
        ),
        Column("system", _TEXT, "Name of the system that it asks for.", "cell.system.name"),
        Column("cpus", _INTEGER, "CPUs that it asks for; null for all.", "cell.system.cpus", "CPUs"),
        Column("gpus", _INTEGER, "GPUs that it asks for.", "cell.system.gpus", "GPUs"),
        Column("memory_bytes", _INTEGER, "Memory that it asks for; null for all.", "cell.system.memory_bytes"),
        Column("model", _TEXT, "Model, script or operator.", "cell.workload.model"),
        Column("mode", _TEXT, "Mode, such as `train` or `infer`.", "cell.workload.mode"),
        Column(
            "batch_size",
            _INTEGER,
            "Samples of a step on each device, or by strong scaling on all.",
            "cell.workload.batch_size",
            "samples",
        ),
        Column("global_batch", _INTEGER, "Samples of a step on all devices.", "cell.global_batch", "samples"),
        Column("searches", _TRUTH, "True if it looks for the largest batch that fits.", "cell.workload.searches"),
        Column("dataset", _TEXT, "Dataset, `synthetic` by default.", "cell.workload.dataset"),
        Column(
            "axes",
            _JSON,
            "Axes of the mode itself, such as the size of an operator.",
            _of_cell(lambda cell: dict(cell.workload.axes)),
        ),
        Column("feed", _TEXT, "Way in which batches reach the steps.", "cell.workload.feed"),
        Column("workers", _INTEGER, "Workers of the framework's own loader.", "cell.workload.workers", "processes"),
        Column("scaling", _TEXT, "`weak` or `strong`.", "cell.workload.scaling"),
        Column(
            "options", _JSON, "Every option of the framework with its value.", _of_cell(lambda cell: dict(cell.options))
        ),
        Column("image", _TEXT, "Image that it runs in; `environments` has it by this name.", "cell.image"),
        Column("warmup_steps", _INTEGER, "Steps before the timed ones.", "cell.duration.warmup_steps", "steps"),
        Column("steps", _INTEGER, "Fewest timed steps; null where epochs are timed.", "cell.duration.steps", "steps"),
        Column("epochs", _INTEGER, "Timed epochs; null where steps are timed.", "cell.duration.epochs", "epochs"),
        Column("timeout_s", _NUMBER, "Longest time of a repeat.", "cell.timeout_s"),
        Column("repeats", _INTEGER, "Planned repeats.", "cell.repeats", "repeats"),
        Column("expected_status", _TEXT, "Status that the matrix expects.", "cell.expect"),
        Column("script", _TEXT, "Script that runs in place of a model; null without one.", "cell.script.name"),
        Column(
            "definition",
            _TEXT,
            "SHA-256 of the framework's own definition of the model; empty without one.",
            "cell.definition",
        ),
        Column(
            "parity_check", _TEXT, "Parity check that counts for it; `parity` has it by this id.", _of_cell(check_id)
        ),
        *OF_CELLS,
    ),
)


def cell_sources(stored: StoredRun) -> Iterator[CellSource]:
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
