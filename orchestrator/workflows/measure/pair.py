"""The one way to measure a pair of releases.

A run is begun or goes on, is carried out and judged, and its verdicts are recorded.
"""

from dataclasses import dataclass
from pathlib import Path

from orchestrator.catalog import load_faults
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.rules import Rules
from orchestrator.regression.trials.carry_out import MeasuredTrial, carry_out, trial_of
from orchestrator.regression.trials.files import Trial, store_trial, stored_trial
from orchestrator.regression.trials.growing_run import first_plan
from orchestrator.resources import IMAGES
from orchestrator.running import Policy
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.begin import Setting, begun
from orchestrator.workflows.measure.jobs import Job
from orchestrator.workflows.measure.regression_setup import RegressionSetup
from orchestrator.workflows.option_values import RuntimeName


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


@dataclass(frozen=True, slots=True)
class PairRun:
    """A run that measures the pairs of a regression test."""

    job: Job
    trial: Trial


def new_pair_run(
    setup: RegressionSetup, pairing: Pairing, rules: Rules, results: Path, runtime: RuntimeName
) -> PairRun:
    """Return a new run for a pairing. Nothing is written yet."""
    planned = setup.planned(first_plan(pairing.plan, rules))
    return PairRun(jobs.new(planned, results, runtime, None), trial_of(pairing, rules))


def resumed_pair_run(
    results: Path, name: str, base_image: str | None, host: Host, runtime: RuntimeName = RuntimeName.AUTO
) -> PairRun:
    """Return a run that goes on. Raises `InputError` if it is no regression test, or cannot go on here."""
    job = jobs.resumed(results, name, runtime, base_image, host)
    return PairRun(job, stored_trial(job.run))


def measure(pair_run: PairRun, options: MeasureOptions, host: Host, *, selects: bool = False) -> MeasuredTrial:
    """Begin a run or go on with it, measure its pairs, judge them and record the verdicts.

    `selects` says that the caller takes globs that leave out cells. Raises `HostError` where this host cannot do it.
    """
    job, trial = pair_run.job, pair_run.trial
    setting = Setting(
        options.idle_wait_s,
        keep=lambda run: store_trial(run, trial),
        retry_failed=options.retry_failed,
        selects=selects,
    )
    policy = Policy(
        job.plan.seed,
        options.jobs,
        options.retries,
        retry_failed=options.retry_failed,
        extra_repeats=options.extra_repeats,
    )
    with begun(job, setting, host) as surroundings:
        return carry_out(trial, surroundings, policy, load_faults(IMAGES / "known_faults.yaml"))
