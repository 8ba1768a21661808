"""Metrics that are known once and exactly, which are the loss of the parity check and the size of the image."""

from dataclasses import replace

from orchestrator.analysis.parity.work import PairParity
from orchestrator.analysis.verdicts import Verdict
from orchestrator.regression.judge import comparable
from orchestrator.regression.judge.comparable import Placed
from orchestrator.regression.judge.metric_rule import MetricRule
from orchestrator.regression.model import Judged
from orchestrator.results.records import EnvironmentRecord


def judged_loss(rule: MetricRule, parity: PairParity | None, one: Placed, other: Placed) -> Judged | None:
    """Judge the losses after the same steps from the same weights.

    What parity takes for rounding is never called a drift. Return None if the mode's parity rule
    compares no losses, if no parity check was asked for, and if the losses decide nothing and are not known.
    """
    if parity is None or "losses" not in one[1].workload.rules.parity.compared:
        return None
    bars = [difference.bar for difference in parity.differences if difference.evidence == "losses"]
    if bars:
        rule = replace(rule, tolerance=max(rule.tolerance, bars[-1]))
        return rule.exact(comparable.loss(*one), comparable.loss(*other))
    if not rule.gates or not all(comparable.is_checked(*side) for side in (one, other)):
        return None
    work = comparable.work_difference(parity)
    if work:
        return rule.empty(Verdict.NOT_COMPARABLE, work)
    return rule.empty(Verdict.NOT_MEASURED, f"parity: {parity.reason or 'it compared no losses'}")


def judged_image_size(
    rule: MetricRule, one: EnvironmentRecord | None, other: EnvironmentRecord | None
) -> Judged | None:
    """Judge the sizes of the images, or None if that decides nothing and a size is not known."""
    sizes = [made.size_bytes if made else None for made in (one, other)]
    if None in sizes and not rule.gates:
        return None
    return rule.exact(*(None if size is None else float(size) for size in sizes))
