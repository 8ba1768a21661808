"""The one judge, which judges two sides of one or more runs each at the levels of a look."""

import itertools
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from orchestrator.analysis.comparison import Look, Verdict
from orchestrator.analysis.parity.work import PairParity
from orchestrator.analysis.percentiles import least_steps
from orchestrator.analysis.scatter.random_effects import one_way
from orchestrator.catalog import KnownFault
from orchestrator.modes.parts.figures import RepeatFigures
from orchestrator.modes.parts.metrics import Metric, least_steps_of_a_repeat
from orchestrator.regression.judge import comparable
from orchestrator.regression.judge.evidence import (
    SideEvidence,
    block_notes,
    repeat_notes,
    run_notes,
    shared_runs,
    values,
    values_by_run,
)
from orchestrator.regression.judge.exact_metrics import judged_exact
from orchestrator.regression.judge.findings import DECIDED, PairFindings
from orchestrator.regression.judge.metric_rule import MetricRule
from orchestrator.regression.judge.reliability import doubt, doubted, unreliable
from orchestrator.regression.model import Design, Judged, Nights
from orchestrator.regression.printed import metrics_of
from orchestrator.regression.rules import LEAST_BLOCKS, Levels, Rules, tolerance

Values = Mapping[str, Sequence[float]]
"""The values of the repeats of a side, by the names of its runs."""


@dataclass(frozen=True)
class Judge:
    """The judge of all pairs of a regression test, or of a comparison of stored runs."""

    rules: Rules
    design: Design = Design.BLOCKS
    paired: bool = False
    """True if both sides are of the same runs, and are compared run by run."""
    faults: tuple[KnownFault, ...] = ()
    notes_of_failing: bool = True
    """True if the notes on repeats are shown of a pair that does not run reliably; `compare` leaves them out."""
    shows_zeros: bool = True
    """True if a metric that does not decide, and is 0 in every block, is `not measured`; `compare` leaves it out."""

    def look(
        self, baseline: SideEvidence, candidate: SideEvidence, levels: Levels, before: PairFindings | None = None
    ) -> PairFindings:
        """Judge a pair. A metric that an earlier look has decided keeps its verdict."""
        sides = baseline.joined(), candidate.joined()
        findings = replace(_known(baseline, candidate), notes=tuple(self._run_notes(baseline, candidate)))
        repeats = tuple(repeat_notes(*sides))
        if self.design is Design.BLOCKS:
            repeats = (*repeats, *block_notes(baseline.last.evidence, candidate.last.evidence))
        failing = unreliable(*sides, levels.failures)
        if failing is not None:
            notes = (*findings.notes, *repeats) if self.notes_of_failing else findings.notes
            return replace(findings, verdict=failing[0], reason=failing[1], notes=notes)
        parity, notes = self._parity_with_notes(baseline, candidate)
        findings = replace(findings, notes=(*findings.notes, *repeats, *notes))
        environment = self._environment_difference(baseline, candidate)
        if environment:
            return replace(findings, verdict=Verdict.NOT_COMPARABLE, reason=environment)
        judged: dict[str, Judged] = {}
        for rule in self._metric_rules(baseline):
            name = rule.metric.name
            earlier = before.metrics.get(name) if before else None
            if earlier is not None and earlier.gates and earlier.verdict in DECIDED:
                judged[name] = earlier
            elif (result := self._judged(rule, baseline, candidate, levels, parity)) is not None:
                judged[name] = result
        reason = doubt(*sides)
        return replace(findings, metrics={name: doubted(result, reason) for name, result in judged.items()})

    def _metric_rules(self, side: SideEvidence) -> Iterator[MetricRule]:
        cell = side.last.cell
        work, printed = cell.workload, metrics_of(cell.script) if cell.script else ()
        for metric in (*work.rules.metrics, *printed):
            decides, share = tolerance(self.rules.gates, metric, work.model)
            # A search has one metric, whatever decides of other cells.
            yield MetricRule(metric, decides or work.searches, share)

    def _parity_with_notes(
        self, baseline: SideEvidence, candidate: SideEvidence
    ) -> tuple[PairParity | None, tuple[str, ...]]:
        """Return the answer of the parity checks, if there is one, and the notes on it."""
        if baseline.last.cell.script:
            return None, (comparable.OF_SCRIPT,)
        asked = baseline.last.asks_parity or candidate.last.asks_parity
        parity = self._parity(baseline, candidate) if asked or _is_answered(baseline, candidate) else None
        return parity, comparable.parity_notes(parity if asked else None)

    def _parity(self, baseline: SideEvidence, candidate: SideEvidence) -> PairParity:
        """Return the answer of the parity checks."""
        return comparable.parity(baseline.last.placed, candidate.last.placed, self.faults)

    def _environment_difference(self, baseline: SideEvidence, candidate: SideEvidence) -> str:
        for one, other in itertools.combinations(chain(baseline.counting, candidate.counting), 2):
            difference = comparable.environment_difference(one.evidence.surrounding, other.evidence.surrounding)
            if difference:
                where = f" ({one.run.name}, {other.run.name})" if self.design is Design.SEVERAL_RUNS else ""
                return difference + where
        return ""

    def _judged(
        self,
        rule: MetricRule,
        baseline: SideEvidence,
        candidate: SideEvidence,
        levels: Levels,
        parity: PairParity | None,
    ) -> Judged | None:
        if rule.metric.is_exact:
            return judged_exact(rule, parity, baseline.last.exact, candidate.last.exact)
        result = self._compared(rule, baseline, candidate, levels.deciding if rule.gates else levels.shown)
        result = with_enough_steps(result, rule.metric, baseline.measurements, candidate.measurements)
        if result.verdict is Verdict.NOT_MEASURED and not rule.gates:
            has_values = values(rule.metric, baseline.last.evidence, candidate.last.evidence)
            if not has_values or not self.shows_zeros:
                return None
        work = comparable.work_difference(parity) if parity else ""
        if work and rule.metric.name != "accuracy":
            return result.model_copy(update={"verdict": Verdict.NOT_COMPARABLE, "reason": work, "more_blocks": None})
        return result

    def _compared(self, rule: MetricRule, baseline: SideEvidence, candidate: SideEvidence, look: Look) -> Judged:
        """Compare block by block in one run, repeats of two runs, or the means of runs."""
        if self.design is Design.BLOCKS:
            return rule.judge(values(rule.metric, baseline.last.evidence, candidate.last.evidence), look)
        ones, others = (values_by_run(rule.metric, side.counting) for side in (baseline, candidate))
        shared = [] if self.design is Design.RUNS else self._shared(ones, others)
        return compared_runs(rule, self.design, (ones, others), look, shared)

    def _shared(self, ones: Iterable[str], others: Iterable[str]) -> list[str]:
        return shared_runs(ones, others) if self.paired else []

    def _run_notes(self, baseline: SideEvidence, candidate: SideEvidence) -> Iterator[str]:
        ones, others = ([each.run.name for each in side.counting] for side in (baseline, candidate))
        unpaired = sorted({*ones} ^ {*others}) if self._shared(ones, others) else []
        return run_notes(baseline, candidate, unpaired)


