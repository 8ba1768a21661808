"""A run whose plan grows while it is measured, as each look asks for more repeats of some cells."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from orchestrator.domain import Plan
from orchestrator.results.records import RunRecord, plan_from_json, plan_to_json
from orchestrator.results.store import Run


@dataclass
class GrowingRun:
    """A run with its record and plan, which are read from its files once."""

    run: Run
    record: RunRecord
    plan: Plan

    def grown(self, repeats: Mapping[str, int]) -> Plan:
        """Return the plan with at least so many repeats of some cells, by id."""
        return with_repeats(self.plan, repeats)

    def write_plan(self, plan: Plan) -> None:
        """Record a plan that has grown."""
        self.plan = plan
        self.record = self.record.model_copy(update={"plan": plan_to_json(plan)})
        self.run.write_record(self.record)


def growing_run(run: Run) -> GrowingRun:
    """Read the record of a run. Raises `InputError` where it cannot be read."""
    record = run.record()
    return GrowingRun(run, record, plan_from_json(record.plan))


def with_repeats(plan: Plan, repeats: Mapping[str, int], *, at_least: bool = True) -> Plan:
    """Return a plan with so many repeats of some cells, by id. Repeats are only taken away unless `at_least`."""
    return replace(
        plan,
        cells=tuple(
            replace(cell, repeats=max(repeats[cell.id], cell.repeats if at_least else 1))
            if cell.id in repeats
            else cell
            for cell in plan.cells
        ),
    )
