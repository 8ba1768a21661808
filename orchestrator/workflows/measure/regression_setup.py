"""The setup of regression tests from a matrix, the sources of its plans, and the host that measures."""

from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator import matrix
from orchestrator.domain import BuildSettings, Plan
from orchestrator.limits import DEFAULT_CELLS
from orchestrator.planning import Selection
from orchestrator.regression.pairing import EVERYTHING, Pairing, PairPlanner
from orchestrator.regression.sides import Side, parse_side
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.shipped import shipped_catalog
from orchestrator.workflows.inputs.data import with_data
from orchestrator.workflows.inputs.models import known_models
from orchestrator.workflows.inputs.planned_matrix import PlannedMatrix, matrix_file
from orchestrator.workflows.inputs.site import site_settings


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """The sources of the environments, models and data of a plan, next to its matrix."""

    base_image: str | None = None
    """The image to build on, as in `python:{python}-slim`."""
    models: Path | None = None
    """A folder with models of the user's own."""
    data: Path | None = None
    """The folder of the datasets."""
    no_parity: bool = False
    """True to leave out the check that cells do the same work."""
    limit: int = DEFAULT_CELLS
    """Most cells of one side."""


@dataclass(frozen=True, slots=True)
class RegressionSetup:
    """All that regression tests over one matrix are made of."""

    planner: PairPlanner
    options: SourceOptions
    host: Host

    @property
    def matrix(self) -> matrix.Matrix:
        """Return the matrix."""
        return self.planner.matrix

    @property
    def model_names(self) -> list[str]:
        """Return the names of the models of the matrix."""
        return [model.name for model in self.matrix.models]

    def build_settings(self) -> BuildSettings:
        """Return the settings of this site for building environments."""
        return site_settings(self.matrix.build, self.options.base_image, self.host.environment)

    def side(self, text: str, option: str) -> Side:
        """Read a side. Raises `InputError` with its mistakes."""
        return parse_side(text, option, self.planner.catalog)

    def pair(self, baseline: Side, candidate: Side, selection: Selection = EVERYTHING) -> Pairing:
        """Pair two sides, with the data that their cells need. Raises `InputError` with every mistake."""
        return self.with_data(self.planner.pair(baseline, candidate, selection))

    def with_data(self, pairing: Pairing) -> Pairing:
        """Return a pairing with the data that its cells need. Raises `InputError` for data that cannot be used."""
        plan = replace(pairing.plan, parity=pairing.plan.parity and not self.options.no_parity)
        return replace(pairing, plan=with_data(plan, self.matrix, self.options.data, self.host))

    def planned(self, plan: Plan) -> PlannedMatrix:
        """Return the matrix with a plan of it, as a run stores them."""
        own = tuple(info.own for info in (*self.planner.models.values(), *self.matrix.own_models) if info.own)
        return PlannedMatrix(self.matrix, plan, self.build_settings(), own)


def regression_setup(file: Path | None, options: SourceOptions, host: Host) -> RegressionSetup:
    """Read a matrix for regression tests. Raises `InputError` with its mistakes."""
    catalog, models = shipped_catalog(), known_models(options.models)
    loaded = matrix.load(matrix_file(file, host), catalog, models)
    return RegressionSetup(PairPlanner(loaded, catalog, models, options.limit), options, host)
