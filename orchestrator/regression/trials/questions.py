"""The questions of a trial, each of which compares the two ends of one pair, or of a chain of pairs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.estimates import exponential
from orchestrator.analysis.scatter.contrasts import contrast
from orchestrator.catalog import KnownFault
from orchestrator.domain import Cell
from orchestrator.regression.anchoring import Anchor
from orchestrator.regression.judge import chains
from orchestrator.regression.judge.evidence import cell_evidence, values
from orchestrator.regression.judge.findings import Link, PairFindings, confirm, fresh_blocks
from orchestrator.regression.judge.judge import Judge
from orchestrator.regression.model import Anchored, ChainLink, JudgedPair, SideRecord
from orchestrator.regression.pairing import Pair
from orchestrator.regression.rules import BY_NAME, LEAST_BLOCKS, Levels
from orchestrator.regression.trials.files import Trial
from orchestrator.results.store import Run

STOPPED = PairFindings(0, Verdict.NOT_MEASURED, "it was stopped before")


@dataclass(eq=False)
class PairQuestion:
    """One pair, or a chain of pairs, with its findings so far."""

    id: str
    """The id of the pair. The question of an anchor has that of the pair it belongs to."""
    links: tuple[Pair, ...]
    judge: Judge
    found: PairFindings | None = None

    @property
    def findings(self) -> PairFindings:
        """Return the findings, which say so if it was stopped before there were any."""
        return self.found or STOPPED

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        """Return the ids of both cells of each link."""
        return tuple((link.baseline, link.candidate) for link in self.links)

    @property
    def fresh_blocks(self) -> int:
        """Return the blocks that its alarms are confirmed on, which are 0 without any."""
        return fresh_blocks(self.judge.rules, self.id, self.findings)

    def look(self, links: Sequence[chains.SideLink], levels: Levels) -> None:
        """Judge the blocks so far."""
        self.found = chains.look(self.judge, links, levels, self.found)

    def confirm(self, links: Sequence[Link], alarms: int) -> None:
        """Judge the fresh blocks. All questions with an alarm share alpha."""
        self.found = confirm(self.judge.rules, self.id, links, self.findings, alarms)

    def withdraw(self) -> None:
        """Withdraw every alarm, since there was no time to confirm it."""
        self.found = self.findings.unconfirmed()

    def judged_pair(self, cells: Mapping[str, Cell]) -> JudgedPair:
        """Return the two ends with the findings."""
        return self.findings.judged_pair(self.id, cells[self.links[0].baseline], cells[self.links[-1].candidate])


def questions(trial: Trial, faults: Collection[KnownFault]) -> tuple[list[PairQuestion], list[PairQuestion]]:
    """Return the questions of the pairs, and those of the anchor."""
    judge = Judge(trial.rules, faults=tuple(faults))
    pairs = [PairQuestion(pair.id, (pair,), judge) for pair in trial.pairs]
    if trial.anchor is None:
        return pairs, []
    of_anchor = replace(judge, rules=trial.anchor.rules(trial.rules))
    return pairs, [PairQuestion(pair.id, pair.links, of_anchor) for pair in trial.anchor.pairs]


def anchored(anchor: Anchor, asked: Sequence[PairQuestion], cells: Mapping[str, Cell], run: Run) -> Anchored:
    """Return the record of the candidate next to the anchor."""
    pairs = [each.judged_pair(cells) for each in asked]
    pythons = dict.fromkeys(each.findings.pythons[0] for each in asked if each.findings.pythons[0])
    missing = [
        JudgedPair(id=each.id, candidate_cell=each.cell_id, verdict=Verdict.NOT_MEASURED, reason=each.reason)
        for each in anchor.missing
    ]
    return Anchored(
        anchor=SideRecord(text=anchor.side.text, label=anchor.side.label, python=" | ".join(pythons)),
        tolerance=anchor.tolerance,
        over=anchor.over,
        pairs=(*(_of_anchor(pair) for pair in pairs), *missing),
        links=tuple(link for each in asked if len(each.links) > 1 for link in _links(each, cells, run)),
    )


def _of_anchor(pair: JudgedPair) -> JudgedPair:
    """Return a pair with the metrics that decide. The others are shown next to the baseline."""
    return pair.model_copy(update={"metrics": tuple(metric for metric in pair.metrics if metric.gates)})


def _links(question: PairQuestion, cells: Mapping[str, Cell], run: Run) -> Iterator[ChainLink]:
    """Yield the ratio of every link with its standard error, metric by metric, from the blocks of the looks."""
    blocks = range(question.findings.blocks)
    for metric in (judged.metric for judged in question.findings.metrics.values() if judged.gates):
        for link in question.links:
            one, other = cells[link.baseline], cells[link.candidate]
            evidence = cell_evidence(run, one, blocks), cell_evidence(run, other, blocks)
            both = [pair for pair in values(BY_NAME[metric], *evidence) if min(pair) > 0]
            if len(both) < LEAST_BLOCKS:
                continue
            apart = contrast([last for _, last in both], [first for first, _ in both], paired=True)
            yield ChainLink(
                cell=question.id,
                metric=metric,
                baseline=one.framework.version,
                candidate=other.framework.version,
                python=other.framework.python,
                ratio=exponential(apart.value),
                error=apart.error(),
            )
