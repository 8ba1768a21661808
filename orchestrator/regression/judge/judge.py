"""From a pair's evidence to its verdicts, look by look, and from all pairs to a `Regression`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from orchestrator.analysis.parity import PairParity, Work
from orchestrator.analysis.verdicts import Verdict
from orchestrator.catalog import KnownFault
from orchestrator.domain import Cell
from orchestrator.regression.judge import comparable
from orchestrator.regression.judge.evidence import CellEvidence, cell_evidence, notes, values
from orchestrator.regression.judge.exact_metrics import judged_image_size, judged_loss
from orchestrator.regression.judge.metric_rule import (
    MetricRule,
    confirmed,
    doubted,
    needs_confirmation,
    unconfirmed,
    unmeasured,
)
from orchestrator.regression.judge.reliability import doubt, standing
from orchestrator.regression.judge.single_steps import with_enough_steps
from orchestrator.regression.metrics import BY_NAME, METRICS, Metric, tolerance
from orchestrator.regression.model import Judged
from orchestrator.regression.rules import Rules
from orchestrator.results.contract import EnvironmentRecord
from orchestrator.results.store import Run

_WORST = (
    Verdict.BROKE, Verdict.SLOWER, Verdict.NOT_COMPARABLE, Verdict.NOT_MEASURED, Verdict.INCONCLUSIVE, Verdict.GONE,
    Verdict.FASTER, Verdict.FIXED, Verdict.NEW, Verdict.SAME,
)  # fmt: skip
_DECIDED_BY = frozenset({Verdict.SLOWER, Verdict.FASTER, Verdict.SAME})
_LOSS, _IMAGE_SIZE = "loss", "image_size"


@dataclass(frozen=True)
class PairFindings:
    """What is known of a pair after a look."""

    blocks: int
    """That it has been measured for, those of a confirmation left out."""
    verdict: Verdict | None = None
    """Of the pair as a whole, where its metrics have none."""
    reason: str = ""
    metrics: Mapping[str, Judged] = field(default_factory=dict)
    """By name, in the order of `METRICS`."""
    notes: tuple[str, ...] = ()
    pythons: tuple[str, str] = ("", "")
    measurement_version: int = 0

    @property
    def is_decided(self) -> bool:
        """Whether further blocks would change nothing that counts."""
        if self.verdict is not None:
            return True
        return all(found.verdict is not Verdict.INCONCLUSIVE for found in self.metrics.values() if found.gates)

    def unconfirmed(self) -> "PairFindings":
        """The same, where what is slower was to be confirmed and there was no time for it."""
        return replace(self, metrics={name: unconfirmed(judged) for name, judged in self.metrics.items()})

    @property
    def overall(self) -> Verdict:
        """The worst of what decides."""
        if self.verdict is not None:
            return self.verdict
        deciding = [found.verdict for found in self.metrics.values() if found.gates]
        return min(deciding or [Verdict.NOT_MEASURED], key=_WORST.index)

    @property
    def because(self) -> str:
        """The reason of the pair as a whole, or of the metric for want of which it is not measured."""
        if self.reason or self.overall is not Verdict.NOT_MEASURED:
            return self.reason
        missing = (found for found in self.metrics.values() if found.gates and found.verdict is Verdict.NOT_MEASURED)
        return next((f"{found.title}: {found.reason}" for found in missing), "nothing that decides is measured in it")


@dataclass(frozen=True)
class Judge:
    """Judges pairs by the rules of a trial, with what lies in its run's folder."""

    run: Run
    rules: Rules
    pairs: int
    faults: Sequence[KnownFault] = ()

    @property
    def family(self) -> int:
        """Statistical verdicts that share alpha."""
        return max(1, self.pairs * sum(not metric.is_exact for metric in self._deciding()))

    def pair(
        self, one: Cell, other: Cell, blocks: range, look: int, before: PairFindings | None = None
    ) -> PairFindings:
        """Judge a pair after a look; what was decided at an earlier one stays."""
        baseline, candidate = (cell_evidence(self.run, cell, blocks) for cell in (one, other))
        found = _known(blocks, baseline, candidate)
        stands = standing(baseline, candidate, 1 - self.rules.at(look, max(1, self.pairs)).confidence)
        if stands is not None:
            return replace(found, verdict=stands[0], reason=stands[1])
        parity = self._parity(one, other)
        found = replace(found, notes=(*found.notes, *weakened(parity)))
        environment = comparable.environment_difference(baseline.surrounding, candidate.surrounding)
        if environment:
            return replace(found, verdict=Verdict.NOT_COMPARABLE, reason=environment)
        work = comparable.work_difference(parity) if parity else ""
        judged: dict[str, Judged] = {}
        for held in self._held(one):
            earlier = before.metrics.get(held.metric.name) if before else None
            if earlier is not None and earlier.gates and earlier.verdict in _DECIDED_BY:
                judged[held.metric.name] = earlier
                continue
            if held.metric.name == _LOSS:
                result = judged_loss(held, parity, (self.run, one), (self.run, other)) if parity else None
            elif held.metric.name == _IMAGE_SIZE:
                result = judged_image_size(held, *self._environments(one, other))
            else:
                result = self._measured(held, baseline, candidate, look, work)
            if result is not None:
                judged[held.metric.name] = result
        why = doubt(baseline, candidate)
        return replace(found, metrics={name: doubted(result, why) for name, result in judged.items()})

    def again(self, one: Cell, other: Cell, fresh: range, before: PairFindings, alarms: int) -> PairFindings:
        """Judge what was slower by fresh blocks alone, with alpha shared by those that are judged so."""
        baseline, candidate = (cell_evidence(self.run, cell, fresh) for cell in (one, other))
        before = replace(before, notes=(*before.notes, *notes(baseline, candidate)))
        stands = standing(baseline, candidate, 1 - self.rules.alone(alarms).confidence)
        if stands is not None and stands[0] is Verdict.BROKE:
            reason = f"{before.overall.value} on {before.blocks} blocks, and on fresh ones {stands[1]}"
            return replace(before, verdict=Verdict.BROKE, reason=reason, metrics={})
        if stands is not None:
            return replace(before, metrics={name: unmeasured(each, stands[1]) for name, each in before.metrics.items()})
        judged = dict(before.metrics)
        deciding = [metric for metric in judged.values() if metric.gates and not BY_NAME[metric.metric].is_exact]
        for name, first in before.metrics.items():
            if needs_confirmation(first):
                held = MetricRule(BY_NAME[name], first.gates, first.tolerance)
                measured = values(held.metric, baseline, candidate)
                look = self.rules.alone(alarms * len(deciding))
                judged[name] = confirmed(first, held.judge(measured, look))
        return replace(before, metrics=judged)

    def _deciding(self) -> list[Metric]:
        return [metric for metric in METRICS if any(gate.metric == metric.name for gate in self.rules.gates)]

    def _held(self, cell: Cell) -> Iterable[MetricRule]:
        for metric in METRICS:
            gates, allowed = tolerance(self.rules.gates, metric, cell.workload.model)
            yield MetricRule(metric, gates, allowed)

    def _measured(
        self, held: MetricRule, baseline: CellEvidence, candidate: CellEvidence, look: int, work: str
    ) -> Judged | None:
        measured = values(held.metric, baseline, candidate)
        if not measured and not held.gates:
            return None  # such as the memory of a device that is none
        shown = self.pairs * (len(METRICS) - len(self._deciding()))
        found = held.judge(measured, self.rules.at(look, self.family) if held.gates else self.rules.alone(shown))
        found = with_enough_steps(found, held.metric, baseline.measurements, candidate.measurements)
        if work and held.metric.name != "accuracy":
            return found.model_copy(update={"verdict": Verdict.NOT_COMPARABLE, "reason": work, "more_blocks": None})
        return found

    def _environments(self, *cells: Cell) -> Iterable[EnvironmentRecord | None]:
        made = {record.image: record for record in self.run.environments().environments}
        return (made.get(cell.image) for cell in cells)

    def _parity(self, one: Cell, other: Cell) -> PairParity | None:
        return comparable.parity((self.run, one), (self.run, other), self.faults) if self.run.plan().parity else None


def _known(blocks: range, baseline: CellEvidence, candidate: CellEvidence) -> PairFindings:
    versions = {*baseline.surrounding.measurement_versions, *candidate.surrounding.measurement_versions}
    return PairFindings(
        blocks.stop,
        notes=tuple(notes(baseline, candidate)),
        pythons=(baseline.python, candidate.python),
        measurement_version=max(versions, default=0),
    )


def weakened(parity: PairParity | None) -> tuple[str, ...]:
    """What parity leaves to be known where it does not speak against a comparison."""
    if parity is None:
        return ("parity was not asked for: nothing says that both sides do the same work",)
    if parity.work is Work.NOT_CHECKED:
        return (f"parity: not checked: {parity.reason}",)
    return (f"parity: {parity.note}",) if parity.note else ()
