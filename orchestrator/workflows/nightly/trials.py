"""The trials of a night, which measure one release after the other next to its baseline."""

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.domain import Status
from orchestrator.errors import InputError
from orchestrator.regression.nightly.decide import trial_outcomes
from orchestrator.regression.nightly.night import TrialResult
from orchestrator.regression.nightly.state import Tonight
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.rules import Gate, Rules, looks_up_to
from orchestrator.regression.trials.carry_out import MeasuredTrial, trial_of
from orchestrator.regression.trials.files import first_plan
from orchestrator.reporting.reports.regression import write_html
from orchestrator.results.store import Run
from orchestrator.workflows.measure.pair import MeasureOptions, PairRun, measure, new_pair_run, resumed_pair_run
from orchestrator.workflows.nightly.planner import NightlyPlanner
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.pages import REGRESSION_FOLDER


@dataclass(frozen=True)
class Trials:
    """Carries out the trial of one release after the other."""

    planner: NightlyPlanner
    gates: tuple[Gate, ...]
    options: MeasureOptions

    @property
    def rules(self) -> Rules:
        """Return the rules of every trial of the night."""
        most_blocks = self.planner.nightly.settings.max_blocks
        return Rules(gates=self.gates, looks=looks_up_to(most_blocks, "max_blocks"))

    def measure(self, tonight: Tonight, begins: Callable[[str], None]) -> TrialResult:
        """Measure a release next to its baseline, or go on with the run that was begun for it.

        `begins` is called with the name of the run before it begins.
        """
        setup, settings = self.planner.setup, self.planner.nightly.settings
        pairing = self.planner.pair(tonight.release, tonight.baseline)
        pair_run = self._begun(tonight.run, pairing, self.rules)
        if pair_run is None:
            runtime = RuntimeName(settings.runtime)
            pair_run = new_pair_run(setup, pairing, self.rules, self.planner.nightly.results, runtime)
        begins(pair_run.job.run.name)
        measured = measure(pair_run, self.options, setup.host)
        write_html(measured.regression, measured.run.folder / REGRESSION_FOLDER)
        return TrialResult(measured.regression, trial_outcomes(measured), _candidate_images(measured))

    def _begun(self, name: str, pairing: Pairing, rules: Rules) -> PairRun | None:
        """Return the run that was begun, or None if there is none, it is of another trial, or it cannot go on here."""
        nightly, setup = self.planner.nightly, self.planner.setup
        run = Run(nightly.results / name)
        if not name or not run.has_begun:
            return None
        try:
            runtime = RuntimeName(nightly.settings.runtime)
            begun = resumed_pair_run(nightly.results, name, setup.options.base_image, setup.host, runtime)
        except InputError as error:
            setup.host.say(f"begun anew: {error}")
            return None
        # A plan grows in blocks while it is carried out.
        is_same = first_plan(begun.job.plan, rules) == first_plan(pairing.plan, rules)
        if is_same and begun.trial == trial_of(pairing, rules):
            return begun
        setup.host.say(f"begun anew: what is measured or what decides has changed since {name}, which stays")
        return None


def _candidate_images(measured: MeasuredTrial) -> tuple[str, ...]:
    """Return the references of the images that were built for the candidate."""
    names = {cell.image for cell in measured.cells({pair.candidate for pair in measured.trial.pairs})}
    return tuple(
        environment.reference
        for environment in measured.run.environments().environments
        if environment.image in names
        and environment.status is Status.OK
        and environment.reference
        and environment.image_id
    )
