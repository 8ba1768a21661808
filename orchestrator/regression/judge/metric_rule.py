"""The rule of one metric, from the values of two sides to a verdict."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.analysis.comparison import Look, Verdict, compare
from orchestrator.analysis.estimates import bounded, exponential
from orchestrator.modes.parts.metrics import Better, Metric
from orchestrator.regression.model import Judged
from orchestrator.regression.rules import LEAST_BLOCKS, Values


@dataclass(frozen=True, slots=True)
class MetricRule:
    """A metric with its tolerance, and whether it decides."""

    metric: Metric
    gates: bool
    tolerance: float

    def empty(self, verdict: Verdict, reason: str) -> Judged:
        """Return a verdict without figures."""
        return Judged(**self._named(), verdict=verdict, reason=reason)

    def _named(self) -> dict[str, object]:
        metric = self.metric
        return {
            "metric": metric.name, "title": metric.title, "unit": metric.unit, "better": metric.better,
            "gates": self.gates, "tolerance": self.tolerance,
        }  # fmt: skip

    def judge(self, values: Values, look: Look) -> Judged:
        """Compare the pairs of values at the levels of a look."""
        judged = self.compared([one for one, _ in values], [other for _, other in values], look, paired=True)
        return judged.model_copy(update={"values": tuple(pair for pair in values if min(pair) > 0)})

    def compared(self, baseline: Sequence[float], candidate: Sequence[float], look: Look, *, paired: bool) -> Judged:
        """Compare the values of both sides at the levels of a look. 0 has no ratio, and may still be the worst."""
        if paired:
            both = [pair for pair in zip(baseline, candidate, strict=True) if max(pair) > 0]
            known = [pair for pair in both if min(pair) > 0]
            baseline, candidate = [one for one, _ in both], [other for _, other in both]
            ones, others = [one for one, _ in known], [other for _, other in known]
        else:
            ones, others = ([value for value in side if value > 0] for side in (baseline, candidate))
        judged = self._compared(ones, others, look, paired=paired)
        return with_zeros(judged, baseline, candidate) if self.metric.higher_is_better else judged

    def _compared(self, baseline: Sequence[float], candidate: Sequence[float], look: Look, *, paired: bool) -> Judged:
        if not baseline or not candidate:
            return self.empty(Verdict.NOT_MEASURED, "it was not measured on both sides")
        comparison = compare(
            baseline,
            candidate,
            tolerance=self.tolerance,
            higher_is_better=self.metric.higher_is_better,
            confidence=look.confidence,
            equivalence=look.equivalence,
            paired=paired,
        )
        enough = comparison.repeats >= LEAST_BLOCKS
        return Judged(
            **self._named(),
            verdict=comparison.verdict,
            reason="" if enough else "one measurement says nothing about scatter",
            blocks=comparison.repeats,
            baseline=_geometric_mean(baseline),
            candidate=_geometric_mean(candidate),
            ratio=comparison.ratio,
            low=comparison.low,
            high=comparison.high,
            confidence=comparison.confidence,
            equivalence=comparison.equivalence,
            p_value=comparison.p_value,
            minimum_detectable_effect=comparison.minimum_detectable_effect,
            more_blocks=comparison.more_repeats,
        )

    def exact(self, baseline: float | None, candidate: float | None) -> Judged:
        """Compare two values that are known exactly."""
        if baseline is None or candidate is None:
            return self.empty(Verdict.NOT_MEASURED, "it is not known of both sides")
        if baseline <= 0 or candidate <= 0:
            return self.empty(Verdict.NOT_MEASURED, "it is not positive on both sides")
        ratio = bounded(candidate / baseline)
        return Judged(
            **self._named(),
            verdict=_exact_verdict(ratio, self.tolerance, self.metric.better),
            baseline=baseline,
            candidate=candidate,
            ratio=ratio,
            low=ratio,
            high=ratio,
        )


def with_zeros(judged: Judged, baseline: Sequence[float], candidate: Sequence[float]) -> Judged:
    """Return the verdict on a metric that is better high, with the values of 0 that `judged` leaves out.

    A side that is always 0 decides if the other never is. Occasional zeros agree with the verdict on the rest, or leave
    the pair undecided, so that they are never left out in silence.
    """
    sides = {"baseline": baseline, "candidate": candidate}
    zeros = {name: sum(value <= 0 for value in side) for name, side in sides.items()}
    blocks = min(map(len, sides.values()))
    if not blocks or not any(zeros.values()) or not any(map(any, sides.values())):
        return judged
    described = [f"the {name} is 0 in {zeros[name]} of {len(side)}" for name, side in sides.items() if zeros[name]]
    judged = judged.model_copy(update={"reason": f"{' and '.join(described)} measurements", "blocks": blocks})
    for name, verdict in (("candidate", Verdict.SLOWER), ("baseline", Verdict.FASTER)):
        if zeros[name] == sum(zeros.values()):
            if zeros[name] == len(sides[name]) and blocks >= LEAST_BLOCKS:
                means = {each: 0.0 if each == name else _geometric_mean(side) for each, side in sides.items()}
                return judged.model_copy(update={**means, "verdict": verdict})
            if judged.verdict is verdict:
                return judged
    return judged.model_copy(update={"verdict": Verdict.INCONCLUSIVE, "more_blocks": None})


def _exact_verdict(ratio: float, tolerance: float, better: Better) -> Verdict:
    if abs(math.log(ratio)) <= math.log1p(tolerance):
        return Verdict.SAME
    if better is Better.EQUAL:
        return Verdict.SLOWER
    return Verdict.FASTER if (ratio > 1) == (better is Better.HIGHER) else Verdict.SLOWER


def _geometric_mean(values: Sequence[float]) -> float:
    return exponential(math.fsum(map(math.log, values)) / len(values))
