"""The one way to measure a pair of releases.

It is set up from a matrix, the sources of its plans, and the host that measures. A run is begun or goes on, is carried
out and judged, and its verdicts are recorded.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator import matrix
from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import load_faults, shipped_catalog
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.images.registries.pushed_file import image_source
from orchestrator.planning import Selection
from orchestrator.regression.package_sides import held_packages
from orchestrator.regression.pairing import EVERYTHING, Pairing, PairPlanner
from orchestrator.regression.rules import Gate, Rules, printed_gates, short_repeats
from orchestrator.regression.sides import Side, parse_side
from orchestrator.regression.trials.carry_out import MeasuredTrial, carry_out, first_plan, trial_of
from orchestrator.regression.trials.files import Trial, store_trial, stored_trial
from orchestrator.running import Policy
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.data import with_data
from orchestrator.workflows.inputs.planned_matrix import PlannedMatrix, known_models, matrix_file, site_settings
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.jobs import Job, Setting, begun
from orchestrator.workflows.option_values import RuntimeName


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
    limit: int = option_values.LIMIT
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

    def printed(self, *, of_package: bool) -> tuple[Gate, ...]:
        """Return a gate for every figure of the scripts, which are measured at releases of a package alone."""
        return printed_gates(axes.script for axes in self.matrix.scripts) if of_package else ()

    def build_settings(self) -> BuildSettings:
        """Return the settings of this site for building environments."""
        return site_settings(self.matrix.build, self.options.base_image, self.host.environment)

    def side(self, text: str, option: str) -> Side:
        """Read a side. Raises `InputError` with its mistakes."""
        return parse_side(text, option, self.planner.catalog, held_packages(self.matrix, self.planner.catalog))

    def pair(self, baseline: Side, candidate: Side, selection: Selection = EVERYTHING) -> Pairing:
        """Pair two sides, with the data that their cells need. Raises `InputError` with every mistake."""
        return self.with_data(self.planner.pair(baseline, candidate, selection))

    def with_data(self, pairing: Pairing) -> Pairing:
        """Return a pairing with the data that its cells need. Raises `InputError` for data that cannot be used."""
        return replace(pairing, plan=self.plan_with_data(pairing.plan))

    def plan_with_data(self, plan: Plan) -> Plan:
        """Return a plan with the data that its cells need. Raises `InputError` for data that cannot be used."""
        asked = replace(plan, parity=plan.parity and not self.options.no_parity)
        return with_data(asked, self.matrix, self.options.data, self.host)

    def planned(self, plan: Plan) -> PlannedMatrix:
        """Return the matrix with a plan of it, as a run stores them."""
        own = tuple(info.own for info in (*self.planner.models.values(), *self.matrix.own_models) if info.own)
        return PlannedMatrix(self.matrix, plan, self.build_settings(), own)


def regression_setup(file: Path | None, options: SourceOptions, host: Host) -> RegressionSetup:
    """Read a matrix for regression tests. Raises `InputError` with its mistakes."""
    catalog, models = shipped_catalog(), known_models(options.models)
    loaded = matrix.load(matrix_file(file, host), catalog, models)
    return RegressionSetup(PairPlanner(loaded, catalog, models, options.limit), options, host)


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """The options of measuring, which may be others whenever a run goes on."""

    jobs: int = option_values.JOBS
    """Environments made at the same time."""
    retries: int = option_values.RETRIES
    """Further attempts after a crash."""
    retry_failed: bool = False
    """True to try again, in a run that goes on, what has failed."""
    extra_repeats: int = option_values.EXTRA_REPEATS
    """Times that a disturbed repeat is measured again."""
    idle_wait_s: float = option_values.IDLE_WAIT_S
    """Longest wait for an idle host before a cell."""
    exclusive: bool = False
    """True to measure one cell at a time, also where cells on different GPUs are known not to disturb each other."""
    images: Path | None = None
    """A file of `push`, whose images are pulled by digest where the engine lacks them. Nothing is built then."""


@dataclass(frozen=True, slots=True)
class PairRun:
    """A run that measures the pairs of a regression test."""

    job: Job
    trial: Trial


def new_pair_run(
    setup: RegressionSetup, pairing: Pairing, rules: Rules, results: Path, runtime: RuntimeName
) -> PairRun:
    """Return a new run for a pairing. Nothing is written yet.

    Raises `InputError` where a percentile decides for which the cells take too few single steps.
    """
    check_single_steps(pairing, rules)
    planned = setup.planned(first_plan(pairing.plan, rules))
    return PairRun(jobs.new(planned, results, runtime, None), trial_of(pairing, rules))


def check_single_steps(pairing: Pairing, rules: Rules) -> None:
    """Raise `InputError` where a percentile decides for which the cells take too few single steps."""
    steps = [cell.duration.latency_steps for cell in pairing.plan.cells if cell.workload.rules.times_steps]
    if mistakes := short_repeats(rules.gates, steps, rules.looks[-1]):
        raise InputError(*mistakes)


def resumed_pair_run(
    results: Path, name: str, base_image: str | None, host: Host, runtime: RuntimeName = RuntimeName.AUTO
) -> PairRun:
    """Return a run that goes on. Raises `InputError` if it is no regression test, or cannot go on here."""
    job = jobs.resumed(results, name, runtime, base_image, host)
    return PairRun(job, stored_trial(job.run))


def measure(pair_run: PairRun, options: MeasureOptions, host: Host, *, selects: bool = False) -> MeasuredTrial:
    """Begin a run or go on with it, measure its pairs, judge them and record the verdicts.

    `selects` says that the caller takes globs that leave out cells. Raises `HostError` where this host cannot do it,
    and `InputError` for an image that neither the engine nor the file of images has.
    """
    source = image_source(options.images) if options.images is not None else None
    job, trial = replace(pair_run.job, images=source), pair_run.trial
    setting = Setting(
        options.idle_wait_s,
        keep=lambda run: store_trial(run, trial),
        retry_failed=options.retry_failed,
        selects=selects,
        exclusive=options.exclusive,
    )
    policy = Policy(
        job.plan.seed,
        options.jobs,
        options.retries,
        retry_failed=options.retry_failed,
        extra_repeats=options.extra_repeats,
    )
    with begun(job, setting, host) as surroundings:
        return carry_out(trial, surroundings, policy, load_faults())
