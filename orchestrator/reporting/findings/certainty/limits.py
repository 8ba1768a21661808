"""The limits of the intervals of a run: the level of scatter that makes up most of them, and what narrows them."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from statistics import median

from orchestrator.analysis.scatter.allocation import LEAST_BLOCKS, MOST_BLOCKS, Cost, best_blocks
from orchestrator.analysis.scatter.variance import Components, components, median_variance
from orchestrator.reporting.findings.certainty.limits_model import GroupLimits
from orchestrator.reporting.findings.model import CellReport, Group, Repeat
from orchestrator.wording import counted, share

FEWEST_REPEATS = 5
"""With fewer, the variance of a cell is known to no better than a factor of three either way."""
_LEAST_VARIANCE = 1e-12
"""Blocks whose rates are equal to a millionth were timed by no clock."""
_CLEARLY = 1.5
"""Numbers of blocks within this factor of each other take about the same time."""
_MEANING = {"steps": "a step", "blocks": "a block in its container", "containers": "a container"}


def with_limits(group: Group, cells: Mapping[str, CellReport]) -> Group:
    """Return a group with what limits its intervals, if it has cells with repeats enough to say so."""
    split = [known for place in group.places if (known := _split(cells[place.cell_id])) is not None]
    if not split:
        return group
    parts = [_parts(scatter) for scatter, _ in split]
    best = median(best_blocks(scatter, cost) for scatter, cost in split)
    limits = GroupLimits(
        cells=len(split),
        step=_deviation(scatter.step for scatter, _ in split),
        block=_deviation(scatter.block for scatter, _ in split),
        container=median(math.sqrt(scatter.container) for scatter, _ in split),
        shares=tuple((name, median(part[name] for part in parts)) for name in _MEANING),
        blocks=median(scatter.blocks for scatter, _ in split),
        best_blocks=best if math.isfinite(best) else None,
        container_s=median(cost.start_s + cost.warmup_s for _, cost in split),
        block_s=median(cost.block_s for _, cost in split),
    )
    return replace(group, limits=limits)


def _split(cell: CellReport) -> tuple[Components, Cost] | None:
    """Return the scatter of a cell with the time of a container, or None with too few repeats or single blocks."""
    measured = [repeat for repeat in cell.repeats if repeat.measurement and repeat.measurement.scatter]
    if len(measured) < FEWEST_REPEATS or cell.cell.duration.epochs is not None or cell.cell.workload.rules.subjects:
        return None
    known = [each.measurement.scatter for each in measured if each.measurement and each.measurement.scatter]
    scatter = components([[known]])
    if scatter is None or scatter.block is None or scatter.of_blocks < _LEAST_VARIANCE:
        return None
    costs = [_cost(each) for each in measured]
    return scatter, Cost(
        *(median(getattr(cost, name) for cost in costs) for name in ("start_s", "warmup_s", "block_s"))
    )


def _cost(repeat: Repeat) -> Cost:
    measurement, outcome = repeat.measurement, repeat.outcome
    phases = dict(measurement.phases_s) if measurement else {}
    blocks = measurement.scatter.blocks if measurement and measurement.scatter else 1
    warmup_s, steady_s = phases.get("warmup", 0.0), phases.get("steady", 0.0)
    start_s = max(0.0, outcome.wall_s + (outcome.idle_wait_s or 0.0) - warmup_s - steady_s)
    return Cost(start_s, warmup_s, max(1e-6, steady_s / blocks))


def _parts(scatter: Components) -> dict[str, float]:
    """Return the part of each level in the variance of a repeat."""
    weight = median_variance(scatter.blocks)
    of_levels = {
        "steps": weight * (scatter.step or 0.0) / scatter.steps,
        "blocks": weight * (scatter.block or 0.0),
        "containers": scatter.container,
    }
    total = sum(of_levels.values())
    return {name: value / total if total else 0.0 for name, value in of_levels.items()}


def _deviation(variances: Iterable[float | None]) -> float | None:
    known = [math.sqrt(variance) for variance in variances if variance is not None]
    return median(known) if known else None


def limits_lines(group: Group) -> Iterator[str]:
    """Say which level of scatter limits the intervals of a group, and what narrows them."""
    limits = group.limits
    if limits is None:
        return
    (name, part), *_ = sorted(limits.shares, key=lambda each: -each[1])
    scatter = {"steps": limits.step, "blocks": limits.block, "containers": limits.container}[name]
    of = f"{share(part)} of the variance of a repeat ({counted(limits.cells, 'cell')}, median)"
    yield f"What limits the intervals: {_MEANING[name]} scatters by {share(scatter or 0.0)}, {of}; {_advice(limits)}."


def _advice(limits: GroupLimits) -> str:
    best = math.inf if limits.best_blocks is None else limits.best_blocks
    wanted = round(min(max(best, LEAST_BLOCKS), MOST_BLOCKS))
    if wanted > _CLEARLY * limits.blocks:
        return f"about {wanted} blocks a repeat narrow them for less time than more repeats of {limits.blocks:.0f}"
    if wanted * _CLEARLY < limits.blocks:
        return f"more repeats narrow them, and {wanted} blocks each take less time than {limits.blocks:.0f}"
    return "more repeats narrow them, and other numbers of blocks hardly"
