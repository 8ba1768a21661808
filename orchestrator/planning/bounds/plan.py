"""Bounds of every plan, be it made from a matrix here, read from a bundle or stored with an earlier run."""

import math
import re
from collections.abc import Iterable, Iterator

from orchestrator import limits
from orchestrator.domain import Cell, Duration, Plan, System
from orchestrator.errors import InputError
from orchestrator.planning import claims, ids
from orchestrator.planning.bounds import names as name_bounds
from orchestrator.planning.bounds import networks as network_bounds
from orchestrator.planning.bounds import scripts as script_bounds

MAX_CONTAINERS = 1_000_000
"""Repeats of all cells together. A year has 4 million times 8 s."""
RESERVED = frozenset({
    "builds", "decisions.json", "environments.json", "index.html", "joint.json", "matrix.yaml", "models", "networks",
    "parity", "regression", "regression.json", "report", "run.json", "scripts", "trial.json",
})  # fmt: skip
"""Other files and folders of a run, next to the folders of its cells."""
_PART = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._=+-]{{0,{ids.MAX_PART + 39}}}")
"""A side of a regression test adds its mark to the names of a matrix."""
_LARGE = 10**30
_MOST = 20


def check(plan: Plan, place: str = "") -> None:
    """Raise `InputError` with a line for each thing that no matrix of this version could have led to."""
    lines = list(problems(plan))
    if lines:
        more = [f"{place}and {len(lines) - _MOST} more such mistakes"] if len(lines) > _MOST else []
        raise InputError(*(f"{place}{problem}" for problem in lines[:_MOST]), *more)


def problems(plan: Plan) -> Iterator[str]:
    """Yield a line for each thing of a plan that is out of bounds."""
    yield from _number("seed", plan.seed, 0, limits.MAX_SEED)
    yield from (f"image {name[:200]!r} is there twice" for name in _doubles(image.name for image in plan.images))
    yield from (f"cell {name[:200]!r} is there twice" for name in _doubles(cell.id for cell in plan.cells))
    yield from name_bounds.problems(plan)
    yield from script_bounds.problems(plan)
    yield from network_bounds.problems(plan)
    yield from claims.problems(plan, is_cell_id)
    for cell in plan.cells:
        yield from (f"cell {cell.id[:200]!r}: {problem}" for problem in _cell(cell))
    containers = sum(min(cell.repeats, limits.MAX_REPEATS) for cell in plan.cells)
    if containers > MAX_CONTAINERS:
        yield f"all cells have {containers:,} repeats together, more than {MAX_CONTAINERS:,}; measure a part of them"


def is_cell_id(text: str) -> bool:
    """Return true if a text is two plain names, the first of which is that of no other file or folder of a run."""
    parts = text.split("/")
    return len(parts) == 2 and all(map(_PART.fullmatch, parts)) and parts[0].casefold() not in RESERVED


def _cell(cell: Cell) -> Iterator[str]:
    if not is_cell_id(cell.id):
        yield "is no id of a cell, or takes the place of another file of a run"
    yield from _number("repeats", cell.repeats, 1, limits.MAX_REPEATS)
    yield from _number("batch_size", cell.workload.batch_size, 1, limits.MAX_COUNT)
    yield from _number("parity_batch", cell.parity_batch, 1, limits.MAX_PARITY_BATCH)
    if not 0 < cell.timeout_s <= limits.MAX_SECONDS:  # rejects NaN too
        yield f"timeout_s: {cell.timeout_s:g} is not above 0 and at most {limits.MAX_SECONDS:.0f}"
    yield from _number("output size_bytes", cell.output.size_bytes, limits.MIN_OUTPUT_BYTES, limits.MAX_BYTES)
    yield from _number("output files", cell.output.files, limits.MIN_OUTPUT_FILES, limits.MAX_OUTPUT_FILES)
    yield from _duration(cell.duration)
    yield from _system(cell.system)
    for name, value in cell.options:
        if isinstance(value, float) and not math.isfinite(value):
            yield f"options: {name[:200]!r} is {value}, which is no number that a framework can be given"
        elif isinstance(value, int) and abs(value) >= _LARGE:
            yield f"options: {name[:200]!r} is {_short(value)}"


def _duration(duration: Duration) -> Iterator[str]:
    yield from _number("warmup_steps", duration.warmup_steps, 1, limits.MAX_COUNT)
    if (duration.steps is None) == (duration.epochs is None):
        yield "has steps and epochs, or neither; one of them is timed"
    for name, value in (("steps", duration.steps), ("epochs", duration.epochs)):
        if value is not None:
            yield from _number(name, value, 1, limits.MAX_COUNT)
    yield from _number("blocks", duration.blocks, 1, limits.MAX_BLOCKS)
    yield from _number("latency_steps", duration.latency_steps, 0, limits.MAX_LATENCY_STEPS)


def _system(system: System) -> Iterator[str]:
    yield from _number("gpus", system.gpus, 0, limits.MAX_GPUS)
    if system.cpus is not None:
        yield from _number("cpus", system.cpus, 1, limits.MAX_CPUS)
    if system.memory_bytes is not None:
        yield from _number("memory_bytes", system.memory_bytes, limits.MIN_BYTES, limits.MAX_BYTES)
    if system.gpu_memory_bytes is not None:
        yield from _number("gpu_memory_bytes", system.gpu_memory_bytes, limits.MIN_BYTES, limits.MAX_BYTES)


def _number(name: str, value: int, least: int, most: int) -> Iterator[str]:
    if not least <= value <= most:
        yield f"{name}: {_short(value)} is not from {least:,} to {most:,}"


def _short(value: int) -> str:
    """Return a number as text, or words for a number with too many digits for Python to write."""
    return f"{value:,}" if abs(value) < _LARGE else "a number of more than 30 digits"


def _doubles(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    twice = {name: None for name in names if name in seen or seen.add(name)}  # type: ignore[func-returns-value]
    return list(twice)
