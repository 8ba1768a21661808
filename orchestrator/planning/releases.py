"""The releases of a matrix that the catalog has no environment for."""

from collections.abc import Iterator, Mapping

from orchestrator.catalog import Catalog, ModelInfo, UnsupportedError
from orchestrator.domain import Framework, Plan
from orchestrator.errors import did_you_mean
from orchestrator.matrix import Matrix
from orchestrator.planning import axes
from orchestrator.planning.additions import grids


def left_out(matrix: Matrix, catalog: Catalog, models: Mapping[str, ModelInfo], plan: Plan) -> tuple[str, ...]:
    """Return a line with its place for every release that a plan of the matrix skips on all systems."""
    reasons = {skip.reason for skip in plan.skips}
    lines: dict[str, str] = {}
    models = {**models, **{info.name: info for info in matrix.own_models}}
    for entry in (entry for grid in grids(matrix, catalog, models) for entry in grid.frameworks):
        if entry.image or entry.dockerfile:
            continue
        for framework in axes.frameworks(entry):
            try:
                catalog.pythons(framework)
            except UnsupportedError as error:
                if error.reason in reasons:
                    hint = "".join(_hints(framework, catalog))
                    lines[error.reason] = (
                        f"{entry.place}: frameworks: {framework.label} is left out: {error.reason}{hint}"
                    )
    return tuple(lines.values())


def _hints(framework: Framework, catalog: Catalog) -> Iterator[str]:
    """Yield close matches for the version without an environment, be it the framework's or its backend's."""
    for each in (framework, framework.backend):
        as_backend = each is framework.backend
        if each is not None and not catalog.has(each.name, each.version, as_backend=as_backend):
            yield did_you_mean(each.version, catalog.seen(each.name, as_backend=as_backend))
