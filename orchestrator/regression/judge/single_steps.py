"""Percentiles of single steps, and the number of steps that a verdict on them needs."""

import math
from collections.abc import Mapping

from orchestrator.analysis import RepeatMeasurement, least_steps
from orchestrator.analysis.verdicts import Verdict
from orchestrator.modes.parts.metrics import Metric, least_steps_of_a_repeat
from orchestrator.regression.model import Judged
from orchestrator.regression.rules import BY_NAME
from orchestrator.results.contract import LATENCY_STEPS


def blocks_needed(metric: str, steps: int = LATENCY_STEPS) -> int:
    """Return the fewest blocks whose single steps bound a metric, or 0 if the metric is not made of single steps."""
    share = BY_NAME[metric].share if metric in BY_NAME else None
    return 0 if share is None else math.ceil(least_steps(share) / steps)


def too_few_blocks(metric: str, blocks: int) -> str:
    """Return the reason that a metric cannot decide after so many blocks, with the needed number, or ""."""
    needed = blocks_needed(metric)
    share = BY_NAME[metric].share if metric in BY_NAME else None
    if share is None or blocks >= needed:
        return ""
    return (
        f"{metric} has no bounds with fewer than {least_steps(share)} single steps of each side; {blocks} blocks of "
        f"{LATENCY_STEPS} steps are {blocks * LATENCY_STEPS}, and {needed} blocks are needed"
    )


def with_enough_steps(
    judged: Judged,
    metric: Metric,
    baseline: Mapping[int, RepeatMeasurement],
    candidate: Mapping[int, RepeatMeasurement],
) -> Judged:
    """Withdraw a verdict on a percentile for which one side has too few single steps, and say so.

    The measurements are those of all repeats of each side. A repeat with too few steps for a percentile of its own
    has no value, so nothing is measured if that is so of all; with too few steps in total it is inconclusive.
    """
    if metric.share is None:
        return judged
    sides = [[repeat.latency.n for repeat in side.values() if repeat.latency] for side in (baseline, candidate)]
    of_a_repeat, in_total = least_steps_of_a_repeat(metric.share), least_steps(metric.share)
    longest = min((max(side, default=0) for side in sides), default=0)
    if judged.verdict is Verdict.NOT_MEASURED:
        if 0 < longest < of_a_repeat:
            reason = f"a repeat has {longest} single steps, and {metric.name} takes {of_a_repeat}"
            return judged.model_copy(update={"reason": reason})
        return judged
    steps = min(sum(count for count in side if count >= of_a_repeat) for side in sides)
    if steps >= in_total:
        return judged
    reason = f"{steps} single steps of a side, and the bounds of {metric.name} take {in_total}"
    missing = math.ceil((in_total - steps) / longest)
    return judged.model_copy(update={"verdict": Verdict.INCONCLUSIVE, "reason": reason, "more_blocks": missing})
