"""From a matrix and two sides on the command line to a pairing, and to a run that is to carry it out."""

from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator import matrix
from orchestrator.cli import composition, jobs
from orchestrator.cli.data import with_data
from orchestrator.cli.jobs import Job
from orchestrator.cli.runtime import RuntimeName
from orchestrator.planning import Selection
from orchestrator.regression.pairing import Pairing, PlanInputs, pairing
from orchestrator.regression.rules import Rules
from orchestrator.regression.sides import Side, parse_side
from orchestrator.regression.trials.carry_out import first_plan, trial_of
from orchestrator.regression.trials.files import Trial


@dataclass(frozen=True, slots=True)
class Site:
    """Where a pairing's environments, models and data come from, as options say."""

    base_image: str | None = None
    models: Path | None = None
    data: Path | None = None
    no_parity: bool = False
    limit: int = 10_000


def side(text: str, option: str) -> Side:
    """Read a side; raises `InputError` with its mistakes."""
    return parse_side(text, option, composition.the_catalog())


def loaded(file: Path | None, site: Site) -> tuple[matrix.Matrix, PlanInputs]:
    """Read a matrix, with what its names mean; raises `InputError` with its mistakes."""
    models = composition.known_models(site.models)
    known = PlanInputs(composition.the_catalog(), models, site.limit)
    return matrix.load(composition.matrix_file(file), known.catalog, models), known


def paired(
    found: matrix.Matrix, known: PlanInputs, sides: tuple[Side, Side], selection: Selection, site: Site
) -> Pairing:
    """Pair two sides over a matrix, with the data that its cells need."""
    pairs = pairing(found, known, *sides, selection)
    plan = replace(pairs.plan, parity=pairs.plan.parity and not site.no_parity)
    return replace(pairs, plan=with_data(plan, found, site.data))


def new_job(
    found: matrix.Matrix, known: PlanInputs, pairs: Pairing, rules: Rules, places: tuple[Path, RuntimeName, Site]
) -> tuple[Job, Trial]:
    """A new run that carries a pairing out; `places` are results folder, runtime and site."""
    results, runtime, site = places
    own = tuple(info.own for info in (*known.models.values(), *found.own_models) if info.own)
    settings = composition.site_settings(found.build, site.base_image)
    prepared = composition.Prepared(found, first_plan(pairs.plan, rules), settings, own)
    return jobs.new(prepared, results, runtime, None), trial_of(pairs, rules)
