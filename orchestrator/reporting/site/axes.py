"""The axes of cells, by which a site filters and groups them."""

from collections.abc import Callable, Hashable, Mapping, Sequence

from orchestrator.domain import Cell, Workload
from orchestrator.modes.parts.settings import Feed
from orchestrator.regression.history.series import release_order, release_text, release_versions, tracked_id
from orchestrator.reporting.site.encoding import Document, dictionary
from orchestrator.wording import clean_line


def _variant(cell: Cell) -> str:
    """Return the options that are off their defaults, as the id of the cell has them."""
    work = cell.id.partition("/")[2]
    return work[len(cell.workload.label) :].lstrip("-") if work.startswith(cell.workload.label) else ""


def _feed(work: Workload) -> str:
    return f"{work.feed}, {work.workers} workers" if work.feed is Feed.LOADER else str(work.feed)


def _duration(cell: Cell) -> str:
    timed = cell.duration
    return f"{timed.epochs} epochs" if timed.epochs is not None else f"{timed.steps} steps"


def _sizes(work: Workload) -> str:
    """Return the axes of an operator, or those by which a model differs from its size."""
    return ", ".join(f"{name} {value}" for name, value in work.axes)


def _limits(cell: Cell) -> str:
    """Return the limits of the latency: that of an answer, or those of the frontier that a cell is a part of."""
    load = cell.workload.load
    limits_s = [load.latency_limit_s] if load and load.latency_limit_s is not None else []
    limits_s += cell.frontier.latency_limits_s if cell.frontier else ()
    return " ".join(f"{limit_s:g}" for limit_s in limits_s)


def _release(cell: Cell) -> str:
    """Return framework, versions and options as one name."""
    packages = "".join(f", {name} {version}" for name, version in cell.framework.packages)
    variant = _variant(cell)
    return f"{cell.framework.label}{packages}{f', {variant}' if variant else ''}"


AXES: Mapping[str, Callable[[Cell], Hashable]] = {
    "id": lambda cell: cell.id,
    "label": _release,
    "framework": lambda cell: cell.framework.name,
    "version": release_text,
    "backend": lambda cell: cell.framework.backend.label if cell.framework.backend else "",
    "variant": _variant,
    "python": lambda cell: cell.framework.python,
    "work": lambda cell: cell.workload.label,
    "model": lambda cell: cell.workload.model,
    "mode": lambda cell: str(cell.workload.mode),
    "batch": lambda cell: cell.workload.batch,
    "dataset": lambda cell: cell.workload.dataset,
    "feed": lambda cell: _feed(cell.workload),
    "scaling": lambda cell: str(cell.workload.scaling),
    "size": lambda cell: cell.workload.size,
    "sizes": lambda cell: _sizes(cell.workload),
    "scenario": lambda cell: str(cell.workload.load.scenario) if cell.workload.load else "",
    "rate": lambda cell: cell.workload.load.rate if cell.workload.load else None,
    "clients": lambda cell: cell.workload.load.clients if cell.workload.load else None,
    "latency_limit": lambda cell: cell.workload.load.latency_limit_s if cell.workload.load else None,
    "prompt": lambda cell: cell.workload.generation.prompt if cell.workload.generation else None,
    "output": lambda cell: cell.workload.generation.output if cell.workload.generation else None,
    "system": lambda cell: cell.system.name,
    "cpus": lambda cell: cell.system.cpus,
    "gpus": lambda cell: cell.system.gpus,
    "duration": _duration,
    "tracked": tracked_id,
    "pair": lambda cell: f"{cell.system.name}/{cell.id.partition('/')[2]}",
    "sample": lambda cell: cell.workload.rules.sample,
    "script": lambda cell: bool(cell.script),
}
"""The value of a cell on each axis."""


def axes(cells: tuple[Cell, ...]) -> dict[str, Document]:
    """Return the columns of the axes of cells, and what is known of cells besides.

    `versions` order releases, and `limits` are seconds: cells that differ in them alone are the same.
    """
    columns = {name: dictionary([_shown(value(cell)) for cell in cells]) for name, value in AXES.items()}
    return columns | {
        "versions": dictionary([release_versions(cell) for cell in cells]),
        "limits": dictionary([_limits(cell) for cell in cells]),
    }


def places_of_releases(releases: Sequence[Sequence[str]]) -> list[int]:
    """Return the place of each release among them, oldest first, which has a pre-release before its release."""
    ordered = sorted(range(len(releases)), key=lambda number: release_order(releases[number]))
    places = [0] * len(releases)
    for place, number in enumerate(ordered):
        places[number] = place
    return places


def _shown(value: Hashable) -> Hashable:
    return clean_line(value) if isinstance(value, str) else value
