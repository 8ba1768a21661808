"""The outcomes of the repeats of a trial, by side."""

from dataclasses import dataclass

from orchestrator.domain import Outcome
from orchestrator.regression.trials.carry_out import MeasuredTrial


@dataclass(frozen=True, slots=True)
class TrialOutcomes:
    """The outcomes of the repeats of a trial."""

    baseline: tuple[Outcome, ...]
    candidate: tuple[Outcome, ...]


def trial_outcomes(measured: MeasuredTrial) -> TrialOutcomes:
    """Read the outcomes of both sides of a trial."""
    pairs, run = measured.trial.pairs, measured.run
    baseline = measured.cells({pair.baseline for pair in pairs})
    candidate = measured.cells({pair.candidate for pair in pairs})
    return TrialOutcomes(tuple(run.outcomes(baseline)), tuple(run.outcomes(candidate)))
