"""The axes of cells, by which a site filters and groups them."""

from collections.abc import Callable, Hashable, Mapping

from orchestrator.domain import Cell, Workload
from orchestrator.modes.parts.settings import Feed
from orchestrator.regression.history.series import release_text, release_versions, tracked_id
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
    """Return the columns of the axes of cells, and the versions by which releases are ordered."""
    columns = {name: dictionary([_shown(value(cell)) for cell in cells]) for name, value in AXES.items()}
    return columns | {"versions": dictionary([release_versions(cell) for cell in cells])}


def _shown(value: Hashable) -> Hashable:
    return clean_line(value) if isinstance(value, str) else value
