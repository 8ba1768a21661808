"""The question of a run until decided: its options, and the run that they begin or go on with."""

import time
from collections.abc import Collection
from dataclasses import dataclass, replace

from orchestrator.analysis.comparison import ALPHA
from orchestrator.analysis.rankings import MOST_BLOCKS
from orchestrator.analysis.ratios import TOLERANCE
from orchestrator.catalog import idle_builders
from orchestrator.errors import InputError
from orchestrator.limits import MAX_REPEATS
from orchestrator.matrix.values.units import duration_s
from orchestrator.reporting.findings.certainty.looks import compared_groups
from orchestrator.results.decisions import Decisions, is_until_decided, stored_decisions
from orchestrator.results.growing import growing_run
from orchestrator.results.store import Run
from orchestrator.running import Policy, Surroundings
from orchestrator.workflows.measure.jobs import Job
from orchestrator.workflows.measure.until_decided import LEAST_BLOCKS, RunUntilDecided, first_plan


@dataclass(frozen=True, slots=True)
class AskedLooks:
    """The options that a run until decided has besides those of every run."""

    until_decided: bool = False
    max_blocks: int | None = None
    budget: str | None = None

    @property
    def budget_s(self) -> float | None:
        """Return the budget in seconds, or None without one. Raises `InputError` if it is no time."""
        if self.budget is None:
            return None
        try:
            return duration_s(self.budget)
        except ValueError as error:
            raise InputError(f"--budget: {error}") from None

    def decisions(self, excluded: Collection[str]) -> Decisions | None:
        """Return what a new run is asked, or None for a run of a number of repeats that is set before.

        `excluded` names the options given that a run until decided does not go with. Raises `InputError` for these, and
        for bounds that are none.
        """
        if not self.until_decided:
            if self.max_blocks is not None or self.budget is not None:
                raise InputError("--max-blocks and --budget bound --until-decided: give it too, or leave them out")
            return None
        if excluded:
            raise InputError(f"--until-decided sets the repeats by what it sees: leave out {' and '.join(excluded)}")
        most = MOST_BLOCKS if self.max_blocks is None else self.max_blocks
        if not LEAST_BLOCKS <= most <= MAX_REPEATS:
            raise InputError(f"--max-blocks {most}: takes {LEAST_BLOCKS} to {MAX_REPEATS:,} blocks")
        return Decisions(most_blocks=most, budget_s=self.budget_s, alpha=ALPHA, tolerance=TOLERANCE)


def with_first_blocks(job: Job, decisions: Decisions | None) -> Job:
    """Return a new job with the first blocks of a run until decided, if it is one.

    Raises `InputError` as `first_plan` does.
    """
    if decisions is None:
        return job
    return replace(job, plan=first_plan(job.plan, compared_groups(job.plan, idle_builders()), decisions))


def check_budget(run: Run, asked: AskedLooks) -> None:
    """Raise `InputError` for a budget of a stored run that is not measured until decided, and for one that is none."""
    if asked.budget_s is not None and not is_until_decided(run):
        raise InputError(f"--budget is for a run until decided, which {run.name} is not: leave it out")


def until_decided(around: Surroundings, policy: Policy, asked: AskedLooks) -> RunUntilDecided | None:
    """Return the run that has begun, if it is one until decided; a budget that is asked takes the place of its own.

    Raises `InputError` if its record is broken.
    """
    decisions = stored_decisions(around.run)
    if decisions is None:
        return None
    if asked.budget_s is not None:
        decisions = decisions.model_copy(update={"budget_s": asked.budget_s})
    growing = growing_run(around.run)
    groups = compared_groups(growing.plan, idle_builders())
    return RunUntilDecided(around, policy, growing, groups, decisions, time.monotonic)
