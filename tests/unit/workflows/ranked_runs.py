"""Runs until decided on a runtime in memory, whose cells are as fast as a test wants them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from orchestrator.catalog import idle_builders
from orchestrator.domain import Plan
from orchestrator.reporting.findings.certainty.looks import compared_groups
from orchestrator.reporting.findings.compose import report
from orchestrator.reporting.findings.model import Report
from orchestrator.results.decisions import Decisions, stored_decisions, write_decisions
from orchestrator.results.growing import growing_run
from orchestrator.results.records import RunRecord, plan_to_json
from orchestrator.results.store import Run
from orchestrator.running import Policy
from orchestrator.workflows.measure.until_decided import RunUntilDecided, first_plan
from tests.unit.regression.trials.bench_trials import Bench, steady
from tests.unit.running.running_fakes import a_cell, a_plan, surroundings


def asked(most_blocks: int = 64, budget_s: float | None = None) -> Decisions:
    return Decisions(most_blocks=most_blocks, budget_s=budget_s, alpha=0.05, tolerance=0.02)


@dataclass
class Clock:
    """A clock that goes on by what was launched: a second for each container."""

    bench: Bench
    extra_s: float = 0.0

    def __call__(self) -> float:
        return len(self.bench.measured) + self.extra_s


@dataclass
class RankedRun:
    """A run until decided in a folder."""

    folder: Path
    names: Sequence[str]
    bench: Bench = field(default_factory=Bench)

    @property
    def run(self) -> Run:
        return Run(self.folder)

    def begin(self, decisions: Decisions, *others: str) -> None:
        """Write what the run must hold before it is measured; `others` are cells of another group each."""
        plan = a_plan(*(replace(a_cell(name), repeats=3) for name in (*self.names, *others)))
        apart = tuple(
            replace(cell, workload=replace(cell.workload, batch_size=20 + number))
            if cell.id.rpartition("/")[2] in others
            else cell
            for number, cell in enumerate(plan.cells)
        )
        plan = replace(plan, cells=apart)
        first = first_plan(plan, compared_groups(plan, idle_builders()), decisions)
        self.folder.mkdir(parents=True)
        write_decisions(self.run, decisions)
        self.run.write_record(
            RunRecord(
                run=self.run.name, created_at="2026-11-21T15:30:00+00:00", orchestrator_version="0", runtime="fake",
                host={"hostname": "here"}, plan=plan_to_json(first), matrix={},
            )
        )  # fmt: skip

    def go_on(self, budget_s: float | None = None, policy: Policy | None = None) -> Decisions:
        """Measure what is left, and return the record."""
        around, _ = surroundings(self.folder, self.bench, self.bench.stop)
        growing, decisions = growing_run(self.run), self.decisions
        if budget_s is not None:
            decisions = decisions.model_copy(update={"budget_s": budget_s})
        groups = compared_groups(growing.plan, idle_builders())
        clock = Clock(self.bench)
        RunUntilDecided(around, policy or Policy(seed=3), growing, groups, decisions, clock).carry_out()
        return self.decisions

    @property
    def decisions(self) -> Decisions:
        decisions = stored_decisions(self.run)
        assert decisions is not None
        return decisions

    @property
    def plan(self) -> Plan:
        return self.run.plan()

    @property
    def report(self) -> Report:
        return report(self.run)

    def repeats(self) -> dict[str, int]:
        """The planned repeats of each cell, by its name."""
        return {cell.id.rpartition("/")[2]: cell.repeats for cell in self.plan.cells}


__all__ = ["Clock", "RankedRun", "asked", "steady"]
