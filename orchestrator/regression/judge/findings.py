"""The findings on a pair after a look."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from orchestrator.analysis.verdicts import Verdict
from orchestrator.regression.judge.confirmation import unconfirmed
from orchestrator.regression.model import Judged

_WORST_FIRST = (
    Verdict.BROKE, Verdict.SLOWER, Verdict.NOT_COMPARABLE, Verdict.NOT_MEASURED, Verdict.INCONCLUSIVE, Verdict.GONE,
    Verdict.FASTER, Verdict.FIXED, Verdict.NEW, Verdict.SAME,
)  # fmt: skip
DECIDED: Final = frozenset({Verdict.SLOWER, Verdict.FASTER, Verdict.SAME})
"""The verdicts of a metric that later looks leave as they are."""


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
