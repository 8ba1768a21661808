"""The repeats of stored runs, as the scatter of cells is known from them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from orchestrator.analysis.scatter.allocation import Cost
from orchestrator.analysis.scatter.precision import StoredCell
from orchestrator.analysis.scatter.variance import RepeatScatter, repeat_scatter
from orchestrator.catalog import idle_builders
from orchestrator.domain import Cell, Duration, Outcome, OutputLimit, Status
from orchestrator.errors import InputError
from orchestrator.modes.parts.settings import PARITY_BATCH
from orchestrator.results.contract import Result
from orchestrator.results.evidence import Stored, read_cells
from orchestrator.results.store import Run

MAX_RUNS = 20
"""The newest runs that are read."""
IsHere = Callable[[Mapping[str, Any]], bool]
"""Returns true for the record of this host."""


@dataclass
class _Gathered:
    """One cell while its repeats are read."""

    version: int = 0
    """Of the way of measuring; repeats of older ones are left out."""
    runs: dict[tuple[str, str], list[RepeatScatter]] = field(default_factory=dict)
    """By host (empty for this one) and run, whose parts on one node are one."""
    costs: list[Cost] = field(default_factory=list)

    def add(self, host: str, run: str, stored: Stored, cell: Cell) -> None:
        result = stored.result
        if result is None or result.measurement_version < self.version or not result.blocks or result.largest_batch:
            return
        if result.measurement_version > self.version:
            self.version, self.runs, self.costs = result.measurement_version, {}, []
        scatter = repeat_scatter(result, epochs=cell.duration.epochs is not None)
        self.runs.setdefault((host, run), []).append(scatter)
        if not host:
            self.costs.append(_cost(stored.outcome, result))

    def stored_cell(self) -> StoredCell:
        by_host: dict[str, list[list[RepeatScatter]]] = {}
        for (host, _), repeats in self.runs.items():
            by_host.setdefault(host, []).append(repeats)
        here = by_host.pop("", [])
        return StoredCell(here, tuple(by_host.values()), _median_cost(self.costs))


def stored_scatter(runs: Sequence[Run], is_here: IsHere) -> dict[Cell, StoredCell]:
    """Read the repeats of the newest runs, by their cells as `same_work` has them.

    Cells that compute nothing, and searches for the largest batch, are left out. A run that cannot be read tells
    nothing.
    """
    gathered: dict[Cell, _Gathered] = {}
    for run in _newest(runs):
        for host, cell, stored in _repeats(run, is_here):
            gathered.setdefault(same_work(cell), _Gathered()).add(host, _whole(run), stored, cell)
    return {cell: known for cell, each in gathered.items() if (known := each.stored_cell()).here or known.elsewhere}


def _newest(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that are read. The parts of a run on a cluster are one run."""
    names = list(dict.fromkeys(_whole(run) for run in runs))[-MAX_RUNS:]
    return [run for run in runs if _whole(run) in names]


def _whole(run: Run) -> str:
    return run.name.partition("/")[0]


def same_work(cell: Cell) -> Cell:
    """Return a cell that is the same for all that do the same work, whatever their repeats, blocks and limits."""
    duration = replace(cell.duration, blocks=Duration().blocks)
    return replace(
        cell, duration=duration, repeats=1, timeout_s=0.0, expect=Status.OK, output=OutputLimit(), image="",
        parity_batch=PARITY_BATCH,
    )  # fmt: skip


def _repeats(run: Run, is_here: IsHere) -> Iterator[tuple[str, Cell, Stored]]:
    try:
        record, plan = run.record(), run.plan()
    except (InputError, OSError):
        return
    host = "" if is_here(record.host) else str(record.host.get("hostname") or "another host")
    idle = {image.name for image in plan.images if image.environment.builder in idle_builders()}
    cells = tuple(cell for cell in plan.cells if cell.script is None and cell.image not in idle)
    named = {cell.id: cell for cell in cells}
    for stored in read_cells(run, cells):
        yield host, named[stored.outcome.cell_id], stored


def _cost(outcome: Outcome, result: Result) -> Cost:
    phases = result.phases
    all_s = outcome.wall_s + (outcome.idle_wait_s or 0.0)
    start_s = max(0.0, all_s - phases.warmup_s - phases.steady_s)
    return Cost(start_s, phases.warmup_s, phases.steady_s / len(result.blocks))


def _median_cost(costs: Sequence[Cost]) -> Cost | None:
    if not costs:
        return None
    return Cost(
        start_s=median(each.start_s for each in costs),
        warmup_s=median(each.warmup_s for each in costs),
        block_s=max(1e-6, median(each.block_s for each in costs)),
    )
