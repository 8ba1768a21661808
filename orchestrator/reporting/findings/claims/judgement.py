"""The judgement of published claims by the cells of a run.

The ratio, its interval and its verdict are those of `compare` and `regress`: the pairs of repeats of one block, by
`MetricRule`. Each claim is a question of its own, so its interval is not widened for the others.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator.analysis.comparison import ALPHA, Look, Verdict
from orchestrator.analysis.parity.work import PairParity, WorkParity
from orchestrator.catalog import COMPUTES_NOTHING
from orchestrator.domain import Cell, Plan, Skip, Status
from orchestrator.modes.parts.claimed import claimed_metric, least_epochs
from orchestrator.modes.parts.metrics import Metric
from orchestrator.regression.judge.metric_rule import MetricRule
from orchestrator.regression.model import Judged
from orchestrator.reporting.findings.claims.findings import ClaimFinding, ClaimVerdict, StudyReport
from orchestrator.reporting.findings.model import CellReport
from orchestrator.reporting.inline import ratio, ratio_interval
from orchestrator.studies import Claim, LeftOutPart, StandIn, Study
from orchestrator.wording import clean_line, counted

_ALONE = Look(1, 1 - ALPHA, ALPHA)
"""The levels of a claim that is judged by itself."""
_NO_DIFFERENCE = "no difference"
SMOKE_RUN = "smoke run: it measures too few steps for a figure that lasts"
ACCURACY = "accuracy"
_FACTS = (("python", "Python"), ("threads", "threads"), ("precision", "precision"), ("cudnn", "cuDNN"))


@dataclass(frozen=True, slots=True)
class ClaimJudge:
    """The cells of a run, and what is known of the run itself."""

    cells: Mapping[str, CellReport]
    skips: Sequence[Skip]
    parity: Callable[[Cell, Cell], PairParity | None]
    """Returns the parity of two cells, or None if nothing is known of it."""
    smoke_run: bool = False
    """True for a run that measures as little as possible."""
    stand_ins: frozenset[str] = frozenset()
    """Datasets whose files only had their format."""

    def study(self, study: Study) -> StudyReport:
        """Judge every claim of a study."""
        return StudyReport(
            title=clean_line(study.title),
            citation=clean_line(study.citation),
            link=clean_line(study.link),
            stand_ins=tuple(
                StandIn(*map(clean_line, (each.published, each.used, each.reason))) for each in study.stand_ins
            ),
            left_out=tuple(LeftOutPart(*map(clean_line, (each.part, each.reason))) for each in study.left_out),
            claims=tuple(self.claim(_clean(claim)) for claim in study.claims),
            smoke_run=self.smoke_run,
        )

    def claim(self, claim: Claim) -> ClaimFinding:
        """Judge a claim. What keeps it from being judged is looked for in the order of its weight."""
        of, over = self.cells.get(claim.of), self.cells.get(claim.over)
        missing = "; ".join(filter(None, (self._missing(name) for name in (claim.of, claim.over))))
        if missing or of is None or over is None:
            reason = f"the published value: {claim.flaw}" if claim.flaw else missing
            return ClaimFinding(claim, claim.metric, "", ClaimVerdict.NOT_JUDGED, reason, caveats=claim.caveats)
        metric = claimed_metric(claim.metric, of.cell.workload.rules.metrics)
        rule = MetricRule(metric, gates=True, tolerance=metric.tolerance)
        ours = rule.judge(_pairs(metric, of, over), _ALONE)
        finding = replace(
            _figures(claim, metric, ours),
            caveats=(*claim.caveats, *self._caveats(of, over), *_indication(metric, of, over, ours)),
        )
        if reason := self._obstacle(claim, of, over, ours):
            return replace(finding, verdict=ClaimVerdict.NOT_JUDGED, reason=reason)
        verdict, reason = _direction(rule.exact(1.0, claim.published.ratio).verdict, ours)
        return replace(finding, verdict=verdict, reason=reason)

    def _missing(self, cell_id: str) -> str:
        """Return the reason that nothing was measured of a cell, or an empty text."""
        cell = self.cells.get(cell_id)
        if cell is None:
            skipped = (skip.reason for skip in self.skips if skip.cell_id == cell_id)
            return f"{cell_id} is left out: {clean_line(next(skipped, 'it is not in this run'))}"
        if any(repeat.measurement for repeat in cell.repeats):
            return ""
        ended = Counter((repeat.outcome.status, repeat.outcome.reason) for repeat in cell.repeats)
        (status, reason), _ = ended.most_common(1)[0]
        return f"{cell_id} ended as {status.value}" + (f": {reason}" if reason else "")

    def _obstacle(self, claim: Claim, of: CellReport, over: CellReport, ours: Judged) -> str:
        """Return the reason that a claim about two measured cells cannot be judged, or an empty text."""
        if claim.flaw:
            return f"the published value: {claim.flaw}"
        if of is over:
            return f"both are one cell here: {of.cell.id}"
        idle = [cell.cell.id for cell in (of, over) if not cell.computes]
        if idle:
            return f"{idle[0]} {COMPUTES_NOTHING}"
        parity = self._parity(of, over)
        if parity is not None and parity.work is WorkParity.NOT_COMPARABLE:
            fault = f" (known fault of {parity.known_fault})" if parity.known_fault else ""
            return f"not comparable: {parity.reason}{fault}"
        if self.smoke_run or ours.ratio is None:
            return SMOKE_RUN if self.smoke_run else _unmeasured(claim, of, over)
        stand_ins = self._stand_ins(of, over) if ours.metric == ACCURACY else []
        return f"{stand_ins[0]}: an accuracy says nothing of the dataset" if stand_ins else ""

    def _stand_ins(self, of: CellReport, over: CellReport) -> list[str]:
        """Return a sentence for each dataset of two cells whose files were a stand-in."""
        datasets = dict.fromkeys(cell.cell.workload.dataset for cell in (of, over))
        return [f"the files of {name} were a stand-in" for name in datasets if name in self.stand_ins]

    def _parity(self, of: CellReport, over: CellReport) -> PairParity | None:
        return self.parity(of.cell, over.cell) if of.cell.workload == over.cell.workload else None

    def _caveats(self, of: CellReport, over: CellReport) -> Iterator[str]:
        """Yield what this run says against comparing two cells, short of an obstacle."""
        if of.cell.workload != over.cell.workload:
            yield f"the cells do different work: {of.cell.workload.label} against {over.cell.workload.label}"
        else:
            yield from _parity_caveats(self._parity(of, over))
        yield from self._stand_ins(of, over)
        for name, title in _FACTS:
            one, other = (dict(cell.facts).get(name) for cell in (of, over))
            if one and other and one != other:
                yield f"{title} {one} against {other}"
        for cell in (of, over):
            yield from _repeat_caveats(cell)


def _clean(claim: Claim) -> Claim:
    """Return a claim whose texts steer no terminal, as they may come from a file of elsewhere."""
    return replace(
        claim,
        name=clean_line(claim.name),
        text=clean_line(claim.text),
        source=clean_line(claim.source),
        flaw=clean_line(claim.flaw),
        caveats=tuple(map(clean_line, claim.caveats)),
    )


def _repeat_caveats(cell: CellReport) -> Iterator[str]:
    of_all = f"of {counted(len(cell.repeats), 'repeat')} of {cell.cell.id}"
    failed = sum(repeat.outcome.status is not Status.OK for repeat in cell.repeats)
    disturbed = sum(bool(repeat.outcome.disturbance) for repeat in cell.repeats)
    if failed:
        yield f"{failed} {of_all} did not end ok"
    if disturbed:
        yield f"{disturbed} {of_all} were disturbed, and count"


def of_plan(
    plan: Plan, cells: Mapping[str, CellReport], parity: Callable[[Cell, Cell], PairParity | None]
) -> StudyReport | None:
    """Judge the claims of a plan, or return None for a plan without a study."""
    if plan.study is None:
        return None
    stand_ins = frozenset(data.name for data in plan.data if data.stand_in)
    judge = ClaimJudge(cells, plan.skips, parity, smoke_run=plan.profile is not None, stand_ins=stand_ins)
    return judge.study(plan.study)


def _pairs(metric: Metric, of: CellReport, over: CellReport) -> list[tuple[float, float]]:
    """Return the values of the second and of the first cell in every repeat that has both."""
    first, second = (_values(metric, cell) for cell in (of, over))
    return [(second[number], first[number]) for number in second if number in first]


def _values(metric: Metric, cell: CellReport) -> dict[int, float]:
    taken = (
        (repeat.outcome.repeat, metric.take(repeat.measurement))
        for repeat in cell.repeats
        if metric.take and repeat.measurement is not None
    )
    return {number: float(value) for number, value in taken if value is not None}


def _figures(claim: Claim, metric: Metric, ours: Judged) -> ClaimFinding:
    """Return a claim with what was measured, without its verdict."""
    return ClaimFinding(
        claim=claim,
        title=metric.title,
        unit=metric.unit,
        verdict=ClaimVerdict.UNDECIDED,
        of_value=ours.candidate,
        over_value=ours.baseline,
        ratio=ours.ratio,
        low=ours.low,
        high=ours.high,
        confidence=ours.confidence,
        repeats=ours.blocks,
    )


def _direction(published: Verdict, ours: Judged) -> tuple[ClaimVerdict, str]:
    """Compare the direction that was published with the measured one."""
    if ours.verdict not in {Verdict.FASTER, Verdict.SLOWER, Verdict.SAME}:
        more = f"needs about {ours.more_blocks} more repeats" if ours.more_blocks else ""
        return ClaimVerdict.UNDECIDED, ours.reason or more
    if published is ours.verdict:
        return ClaimVerdict.SAME_DIRECTION, ""
    words = (_NO_DIFFERENCE if each is Verdict.SAME else "a difference" for each in (published, ours.verdict))
    reason = "" if Verdict.SAME not in {published, ours.verdict} else "published: {}; measured: {}".format(*words)
    return ClaimVerdict.OTHER_DIRECTION, reason


def _unmeasured(claim: Claim, of: CellReport, over: CellReport) -> str:
    """Return the reason that a metric has no value of two cells that were measured."""
    least = least_epochs(claim.metric)
    epochs = min((len(cell.epochs.epoch_s) if cell.epochs else 0 for cell in (of, over)), default=0)
    if not least or epochs >= least:
        return f"{claim.metric} was not measured of both cells"
    if not epochs:
        return "single steps were timed, and no epochs"
    return f"{counted(epochs, 'epoch')} were measured of the {least} that it needs"


def _indication(metric: Metric, of: CellReport, over: CellReport, ours: Judged) -> Iterator[str]:
    """Yield the ratio of times by the throughputs, where a claim about a time is without a value of its own."""
    if ours.ratio is not None or not least_epochs(metric.name) or metric.name == ACCURACY:
        return
    throughput = next((each for each in of.cell.workload.rules.metrics if each.name == "throughput"), None)
    if throughput is None:
        return
    rule = MetricRule(throughput, gates=False, tolerance=throughput.tolerance)
    instead = rule.judge(_pairs(throughput, over, of), _ALONE)  # a time is longer where the throughput is lower
    if instead.ratio is not None:
        interval = ratio_interval(instead.low, instead.high)
        yield f"by the throughputs, the ratio would be {ratio(instead.ratio)} ({interval})"


def _parity_caveats(parity: PairParity | None) -> Iterator[str]:
    if parity is None:
        yield "parity was not asked for: nothing says that both cells do the same work"
    elif parity.work is WorkParity.NOT_CHECKED:
        yield f"parity: not checked: {parity.reason}"
    elif parity.note:
        yield f"parity: {parity.note}"
