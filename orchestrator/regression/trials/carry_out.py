"""The execution of a trial, from its blocks and looks to its confirmation and verdicts.

Everything that is decided on the way is decided anew from the files whenever a trial is taken up again, so that one
that was killed goes on at the same place and comes to the same end.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from orchestrator.analysis.comparison import Verdict
from orchestrator.catalog import KnownFault
from orchestrator.domain import Cell, Plan
from orchestrator.regression.judge.evidence import cell_evidence, moved, one_run
from orchestrator.regression.judge.findings import PairFindings, confirm, needs_confirmation
from orchestrator.regression.judge.judge import Judge
from orchestrator.regression.model import JudgedPair, Moved, Regression, SideRecord
from orchestrator.regression.pairing import Pair, Pairing
from orchestrator.regression.rules import Rules
from orchestrator.regression.trials.files import Trial, write_regression
from orchestrator.results.growing import GrowingRun, growing_run, with_repeats
from orchestrator.results.records import EnvironmentRecord
from orchestrator.results.store import Run
from orchestrator.running import Policy, Surroundings, execute
from orchestrator.user_files import stand_in_warnings


def first_plan(plan: Plan, rules: Rules) -> Plan:
    """Return the plan of the first look."""
    return with_repeats(plan, dict.fromkeys((cell.id for cell in plan.cells), rules.looks[0]), at_least=False)


def trial_of(pairing: Pairing, rules: Rules) -> Trial:
    """Return the trial of a pairing."""
    return Trial(pairing.baseline, pairing.candidate, pairing.pairs, rules, pairing.gone, pairing.new)


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
    conduct = _Conduct(trial, around, policy, Judge(trial.rules, faults=tuple(faults)), run)
    conduct.look()
    if trial.rules.confirm:
        conduct.confirm()
    regression = summary(run, trial, conduct.findings, complete=not around.stop.is_set())
    write_regression(around.run, regression)
    return MeasuredTrial(around.run, trial, run.plan, regression)


@dataclass
class _Conduct:
    """A trial in progress."""

    trial: Trial
    around: Surroundings
    policy: Policy
    judge: Judge
    run: GrowingRun
    findings: dict[str, PairFindings] = field(default_factory=dict)
    """By id of the pair."""

    def look(self) -> None:
        """Measure up to each look in turn. Decided pairs are measured no further."""
        undecided = list(self.trial.pairs)
        for number, blocks in enumerate(self.trial.rules.looks):
            cells = self._measure(dict.fromkeys((pair.id for pair in undecided), blocks))
            read = partial(
                one_run,
                self.around.run,
                blocks=range(blocks),
                environments=self.around.run.environments(),
                asks_parity=self.run.plan.parity,
            )
            levels = self.trial.rules.levels(number, len(self.trial.pairs))
            for pair in undecided:
                baseline, candidate = read(cells[pair.baseline]), read(cells[pair.candidate])
                self.findings[pair.id] = self.judge.look(baseline, candidate, levels, self.findings.get(pair.id))
            if self.around.stop.is_set():
                return
            undecided = [pair for pair in undecided if not self.findings[pair.id].is_decided]
            if not undecided:
                return

    def confirm(self) -> None:
        """Measure slower pairs again, on as many fresh blocks."""
        doubtful = {pair.id: 2 * self.findings[pair.id].blocks for pair in self.trial.pairs if self._is_alarming(pair)}
        cells = self._measure(doubtful) if doubtful and not self.around.stop.is_set() else {}
        if self.around.stop.is_set():
            # Nobody is alarmed by what was to be confirmed and was not.
            self.findings |= {pair_id: self.findings[pair_id].unconfirmed() for pair_id in doubtful}
            return
        for pair in self.trial.pairs:
            if pair.id in doubtful:
                before = self.findings[pair.id]
                read = partial(cell_evidence, self.around.run, blocks=range(before.blocks, doubtful[pair.id]))
                baseline, candidate = read(cells[pair.baseline]), read(cells[pair.candidate])
                self.findings[pair.id] = confirm(self.trial.rules, baseline, candidate, before, len(doubtful))

    def _is_alarming(self, pair: Pair) -> bool:
        return pair.id in self.findings and any(map(needs_confirmation, self.findings[pair.id].metrics.values()))

    def _measure(self, blocks: Mapping[str, int]) -> dict[str, Cell]:
        """Measure pairs up to so many blocks by id. The recorded plan grows first, and never shrinks."""
        repeats = {
            cell_id: blocks[pair.id]
            for pair in self.trial.pairs
            if pair.id in blocks
            for cell_id in (pair.baseline, pair.candidate)
        }
        grown = self.run.grown(repeats)
        if grown != self.run.plan:
            self.around.require_room(grown)
            self.run.write_plan(grown)
        for _ in execute(self.run.plan, self.around, self.policy):
            pass
        return {cell.id: cell for cell in self.run.plan.cells}


def summary(run: GrowingRun, trial: Trial, findings: Mapping[str, PairFindings], *, complete: bool) -> Regression:
    """Return the result of a trial, with the findings of every pair and the cells without a counterpart."""
    record, plan = run.record, run.plan
    cells = {cell.id: cell for cell in plan.cells}
    stopped = PairFindings(0, Verdict.NOT_MEASURED, "it was stopped before")
    pairs = [
        (findings.get(pair.id) or stopped).judged_pair(pair.id, cells[pair.baseline], cells[pair.candidate])
        for pair in trial.pairs
    ]
    for verdict, unpaired in ((Verdict.GONE, trial.gone), (Verdict.NEW, trial.new)):
        pairs += [JudgedPair.of_one_side(verdict, each.id, each.cell_id, each.reason) for each in unpaired]
    return Regression(
        run=run.run.name,
        created_at=record.created_at,
        host=str(record.host.get("hostname") or ""),
        runtime=record.runtime,
        baseline=SideRecord(text=trial.baseline.text, label=trial.baseline.label, python=_python(findings, 0)),
        candidate=SideRecord(text=trial.candidate.text, label=trial.candidate.label, python=_python(findings, 1)),
        measurement_version=max((known.measurement_version for known in findings.values()), default=0),
        alpha=trial.rules.alpha,
        family=trial.rules.family(len(trial.pairs)),
        looks=trial.rules.looks,
        confirms=trial.rules.confirm,
        complete=complete,
        moved=_moved(run.run, plan, trial),
        warnings=(*plan.warnings, *stand_in_warnings(plan.data)),
        pairs=tuple(pairs),
    )


def _python(findings: Mapping[str, PairFindings], side: int) -> str:
    return " | ".join(dict.fromkeys(known.pythons[side] for known in findings.values() if known.pythons[side]))


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
