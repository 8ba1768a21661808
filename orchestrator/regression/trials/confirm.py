"""The second judgement of a pair with an alarm, by fresh blocks alone."""

from dataclasses import replace

from orchestrator.analysis.verdicts import Verdict
from orchestrator.regression.judge.confirmation import confirmed, needs_confirmation, unmeasured
from orchestrator.regression.judge.evidence import CellEvidence, repeat_notes, values
from orchestrator.regression.judge.findings import PairFindings
from orchestrator.regression.judge.metric_rule import MetricRule
from orchestrator.regression.judge.reliability import unreliable
from orchestrator.regression.metrics import BY_NAME
from orchestrator.regression.rules import Rules


def confirm(
    rules: Rules, baseline: CellEvidence, candidate: CellEvidence, before: PairFindings, alarms: int
) -> PairFindings:
    """Judge by fresh blocks every metric that was slower. All pairs with an alarm share alpha."""
    before = replace(before, notes=(*before.notes, *repeat_notes(baseline, candidate)))
    failing = unreliable(baseline, candidate, 1 - rules.alone(alarms).confidence)
    if failing is not None and failing[0] is Verdict.BROKE:
        reason = f"{before.overall.value} on {before.blocks} blocks, and on fresh ones {failing[1]}"
        return replace(before, verdict=Verdict.BROKE, reason=reason, metrics={})
    if failing is not None:
        return replace(before, metrics={name: unmeasured(each, failing[1]) for name, each in before.metrics.items()})
    deciding = [metric for metric in before.metrics.values() if metric.gates and not BY_NAME[metric.metric].is_exact]
    judged = dict(before.metrics)
    for name, first in before.metrics.items():
        if needs_confirmation(first):
            rule = MetricRule(BY_NAME[name], first.gates, first.tolerance)
            fresh = values(rule.metric, baseline, candidate)
            judged[name] = confirmed(first, rule.judge(fresh, rules.alone(alarms * len(deciding))))
    return replace(before, metrics=judged)
