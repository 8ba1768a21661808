"""From a matrix and two sides on the command line to a pairing, and to a run that is to carry it out."""

from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator import matrix
from orchestrator.planning import DEFAULT_LIMIT, Selection
from orchestrator.regression.pairing import Pairing, PlanInputs, pairing
from orchestrator.regression.rules import Rules
from orchestrator.regression.sides import Side, parse_side
from orchestrator.regression.trials.carry_out import first_plan, trial_of
from orchestrator.regression.trials.files import Trial
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.shipped import shipped_catalog
from orchestrator.workflows.inputs.data import with_data
from orchestrator.workflows.inputs.models import known_models
from orchestrator.workflows.inputs.planned_matrix import PlannedMatrix, matrix_file
from orchestrator.workflows.inputs.site import site_settings
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.jobs import Job
from orchestrator.workflows.measure.runtime import RuntimeName


@dataclass(frozen=True, slots=True)
class Site:
    """A host, and the options that say where a pairing's environments, models and data come from."""

    host: Host
    base_image: str | None = None
    models: Path | None = None
    data: Path | None = None
    no_parity: bool = False
    limit: int = DEFAULT_LIMIT


def side(text: str, option: str) -> Side:
    """Read a side; raises `InputError` with its mistakes."""
    return parse_side(text, option, shipped_catalog())


def loaded(file: Path | None, site: Site) -> tuple[matrix.Matrix, PlanInputs]:
    """Read a matrix, with what its names mean; raises `InputError` with its mistakes."""
    models = known_models(site.models)
    known = PlanInputs(shipped_catalog(), models, site.limit)
    return matrix.load(matrix_file(file, site.host), known.catalog, models), known


def paired(
    found: matrix.Matrix, known: PlanInputs, sides: tuple[Side, Side], selection: Selection, site: Site
) -> Pairing:
    """Pair two sides over a matrix, with the data that its cells need."""
    pairs = pairing(found, known, *sides, selection)
    plan = replace(pairs.plan, parity=pairs.plan.parity and not site.no_parity)
    return replace(pairs, plan=with_data(plan, found, site.data, site.host))


def new_job(
    found: matrix.Matrix,
    known: PlanInputs,
    pairs: Pairing,
    rules: Rules,
    places: tuple[Path, RuntimeName, Site],
) -> tuple[Job, Trial]:
    """A new run that carries a pairing out; `places` are results folder, runtime and site."""
    results, runtime, site = places
    own = tuple(info.own for info in (*known.models.values(), *found.own_models) if info.own)
    settings = site_settings(found.build, site.base_image, site.host.environment)
    prepared = PlannedMatrix(found, first_plan(pairs.plan, rules), settings, own)
    return jobs.new(prepared, results, runtime, None), trial_of(pairs, rules)
