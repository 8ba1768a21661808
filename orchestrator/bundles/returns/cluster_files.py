"""A run on a cluster in a file of results, which carries it whole, with the runs of its parts in their places."""

from collections.abc import Iterator

from orchestrator.clusters.folder import ClusterRun, node_of
from orchestrator.clusters.record import plan_of
from orchestrator.domain import Plan
from orchestrator.results.names import PARTS
from orchestrator.results.records import RunRecord
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from orchestrator.wording import listing_of

_MOST_NAMED = 3


class WholeRun(Run):
    """A run on a cluster, as one run."""

    def record(self) -> RunRecord:
        """Return its record, which names its nodes as the host. Raises `InputError` if it cannot be read."""
        record = ClusterRun(self.folder).record()
        nodes = sorted({node_of(run) for run in node_runs_of(self)})
        return RunRecord(
            run=record.run, created_at=record.created_at, orchestrator_version=record.orchestrator_version,
            runtime=record.options.runtime, host={"hostname": listing_of(nodes, _MOST_NAMED)} if nodes else {},
            plan=record.plan, matrix={},
        )  # fmt: skip

    def plan(self) -> Plan:
        """Return the plan of all its parts. Raises as `record` does."""
        return plan_of(ClusterRun(self.folder).record())


def carried(run: Run) -> Run:
    """Return a run as it is carried, whichever kind it is of."""
    return WholeRun(run.folder) if ClusterRun(run.folder).is_there else run


def node_runs_of(run: Run) -> Iterator[Run]:
    """Yield the runs of all parts of a run on a cluster, none of an ordinary one."""
    for part in sorted((run.folder / PARTS).glob("*/")):
        yield from runs(part)
