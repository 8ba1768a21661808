"""The judgement of a candidate next to a side that shares no Python with it, over releases that overlap."""

from collections.abc import Sequence
from dataclasses import replace

from orchestrator.analysis.comparison import Verdict
from orchestrator.modes.parts.metrics import Metric
from orchestrator.regression.judge.evidence import SideEvidence, chained_values
from orchestrator.regression.judge.findings import DECIDED, PairFindings
from orchestrator.regression.judge.judge import Judge, with_enough_steps
from orchestrator.regression.judge.metric_rule import MetricRule
from orchestrator.regression.judge.reliability import doubt, doubted
from orchestrator.regression.model import Judged
from orchestrator.regression.rules import BY_NAME, Levels

SideLink = tuple[SideEvidence, SideEvidence]


def look(judge: Judge, links: Sequence[SideLink], levels: Levels, before: PairFindings | None = None) -> PairFindings:
    """Judge the last side of a chain of comparisons next to the first one, which for one link is an ordinary look.

    The candidate of a link and the baseline of the next one are the same release, each on the Python of its link.
    The reason that a link has no verdict is that of the chain. Only metrics that decide are judged.
    """
    if len(links) == 1:
        return judge.look(*links[0], levels, before)
    each = [judge.look(one, other, levels) for one, other in links]
    refused = next((findings for findings in each if findings.verdict is not None), None)
    if refused is not None:
        return replace(each[-1], verdict=refused.verdict, reason=refused.reason, metrics={})
    reason = next(filter(None, (doubt(one.joined(), other.joined()) for one, other in links)), "")
    metrics = {}
    for name in (metric.metric for metric in each[-1].metrics.values() if metric.gates):
        earlier = before.metrics.get(name) if before else None
        if earlier is not None and earlier.verdict in DECIDED:
            metrics[name] = earlier
        else:
            of_links = [findings.metrics[name] for findings in each if name in findings.metrics]
            metrics[name] = doubted(_judged(of_links, links, levels), reason)
    return replace(each[-1], metrics=metrics)


def _judged(of_links: Sequence[Judged], links: Sequence[SideLink], levels: Levels) -> Judged:
    """Return the verdict on one metric, or that of a link which no figures can change."""
    for judged in of_links:
        if judged.verdict in {Verdict.NOT_COMPARABLE, Verdict.NOT_MEASURED}:
            return judged
    first = of_links[-1]
    metric: Metric = BY_NAME[first.metric]
    values = chained_values(metric, [(one.last.evidence, other.last.evidence) for one, other in links])
    judged = MetricRule(metric, True, first.tolerance).judge(values, levels.deciding)
    for one, other in links:
        judged = with_enough_steps(judged, metric, one.measurements, other.measurements)
    return judged
