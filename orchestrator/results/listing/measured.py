"""Containers that were measured before, as estimates need them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from orchestrator.domain import Cell, Outcome, Status
from orchestrator.errors import InputError
from orchestrator.planning import Earlier
from orchestrator.results.evidence import read_repeat
from orchestrator.results.store import Run

MAX_RUNS = 10
MAX_CONTAINERS = 500


def earlier(runs: Sequence[Run], is_here: Callable[[Mapping[str, Any]], bool]) -> tuple[Earlier, ...]:
    """Read the containers of the newest of these runs. `is_here` returns true for this host."""
    containers = (each for run in list(runs)[: -MAX_RUNS - 1 : -1] for each in _of_run(run, is_here))
    return tuple(islice(containers, MAX_CONTAINERS))


def _of_run(run: Run, is_here: Callable[[Mapping[str, Any]], bool]) -> Iterator[Earlier]:
    try:
        if not is_here(run.record().host):
            return
        cells = run.plan().cells
    except (InputError, OSError):
        return  # a run that cannot be read tells nothing; `runs` names it
    named = {cell.id: cell for cell in cells}
    for outcome in run.outcomes(cells):
        if outcome.status is Status.OK:
            measured = _measured(run, named[outcome.cell_id], outcome)
            if measured is not None:
                yield measured


def _measured(run: Run, cell: Cell, outcome: Outcome) -> Earlier | None:
    if cell.script is not None:
        return Earlier(cell, outside_s=outcome.wall_s)
    try:
        result = read_repeat(run, outcome).result
    except OSError:
        return None
    if result is None or not result.blocks or result.largest_batch:
        return None  # a search says nothing of the pace
    phases = result.phases
    steps_s = phases.warmup_s + phases.steady_s + phases.latency_s + (phases.evaluation_s or 0.0)
    # Under load a server may have waited for requests, as it never does in its warm-up.
    busy = result.warmup if result.requests and result.warmup else result.blocks
    return Earlier(
        cell,
        outside_s=max(0.0, outcome.wall_s - steps_s),
        sample_s=sum(block.wall_s for block in busy) / sum(block.samples for block in busy),
        multiply_adds=result.model.multiply_adds or 0,
    )
