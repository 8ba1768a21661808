"""The scatter of values within runs and from run to run."""

import math
import statistics
from collections.abc import Sequence

from orchestrator.regression.model import Nights


def run_mean(repeats: Sequence[float]) -> float:
    """Return the geometric mean of the repeats of a run, which is 0 if one of them is."""
    return math.exp(statistics.fmean(map(math.log, repeats))) if min(repeats) > 0 else 0.0


def scatter(ones: Sequence[Sequence[float]], others: Sequence[Sequence[float]]) -> Nights:
    """Return the variance within and between runs of a nested design, pooled over both sides.

    Source: Searle, Casella and McCulloch, Variance Components (1992), the method of moments for a one-way layout.
    """
    inside = [[math.log(value) for value in run] for run in (*ones, *others)]
    freedom = sum(len(run) - 1 for run in inside)
    within = sum(len(run) * statistics.pvariance(run) for run in inside) / freedom if freedom else None
    sides = [[statistics.fmean(map(math.log, run)) for run in side] for side in (ones, others)]
    freedom_between = sum(len(side) - 1 for side in sides)
    between = None
    if freedom_between:
        of_means = sum(len(side) * statistics.pvariance(side) for side in sides) / freedom_between
        explained = (within or 0.0) * statistics.fmean(1 / len(run) for run in inside)
        between = max(0.0, of_means - explained)
    return Nights(
        baseline=len(ones),
        candidate=len(others),
        within=None if within is None else math.sqrt(within),
        between=None if between is None else math.sqrt(between),
    )
