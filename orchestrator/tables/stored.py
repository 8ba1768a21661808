"""A stored run, opened for the rows of its tables, and the runs of a results folder."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from orchestrator.clusters.folder import ClusterRun, counted_runs
from orchestrator.domain import Cell, Outcome, Plan
from orchestrator.errors import InputError
from orchestrator.results.listing.stamps import stamped_outcomes, stamped_runs
from orchestrator.results.records import EnvironmentsRecord, RunRecord
from orchestrator.results.store import PartRun, Run
from orchestrator.tables.columns import fitting


@dataclass(frozen=True)
class OpenedRun:
    """A run of a results folder. A file that cannot be read is part of the result."""

    results: Path
    name: str
    """Its place in the results folder, which for a part is such as `20261121T153000Z-1f3a/parts/003/node7`."""

    @cached_property
    def run(self) -> Run:
        """Return the folder of the run."""
        return PartRun(self.results / self.name) if self.is_part else Run(self.results / self.name)

    @property
    def label(self) -> str:
        """Return its name as tables hold it, which differs for a folder whose name is not UTF-8."""
        return str(fitting(self.name))

    @property
    def is_part(self) -> bool:
        """Return true for the run of a part of a run on a cluster."""
        return "/" in self.name

    @property
    def record(self) -> RunRecord | None:
        """Return its record, or None if it cannot be read."""
        return None if self.problem else self.run.record()

    @property
    def plan(self) -> Plan | None:
        """Return its plan, or None if it cannot be read."""
        return None if self.problem else self.run.plan()

    @cached_property
    def problem(self) -> str:
        """Return the reason that its record cannot be read, or an empty text."""
        try:
            self.run.record()
            self.run.plan()
        except InputError as error:
            return error.messages[0]
        return ""

    @cached_property
    def environments(self) -> EnvironmentsRecord:
        """Return its environments, none if their file cannot be read."""
        try:
            return self.run.environments()
        except InputError:
            return EnvironmentsRecord()

    @cached_property
    def cells(self) -> Mapping[str, Cell]:
        """Return the planned cells by id, none if the plan cannot be read."""
        return {cell.id: cell for cell in self.plan.cells} if self.plan else {}

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the outcome of every planned repeat that has one, or of all if the plan cannot be read."""
        if self.plan is not None:
            yield from self.run.outcomes(self.plan.cells)
            return
        for cell_id, repeat, _ in sorted(stamped_outcomes(self.run.folder)):
            outcome = self.run.outcome(cell_id, repeat)
            if outcome is not None:
                yield outcome


def stored_runs(results: Path) -> list[OpenedRun]:
    """Return every run of a results folder, those of parts of runs on clusters too, by name."""
    return [OpenedRun(results, name) for name in sorted(name for name, _ in stamped_runs(results))]


def counts(stored: OpenedRun) -> bool | None:
    """Return false for the run of a part in whose place another one counts, or None if that cannot be told."""
    if not stored.is_part:
        return True
    try:
        return stored.name in {run.name for run in counted_runs(ClusterRun(stored.results / stored.run.whole))}
    except InputError:
        return None
