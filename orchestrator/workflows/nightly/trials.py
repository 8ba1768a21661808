"""The trials of a night, which measure one release after the other next to its baseline."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from orchestrator.domain import Status
from orchestrator.errors import InputError
from orchestrator.regression.anchoring import Anchor
from orchestrator.regression.nightly.decide import TrialOutcomes
from orchestrator.regression.nightly.services import TrialResult
from orchestrator.regression.nightly.state import Tonight
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.rules import Gate, Rules, looks_up_to
from orchestrator.regression.trials.carry_out import MeasuredTrial, first_plan, trial_of
from orchestrator.regression.trials.files import Trial
from orchestrator.reporting.reports.regression.report import write_html
from orchestrator.results.store import Run
from orchestrator.workflows.measure.pair import MeasureOptions, PairRun, measure, new_pair_run, resumed_pair_run
from orchestrator.workflows.nightly.anchor import anchored_pairing
from orchestrator.workflows.nightly.past import NOTHING, Past
from orchestrator.workflows.nightly.planner import NightlyPlanner
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.outputs import REGRESSION_FOLDER


@dataclass(frozen=True)
class Trials:
    """Carries out the trial of one release after the other."""

    planner: NightlyPlanner
    gates: tuple[Gate, ...]
    options: MeasureOptions
    past: Past = NOTHING

    @property
    def rules(self) -> Rules:
        """Return the rules of every trial of the night."""
        most_blocks = self.planner.nightly.settings.max_blocks
        return Rules(gates=self.gates, looks=looks_up_to(most_blocks, "max_blocks"), doubted=self.past.doubted)

    def measure(self, tonight: Tonight, begins: Callable[[str], None]) -> TrialResult:
        """Measure a release next to its baseline, and to the anchor, or go on with the run that was begun for it.

        `begins` is called with the name of the run before it begins.
        """
        pairing = self.planner.pair(tonight.release, tonight.baseline)
        with_anchor, anchor = anchored_pairing(self.planner, pairing, tonight, self.past)
        return self._measured(tonight.run, with_anchor, anchor, begins)

    def measure_itself(self, tonight: Tonight, begins: Callable[[str], None]) -> TrialResult:
        """Measure a baseline against itself, with the other name on the second side of the trial."""
        pairing = self.planner.pair(tonight.baseline, tonight.baseline)
        named = replace(pairing, candidate=self.planner.side(tonight.release))
        return self._measured(tonight.run, named, None, begins)

    def _measured(
        self, run: str, pairing: Pairing, anchor: Anchor | None, begins: Callable[[str], None]
    ) -> TrialResult:
        setup, settings = self.planner.setup, self.planner.nightly.settings
        trial = trial_of(pairing, self.rules, anchor)
        pair_run = self._begun(run, pairing, trial)
        if pair_run is None:
            runtime = RuntimeName(settings.runtime)
            new = new_pair_run(setup, pairing, self.rules, self.planner.nightly.results, runtime)
            pair_run = replace(new, trial=trial)
        begins(pair_run.job.run.name)
        measured = measure(pair_run, self.options, setup.host)
        write_html(measured.regression, measured.run.folder / REGRESSION_FOLDER)
        return TrialResult(measured.regression, trial_outcomes(measured), _candidate_images(measured))

    def _begun(self, name: str, pairing: Pairing, trial: Trial) -> PairRun | None:
        """Return the run that was begun, or None if there is none, it is of another trial, or it cannot go on here."""
        nightly, setup = self.planner.nightly, self.planner.setup
        run = Run(nightly.results / name)
        if not name or not run.has_begun:
            return None
        try:
            runtime = RuntimeName(nightly.settings.runtime)
            begun = resumed_pair_run(nightly.results, name, setup.options.base_image, setup.host, runtime)
        except InputError as error:
            setup.host.say(f"started again: {error}")
            return None
        # A plan grows in blocks while it is carried out.
        if begun.trial == trial and first_plan(begun.job.plan, trial.rules) == first_plan(pairing.plan, trial.rules):
            return begun
        setup.host.say(f"started again: what is measured or what decides has changed since {name}, which stays")
        return None


def trial_outcomes(measured: MeasuredTrial) -> TrialOutcomes:
    """Read the outcomes of both sides of a trial."""
    pairs, run = measured.trial.pairs, measured.run
    baseline = measured.cells({pair.baseline for pair in pairs})
    candidate = measured.cells({pair.candidate for pair in pairs})
    return TrialOutcomes(tuple(run.outcomes(baseline)), tuple(run.outcomes(candidate)))


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
