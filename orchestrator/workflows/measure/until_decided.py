"""A run until decided: blocks up to a look, what the look decides, and more blocks of the cells that it leaves open.

The plan in the record of the run grows, as that of a regression test does, so that every planned repeat ends as one
outcome. A run that goes on continues at the same place: its looks are made again from the repeats.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.gpus.in_turn import Timed
from orchestrator.analysis.parity.work import WorkParity
from orchestrator.analysis.rankings import RankingLooks, Standing, looks_up_to, standing
from orchestrator.domain import Cell, Plan
from orchestrator.errors import InputError
from orchestrator.events import Notice
from orchestrator.reporting.findings.certainty.looks import launch_s, ranking_looks
from orchestrator.reporting.findings.compose import parity
from orchestrator.reporting.findings.groups import MOST_IN_MATRIX
from orchestrator.reporting.findings.parity import Parity
from orchestrator.results.decisions import DecidedPair, Decisions, Ended, LookRecord, write_decisions
from orchestrator.results.evidence import read_repeats
from orchestrator.results.growing import GrowingRun, with_repeats
from orchestrator.results.throughput import throughput
from orchestrator.running import Policy, Surroundings, execute
from orchestrator.wording import counted

LEAST_BLOCKS = 2
"""One block says nothing of scatter."""
Groups = Sequence[Sequence[Cell]]
"""The cells of each group that is compared."""


def first_plan(plan: Plan, groups: Groups, decisions: Decisions) -> Plan:
    """Return the plan of the first blocks. Cells that are compared with none keep their repeats.

    Raises `InputError` if nothing can be decided, or a group is too large to compare every pair.
    """
    if not groups:
        raise InputError("--until-decided: no two cells of this plan are compared; leave it out")
    largest = max(groups, key=len)
    if len(largest) > MOST_IN_MATRIX:
        raise InputError(
            f"--until-decided compares every pair, of at most {MOST_IN_MATRIX} cells: {largest[0].workload.label} on "
            f"{largest[0].system.name} has {len(largest)}; name fewer with --select"
        )
    # With a budget, the first block shows how long the others take.
    blocks = looks_up_to(decisions.most_blocks)[0] if decisions.budget_s is None else 1
    return with_repeats(plan, {cell.id: blocks for members in groups for cell in members}, at_least=False)


@dataclass
class RunUntilDecided:
    """A run until decided, while it is measured."""

    around: Surroundings
    policy: Policy
    run: GrowingRun
    groups: Groups
    decisions: Decisions
    now_s: Callable[[], float]
    """A clock that only goes on, in seconds."""
    _began_s: float = field(init=False)

    def __post_init__(self) -> None:
        """Go on with the time that the run has taken so far."""
        self._began_s = self.now_s() - self.decisions.spent_s

    def carry_out(self) -> None:
        """Measure until nothing is open, no look is left, or another block would pass the budget.

        Where `stop` is set, the run has no end yet. Raises `HostError` as `execute` does.
        """
        self._record(ended=None)
        while self._measure():
            if self._is_due():
                self._look()
            ended = self._end()
            if ended:
                self._record(ended=ended)
                return
            more = self._affordable()
            upto = min(self._next_look(), self._blocks() + more)
            self.run.write_plan(self.run.grown(dict.fromkeys(self._open(), upto)))

    def _measure(self) -> bool:
        """Measure what the plan holds. Return false if it was stopped, or if a failure is to end the run."""
        expected = {cell.id: cell.expect for cell in self.run.plan.cells}
        has_failed = False
        for outcome in execute(self.run.plan, self.around, self.policy):
            self._record(spent_s=self.now_s() - self._began_s)
            has_failed |= outcome.status.is_failure and outcome.status is not expected[outcome.cell_id]
        self.policy = replace(self.policy, retry_failed=False)  # or each look would try them again
        return not (self.around.stop.is_set() or (self.policy.fail_fast and has_failed))

    def _open(self) -> frozenset[str]:
        """Return the cells that go on."""
        if self.decisions.looks:
            return frozenset(self.decisions.looks[-1].open)
        return frozenset(cell.id for members in self.groups for cell in members)

    def _blocks(self) -> int:
        """Return the blocks that the cells which go on have."""
        return max((cell.repeats for cell in self.run.plan.cells if cell.id in self._open()), default=0)

    def _next_look(self) -> int:
        """Return the blocks of the next of the usual looks, or of the last one."""
        taken = self.decisions.taken[-1] if self.decisions.looks else 0
        return next((each for each in looks_up_to(self.decisions.most_blocks) if each > taken), taken)

    def _is_due(self) -> bool:
        """Return true if it is time for a look: at the usual one, or before a budget ends the run."""
        taken = self.decisions.taken[-1] if self.decisions.looks else LEAST_BLOCKS - 1
        blocks = self._blocks()
        return blocks > taken and (blocks >= self._next_look() or self._affordable() == 0)

    def _end(self) -> Ended | None:
        if not self._open():
            return "decided"
        if self._blocks() >= self.decisions.most_blocks:
            return "most_blocks"
        return None if self._affordable() else "budget"

    def _affordable(self) -> int:
        """Return how many further blocks the budget has time for, by the launches of the cells that go on."""
        if self.decisions.budget_s is None:
            return self.decisions.most_blocks
        block_s = sum(self._launch_s(cell) for cell in self.run.plan.cells if cell.id in self._open())
        left_s = self.decisions.budget_s - self.decisions.spent_s
        return max(0, math.floor(left_s / block_s)) if block_s else self.decisions.most_blocks

    def _launch_s(self, cell: Cell) -> float:
        launches = [launch_s(each) for each in self.around.run.outcomes((cell,)) if each.attempts]
        return fmean(launches) if launches else 0.0

    def _look(self) -> None:
        """Compare what is measured, and record what that decides."""
        blocks, taken = self._blocks(), ranking_looks(self.decisions)
        now = replace(taken, taken=(*taken.taken, blocks))
        known = parity(self.around.run, self.run.plan) if self.run.plan.parity else None
        states = [self._standing(members, now, known) for members in self.groups]
        look = LookRecord(
            blocks=blocks,
            spent_s=self.decisions.spent_s,
            decided=tuple(pair for state in states for pair in _decided(state, blocks)),
            open=tuple(sorted(frozenset().union(*(state.open for state in states)))),
        )
        self._record(looks=(*self.decisions.looks, look))
        self._tell(look)

    def _standing(self, members: Sequence[Cell], now: RankingLooks, known: Parity | None) -> Standing:
        """Compare the cells of a group, except those that the parity of the run is known to tell apart."""
        cells = {cell.id: cell for cell in members}

        def are_apart(one: str, other: str) -> bool:
            return known is not None and known.judge(cells[one], cells[other]).work is WorkParity.NOT_COMPARABLE

        return standing({cell.id: list(self._timed(cell)) for cell in members}, now, are_apart)

    def _timed(self, cell: Cell) -> Iterator[Timed]:
        planned = next(each for each in self.run.plan.cells if each.id == cell.id)
        for stored in read_repeats(self.around.run, cell.id, range(planned.repeats)):
            if stored.result is not None:
                rate = throughput(stored.result, epochs=cell.duration.epochs is not None)
                yield Timed(stored.outcome.repeat, stored.outcome.ran_on, rate)

    def _tell(self, look: LookRecord) -> None:
        cells = sum(map(len, self.groups))
        self.around.listener(
            Notice(
                f"look after {look.blocks} blocks: {counted(len(look.decided), 'further comparison')} decided, "
                f"{len(look.open)} of {cells} cells go on"
            )
        )

    def _record(self, **changes: object) -> None:
        self.decisions = self.decisions.model_copy(update=changes)
        write_decisions(self.around.run, self.decisions)


def _decided(state: Standing, blocks: int) -> Iterator[DecidedPair]:
    """Yield the comparisons that a look decided, and no look before it."""
    for (one, other), over in state.ratios.items():
        if over.blocks == blocks and over.verdict is not Verdict.INCONCLUSIVE:
            yield DecidedPair.model_validate({
                "one": one, "other": other, "verdict": over.verdict.value, "ratio": over.value, "low": over.low,
                "high": over.high, "confidence": over.confidence,
            })  # fmt: skip
