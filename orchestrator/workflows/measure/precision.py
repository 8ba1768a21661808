"""The repeats that a plan takes for a wanted interval, from the runs of a results folder."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.analysis.scatter.precision import Basis, CellPrecision, CellToPlan, precision
from orchestrator.catalog import idle_builders
from orchestrator.devices import Inventory, another_machine, host_facts
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.planning.document.types import CellPrecisionData, ScatterData, WantedPrecisionData
from orchestrator.results.store import Run
from orchestrator.workflows.measure.slots import expected
from orchestrator.workflows.measure.stored_scatter import same_work, stored_scatter

_SHARE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(%?)", re.ASCII)


@dataclass(frozen=True, slots=True)
class PlanPrecision:
    """The cheapest way to a wanted interval of every cell that is timed."""

    wanted: float
    """Half of the 95 % interval of a cell's throughput, as a share."""
    cells: tuple[CellPrecision, ...]
    others: int
    """Cells of this host that the prior was made from, of whatever work."""

    @property
    def repeats(self) -> int:
        """Return the repeats of all cells for which a number is known."""
        return sum(cell.repeats or 0 for cell in self.cells)

    @property
    def seconds(self) -> float:
        """Return the time of these repeats."""
        return sum(cell.seconds or 0.0 for cell in self.cells)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Return the ids of the cells of whose scatter nothing is known."""
        return tuple(cell.id for cell in self.cells if cell.basis is Basis.NOTHING)

    @property
    def out_of_reach(self) -> tuple[str, ...]:
        """Return the ids of the cells that a thousand repeats would not bring there."""
        return tuple(cell.id for cell in self.cells if cell.repeats is None and cell.basis is not Basis.NOTHING)


def wanted_share(text: str) -> float:
    """Read a half-width such as `2%` or `0.02`. Raises `InputError` if it is none."""
    match = _SHARE.fullmatch(text.strip())
    share = float(match[1]) / (100 if match[2] else 1) if match else 0.0
    if not 0 < share < 1:
        raise InputError(f"--for {text!r}: write half of the interval as a share of the throughput, such as 2% or 0.02")
    return share


def plan_precision(plan: Plan, runs: Sequence[Run], here: Inventory, wanted: float) -> PlanPrecision:
    """Say how many repeats the timed cells of a plan take for a wanted half-width, and how long that is."""
    facts = host_facts(here)
    stored = stored_scatter(runs, lambda host: _is_same_host(host, facts))
    container_s = expected(plan, runs, here)
    idle = {image.name for image in plan.images if image.environment.builder in idle_builders()}
    cells = [
        CellToPlan(
            id=cell.id,
            blocks=cell.duration.blocks,
            counts_blocks=cell.duration.epochs is None and not (cell.workload.rules.subjects or cell.workload.load),
            container_s=min(container_s(cell), cell.timeout_s),
            stored=stored.get(same_work(cell)),
        )
        for cell in plan.cells
        if cell.workload.rules.times_steps and cell.script is None and cell.image not in idle
    ]
    others = {cell.id + str(number): known for number, (cell, known) in enumerate(stored.items()) if known.here}
    return PlanPrecision(wanted, precision(cells, others, wanted), len(others))


def _is_same_host(then: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return true for the record of this host. Sisters of one model differ in their names alone."""
    names = {facts["hostname"] for facts in (then, now) if facts.get("hostname")}
    return len(names) < 2 and another_machine(then, now) is None


def precision_data(planned: PlanPrecision) -> WantedPrecisionData:
    """Return a precision for programs."""
    return {
        "wanted": planned.wanted,
        "repeats": planned.repeats,
        "seconds": planned.seconds,
        "unknown": list(planned.unknown),
        "cells": [_cell(cell) for cell in planned.cells],
    }


def _cell(cell: CellPrecision) -> CellPrecisionData:
    reached = cell.reached
    return {
        "id": cell.id,
        "basis": cell.basis.value,
        "repeats": cell.repeats,
        "blocks": cell.blocks,
        "seconds": cell.seconds,
        "half_width": reached.expected if reached else None,
        "half_width_low": reached.low if reached else None,
        "half_width_high": reached.high if reached else None,
        "stored_repeats": cell.stored_repeats,
        "scatter": _scatter(cell),
    }


def _scatter(cell: CellPrecision) -> ScatterData | None:
    scatter = cell.scatter
    if scatter is None:
        return None

    def deviation(variance: float | None) -> float | None:
        return None if variance is None else variance**0.5

    return {
        "step": deviation(scatter.step),
        "block": deviation(scatter.block),
        "container": deviation(scatter.container),
        "run": deviation(scatter.run),
        "host": deviation(scatter.host),
    }
