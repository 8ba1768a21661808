"""The findings on a pair, after a look and after the confirmation of its alarms by fresh blocks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from orchestrator.analysis.comparison import Verdict
from orchestrator.domain import Cell
from orchestrator.modes.parts.metrics import Metric
from orchestrator.regression.judge.evidence import CellEvidence, block_notes, chained_values, repeat_notes
from orchestrator.regression.judge.metric_rule import MetricRule
from orchestrator.regression.judge.reliability import unreliable
from orchestrator.regression.model import Confirmation, Judged, JudgedPair
from orchestrator.regression.rules import DOUBTED_BLOCKS, LEAST_BLOCKS, Rules, known_metric

_WORST_FIRST = (
    Verdict.BROKE, Verdict.SLOWER, Verdict.NOT_COMPARABLE, Verdict.NOT_MEASURED, Verdict.INCONCLUSIVE, Verdict.GONE,
    Verdict.FASTER, Verdict.FIXED, Verdict.NEW, Verdict.SAME,
)  # fmt: skip
DECIDED: Final = frozenset({Verdict.SLOWER, Verdict.FASTER, Verdict.SAME})
"""The verdicts of a metric that later looks leave as they are."""


def needs_confirmation(judged: Judged) -> bool:
    """Return true if a verdict is an alarm on a metric with scatter."""
    return judged.gates and judged.verdict is Verdict.SLOWER and judged.blocks > 0


def unconfirmed(judged: Judged) -> Judged:
    """Withdraw an alarm whose confirmation was stopped."""
    if not needs_confirmation(judged):
        return judged
    reason = f"{judged.verdict.value} on {judged.blocks} blocks, and stopped before it was confirmed"
    return judged.model_copy(update={"verdict": Verdict.INCONCLUSIVE, "reason": reason})


def unmeasured(first: Judged, why: str) -> Judged:
    """Withdraw an alarm whose fresh blocks have no result."""
    if not needs_confirmation(first):
        return first
    reason = f"{first.verdict.value} on {first.blocks} blocks; fresh ones show nothing: {why}"
    return first.model_copy(update={"verdict": Verdict.INCONCLUSIVE, "reason": reason})


def confirmation(first: Judged, fresh: Judged) -> Confirmation:
    """Return the confirmation, which needs fresh blocks worse by more than the tolerance and more than chance.

    A candidate that is 0 in all fresh blocks is confirmed. A second verdict, with the whole interval beyond the
    tolerance, would lose half of the true slowdowns that show in a few blocks. This rule loses few of them, and lets
    one in forty false alarms pass.
    """
    ratio = fresh.ratio
    fallen = ratio is None and fresh.verdict is Verdict.SLOWER
    again = fallen or (
        ratio is not None
        and fresh.is_significant
        and (ratio > 1) == (first.ratio is not None and first.ratio > 1)
        and abs(math.log(ratio)) > math.log1p(first.tolerance)
    )
    return Confirmation(
        confirmed=again,
        blocks=fresh.blocks,
        ratio=fresh.ratio,
        low=fresh.low,
        high=fresh.high,
        confidence=fresh.confidence,
    )


def confirmed(first: Judged, fresh: Judged, *, doubted: bool = False) -> Judged:
    """Return the verdict after fresh blocks. An alarm that does not come again is withdrawn.

    A series that is `doubted`, since its alarms were wrong, needs fresh blocks with the verdict itself.
    """
    if fresh.blocks < LEAST_BLOCKS:
        return unmeasured(first, fresh.reason)
    result = confirmation(first, fresh)
    if doubted and fresh.verdict is not first.verdict:
        result = result.model_copy(update={"confirmed": False})
    if result.confirmed:
        return first.model_copy(update={"confirmation": result})
    reason = f"{first.verdict.value} on {first.blocks} blocks, and not on {fresh.blocks} fresh ones"
    undecided = {"verdict": Verdict.INCONCLUSIVE, "reason": reason, "more_blocks": fresh.more_blocks}
    return first.model_copy(update={**undecided, "confirmation": result})


@dataclass(frozen=True)
class PairFindings:
    """The verdicts on a pair, and what must be known with them."""

    blocks: int
    """The blocks it was measured for, without those of a confirmation."""
    verdict: Verdict | None = None
    """The verdict on the pair as a whole, if its metrics have none."""
    reason: str = ""
    metrics: Mapping[str, Judged] = field(default_factory=dict)
    """By name, in the order of `METRICS`."""
    notes: tuple[str, ...] = ()
    pythons: tuple[str, str] = ("", "")
    measurement_version: int = 0

    @property
    def is_decided(self) -> bool:
        """Return true if further blocks cannot change a verdict that counts."""
        if self.verdict is not None:
            return True
        return all(metric.verdict is not Verdict.INCONCLUSIVE for metric in self.metrics.values() if metric.gates)

    def unconfirmed(self) -> "PairFindings":
        """Return the findings with every alarm withdrawn, since there was no time to confirm it."""
        return replace(self, metrics={name: unconfirmed(judged) for name, judged in self.metrics.items()})

    def judged_pair(self, name: str, baseline: Cell, candidate: Cell) -> JudgedPair:
        """Return the pair of two cells, with these findings."""
        return JudgedPair(
            id=name,
            baseline_cell=baseline.id,
            candidate_cell=candidate.id,
            model=baseline.workload.model,
            verdict=self.overall,
            reason=self.because,
            notes=self.notes,
            metrics=tuple(self.metrics.values()),
        )

    @property
    def overall(self) -> Verdict:
        """Return the verdict on the pair, or else the worst of the metrics that decide."""
        if self.verdict is not None:
            return self.verdict
        deciding = [metric.verdict for metric in self.metrics.values() if metric.gates]
        return min(deciding or [Verdict.NOT_MEASURED], key=_WORST_FIRST.index)

    @property
    def because(self) -> str:
        """Return the reason of the pair, or of the metric without which it is not measured."""
        if self.reason or self.overall is not Verdict.NOT_MEASURED:
            return self.reason
        metrics = self.metrics.values()
        missing = (metric for metric in metrics if metric.gates and metric.verdict is Verdict.NOT_MEASURED)
        return next(
            (f"{metric.title}: {metric.reason}" for metric in missing), "nothing that decides is measured in it"
        )


Link = tuple[CellEvidence, CellEvidence]


def confirm(rules: Rules, name: str, links: Sequence[Link], before: PairFindings, alarms: int) -> PairFindings:
    """Judge by the fresh blocks of a pair every metric that was slower. All pairs with an alarm share alpha.

    A pair has one link, and a chain of comparisons several, the candidate in the last one.
    """
    before = replace(before, notes=(*before.notes, *repeat_notes(*links[-1]), *block_notes(*links[-1])))
    level = 1 - rules.alone(alarms).confidence
    failing = next(filter(None, (unreliable(*link, level) for link in links)), None)
    if failing is not None and failing[0] is Verdict.BROKE:
        reason = f"{before.overall.value} on {before.blocks} blocks, and on fresh ones {failing[1]}"
        return replace(before, verdict=Verdict.BROKE, reason=reason, metrics={})
    if failing is not None:
        return replace(before, metrics={name: unmeasured(each, failing[1]) for name, each in before.metrics.items()})
    deciding = [metric for metric in before.metrics.values() if metric.gates and not _metric(metric).is_exact]
    judged = dict(before.metrics)
    for metric, first in before.metrics.items():
        if needs_confirmation(first):
            rule = MetricRule(_metric(first), first.gates, first.tolerance)
            fresh = rule.judge(chained_values(rule.metric, links), rules.alone(alarms * len(deciding)))
            judged[metric] = confirmed(first, fresh, doubted=rules.doubts(name, metric))
    return replace(before, metrics=judged)


def _metric(judged: Judged) -> Metric:
    return known_metric(judged.metric, judged.unit, judged.better)


def fresh_blocks(rules: Rules, name: str, before: PairFindings) -> int:
    """Return the fresh blocks that confirm the alarms of a pair, which are 0 without one."""
    alarming = [metric for metric, judged in before.metrics.items() if needs_confirmation(judged)]
    if not alarming:
        return 0
    return before.blocks * (DOUBTED_BLOCKS if any(rules.doubts(name, metric) for metric in alarming) else 1)
