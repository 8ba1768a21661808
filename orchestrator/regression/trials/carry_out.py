"""The execution of a trial, from its blocks and looks to its confirmation and verdicts.

Everything that is decided on the way is decided anew from the files whenever a trial is taken up again, so that one
that was killed goes on at the same place and comes to the same end.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from orchestrator.analysis.comparison import Verdict
from orchestrator.catalog import KnownFault
from orchestrator.domain import Cell, Plan
from orchestrator.regression.anchoring import Anchor
from orchestrator.regression.judge.evidence import cell_evidence, moved, one_run
from orchestrator.regression.judge.findings import PairFindings
from orchestrator.regression.model import JudgedPair, Moved, Regression, SideRecord
from orchestrator.regression.package_sides import side_label
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.rules import Rules
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.files import Trial, write_regression
from orchestrator.regression.trials.questions import PairQuestion, anchored, questions
from orchestrator.results.growing import GrowingRun, growing_run, with_repeats
from orchestrator.results.records import EnvironmentRecord
from orchestrator.results.store import Run
from orchestrator.running import Policy, Surroundings, execute
from orchestrator.user_files import stand_in_warnings


def first_plan(plan: Plan, rules: Rules) -> Plan:
    """Return the plan of the first look."""
    return with_repeats(plan, dict.fromkeys((cell.id for cell in plan.cells), rules.looks[0]), at_least=False)


def trial_of(pairing: Pairing, rules: Rules, anchor: Anchor | None = None) -> Trial:
    """Return the trial of a pairing, with a third side if there is an anchor."""
    return Trial(pairing.baseline, pairing.candidate, pairing.pairs, rules, pairing.gone, pairing.new, anchor)


@dataclass(frozen=True, slots=True)
class MeasuredTrial:
    """A trial that was carried out, wholly or until it was stopped."""

    run: Run
    trial: Trial
    plan: Plan
    """The plan with all blocks that were asked for."""
    regression: Regression

    def cells(self, ids: Collection[str]) -> tuple[Cell, ...]:
        """Return the planned cells with these ids."""
        return tuple(cell for cell in self.plan.cells if cell.id in ids)


def carry_out(trial: Trial, around: Surroundings, policy: Policy, faults: Sequence[KnownFault] = ()) -> MeasuredTrial:
    """Measure until every pair is decided or the last look is over. Write and return the result.

    The run must have begun: its record holds the plan of the first look, which grows here. Where `stop` is set, what
    is left undecided is told so, and `complete` is false. Raises `HostError` as `execute` does.
    """
    run = growing_run(around.run)
    conduct = _Conduct(trial, around, policy, run, *questions(trial, faults))
    conduct.look()
    if trial.rules.confirm:
        conduct.confirm()
    regression = _summary(conduct)
    write_regression(around.run, regression)
    return MeasuredTrial(around.run, trial, run.plan, regression)


@dataclass
class _Conduct:
    """A trial in progress."""

    trial: Trial
    around: Surroundings
    policy: Policy
    run: GrowingRun
    pairs: list[PairQuestion]
    anchored: list[PairQuestion]

    @property
    def questions(self) -> list[PairQuestion]:
        """Return the questions of the pairs, then those of the anchor."""
        return [*self.pairs, *self.anchored]

    def look(self) -> None:
        """Measure up to each look in turn. Decided pairs are measured no further.

        A pair and its anchor go on together until both are decided, so that every block holds all sides of it.
        """
        undecided = self.questions
        for number, blocks in enumerate(self.trial.rules.looks):
            going_on = {each.id for each in undecided}
            cells = self._measure({each: blocks for each in self.questions if each.id in going_on})
            read = partial(
                one_run,
                self.around.run,
                blocks=range(blocks),
                environments=self.around.run.environments(),
                asks_parity=self.run.plan.parity,
            )
            levels = self.trial.rules.levels(number, self.trial.compared)
            for question in undecided:
                question.look([(read(cells[one]), read(cells[other])) for one, other in question.ends], levels)
            if self.around.stop.is_set():
                return
            undecided = [each for each in undecided if not each.findings.is_decided]
            if not undecided:
                return

    def confirm(self) -> None:
        """Measure slower pairs again, on fresh blocks."""
        doubtful = {each: each.findings.blocks + each.fresh_blocks for each in self.questions if each.fresh_blocks}
        cells = self._measure(doubtful) if doubtful and not self.around.stop.is_set() else {}
        for question, blocks in doubtful.items():
            if self.around.stop.is_set():
                # Nobody is alarmed by what was to be confirmed and was not.
                question.withdraw()
                continue
            read = partial(cell_evidence, self.around.run, blocks=range(question.findings.blocks, blocks))
            question.confirm([(read(cells[one]), read(cells[other])) for one, other in question.ends], len(doubtful))

    def _measure(self, blocks: Mapping[PairQuestion, int]) -> dict[str, Cell]:
        """Measure the cells of questions up to so many blocks. The recorded plan grows first, and never shrinks."""
        repeats: dict[str, int] = {}
        for question, number in blocks.items():
            for cell_id in chain.from_iterable(question.ends):
                repeats[cell_id] = max(number, repeats.get(cell_id, 0))
        grown = self.run.grown(repeats)
        if grown != self.run.plan:
            self.around.require_room(grown)
            self.run.write_plan(grown)
        for _ in execute(self.run.plan, self.around, self.policy):
            pass
        return {cell.id: cell for cell in self.run.plan.cells}


def _summary(conduct: _Conduct) -> Regression:
    """Return the result of a trial, with the findings of every pair and the cells without a counterpart."""
    run, trial, record, plan = conduct.run, conduct.trial, conduct.run.record, conduct.run.plan
    cells = {cell.id: cell for cell in plan.cells}
    findings = [question.findings for question in conduct.pairs]
    pairs = [question.judged_pair(cells) for question in conduct.pairs]
    for verdict, unpaired in ((Verdict.GONE, trial.gone), (Verdict.NEW, trial.new)):
        pairs += [JudgedPair.of_one_side(verdict, each.id, each.cell_id, each.reason) for each in unpaired]
    return Regression(
        run=run.run.name,
        created_at=record.created_at,
        host=str(record.host.get("hostname") or ""),
        runtime=record.runtime,
        baseline=_side_record(trial.baseline, plan, _python(findings, 0)),
        candidate=_side_record(trial.candidate, plan, _python(findings, 1)),
        measurement_version=max((known.measurement_version for known in findings), default=0),
        alpha=trial.rules.alpha,
        family=trial.rules.family(trial.compared),
        looks=trial.rules.looks,
        confirms=trial.rules.confirm,
        complete=not conduct.around.stop.is_set(),
        moved=_moved(run.run, plan, trial),
        warnings=(*plan.warnings, *stand_in_warnings(plan.data)),
        pairs=tuple(pairs),
        anchored=anchored(trial.anchor, conduct.anchored, cells, run.run) if trial.anchor else None,
    )


def _side_record(side: Side, plan: Plan, python: str) -> SideRecord:
    return SideRecord(text=side.text, label=side_label(side, plan.cells), python=python)


def _python(findings: Sequence[PairFindings], side: int) -> str:
    return " | ".join(dict.fromkeys(known.pythons[side] for known in findings if known.pythons[side]))


def _moved(run: Run, plan: Plan, trial: Trial) -> tuple[Moved, ...]:
    """Return the packages that moved over all pairs, each once for each way it moved."""
    made: dict[str, EnvironmentRecord] = {record.image: record for record in run.environments().environments}
    images = {cell.id: cell.image for cell in plan.cells}
    every = dict.fromkeys(
        each
        for pair in trial.pairs
        for each in moved(made.get(images[pair.baseline]), made.get(images[pair.candidate]))
    )
    return tuple(every)
