"""What is known of a side once and exactly, without scatter: the loss of its parity check, the size of its image."""

from dataclasses import replace

from orchestrator.analysis.parity import PairParity
from orchestrator.analysis.verdicts import Verdict
from orchestrator.domain import Mode
from orchestrator.regression.judge import comparable
from orchestrator.regression.judge.comparable import Placed
from orchestrator.regression.judge.metric_rule import MetricRule
from orchestrator.regression.model import Judged
from orchestrator.results.contract import EnvironmentRecord


def judged_loss(held: MetricRule, parity: PairParity | None, one: Placed, other: Placed) -> Judged | None:
    """Numerical drift: how far the losses are apart after the same steps from the same weights.

    What parity takes for rounding is never called a drift. None where it decides nothing and is not known, and where
    there is none to know: of inference, and where a run asked no parity check of it.
    """
    if parity is None or one[1].workload.mode is not Mode.TRAIN:
        return None
    bars = [found.bar for found in parity.differences if found.evidence == "losses"]
    if bars:
        held = replace(held, tolerance=max(held.tolerance, bars[-1]))
        return held.exact(comparable.loss(*one), comparable.loss(*other))
    if not held.gates or not all(comparable.is_checked(*side) for side in (one, other)):
        return None
    work = comparable.work_difference(parity)
    if work:
        return held.empty(Verdict.NOT_COMPARABLE, work)
    return held.empty(Verdict.NOT_MEASURED, f"parity: {parity.reason or 'it compared no losses'}")


def judged_image_size(
    held: MetricRule, one: EnvironmentRecord | None, other: EnvironmentRecord | None
) -> Judged | None:
    """How large the images are; None where that decides nothing and is not known of both."""
    sizes = [made.size_bytes if made else None for made in (one, other)]
    if None in sizes and not held.gates:
        return None
    return held.exact(*(None if size is None else float(size) for size in sizes))