def _known(baseline: SideEvidence, candidate: SideEvidence) -> PairFindings:
    sides = [[each.evidence for each in side.counting] for side in (baseline, candidate)]
    versions = chain.from_iterable(each.surrounding.measurement_versions for each in chain(*sides))
    pythons = [" | ".join(dict.fromkeys(each.python for each in side if each.python)) for side in sides]
    blocks = baseline.last.evidence.blocks.stop
    return PairFindings(blocks, pythons=(pythons[0], pythons[1]), measurement_version=max(versions, default=0))


def compared_runs(
    rule: MetricRule, design: Design, sides: tuple[Values, Values], look: Look, shared: Sequence[str] = ()
) -> Judged:
    """Compare repeat by repeat in one run each, and else by the means of runs.

    `shared` are runs of both sides, which are compared run by run.
    """
    ones, others = sides
    if design is Design.RUNS:
        flat, others_flat = (list(chain.from_iterable(side.values())) for side in (ones, others))
        result = rule.compared(flat, others_flat, look, paired=False)
    else:
        means, others_means = ([_run_mean(side[run]) for run in shared or side] for side in (ones, others))
        result = rule.compared(means, others_means, look, paired=bool(shared))
        if result.verdict is not Verdict.NOT_MEASURED and result.blocks < LEAST_BLOCKS:
            result = result.model_copy(update={"reason": _too_few(len(means), len(others_means))})
    positive = [[each for each in side.values() if min(each) > 0] for side in (ones, others)]
    return result.model_copy(update={"nights": scatter(*positive)}) if all(positive) else result


def _too_few(ones: int, others: int) -> str:
    whose = "of each side" if ones == others else f"of the {'baseline' if ones < others else 'candidate'}"
    return f"one run {whose} says nothing of how runs scatter; give two or more"


def _is_answered(*sides: SideEvidence) -> bool:
    """Return true if a parity check of a side has stored an answer, whether its plan asks for one or not."""
    return any(comparable.is_answered(*side.last.placed) for side in sides)


def _run_mean(repeats: Sequence[float]) -> float:
    """Return the geometric mean of the repeats of a run, which is 0 if one of them is."""
    return math.exp(statistics.fmean(map(math.log, repeats))) if min(repeats) > 0 else 0.0


def scatter(ones: Sequence[Sequence[float]], others: Sequence[Sequence[float]]) -> Nights:
    """Return the scatter within runs and from run to run, pooled over both sides."""
    split = one_way([ones, others])
    return Nights(
        baseline=len(ones),
        candidate=len(others),
        within=None if split.within is None else math.sqrt(split.within),
        between=None if split.between is None else math.sqrt(split.between),
    )


def with_enough_steps(
    judged: Judged,
    metric: Metric,
    baseline: Mapping[int, RepeatFigures],
    candidate: Mapping[int, RepeatFigures],
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
