"""The folder of a run on a cluster, with a folder for each part and in it one for each node that measured it.

Each of these is the folder of an ordinary run. No file is ever deleted, and no lock is trusted between nodes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.clusters.parts import Part
from orchestrator.clusters.record import (
    JOBS,
    PART,
    ClusterRecord,
    JobsRecord,
    PartRecord,
    plan_of,
    read_cluster,
    read_jobs,
    read_part,
)
from orchestrator.domain import Cell, Plan
from orchestrator.errors import InputError
from orchestrator.results.files.writing import flush, made_folder, write_atomically, write_unseen
from orchestrator.results.names import CLUSTER, PARTS, cluster_names
from orchestrator.results.results_folder import runs
from orchestrator.results.store import PartRun, Run
from orchestrator.running.order import order, unfinished

LOGS = "logs"
"""Folder of what the scheduler keeps of the output of jobs."""
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_AGAIN = "__"
"""Stands in the name of a folder before the number of a node's later machine, or before a job."""
_RESTART = "-"
"""Stands before the number of the start of a job that the scheduler has requeued."""


@dataclass(frozen=True, slots=True)
class ClusterRun:
    """The folder of one run on a cluster."""

    folder: Path

    @property
    def name(self) -> str:
        """Return the name of the folder, which identifies the run."""
        return self.folder.name

    @property
    def is_there(self) -> bool:
        """Return true if this is a run on a cluster, and no other folder."""
        return (self.folder / CLUSTER).exists()

    @property
    def resume_command(self) -> str:
        """Return the command that goes on with the run."""
        return f"orchestrator {self._command} --resume {self.name} --results {self.folder.parent}"

    @property
    def _command(self) -> str:
        record = self.record() if self.is_there else None
        if record is None or (record.site.kubernetes is None and not record.is_fleet_check):
            return "run"
        return "doctor --fleet" if record.is_fleet_check else "render k8s"

    def record(self) -> ClusterRecord:
        """Read `cluster.json`. Raises `InputError` if it is missing, broken or newer than this program."""
        return read_cluster(self.folder / CLUSTER)

    def jobs(self) -> JobsRecord:
        """Read `jobs.json`, empty before the first submission. Raises as `record` does."""
        return read_jobs(self.folder / JOBS)

    def write_jobs(self, jobs: JobsRecord) -> None:
        """Write `jobs.json` in place of the one before."""
        write_atomically(self.folder / JOBS, jobs.model_dump_json(by_alias=True, indent=1) + "\n")

    def part_folder(self, name: str) -> Path:
        """Return the folder of a part."""
        return self.folder / PARTS / name

    def part(self, name: str) -> PartRecord:
        """Read the `part.json` of a part. Raises as `record` does."""
        return read_part(self.part_folder(name) / PART)

    def create(
        self, record: ClusterRecord, parts: Iterable[tuple[Part, Plan]], of: Callable[[str, Plan], PartRecord]
    ) -> None:
        """Write the parts, and last the record, with which there is a run. `of` makes the record of a part.

        Raises `HostError` if they cannot be written.
        """
        made_folder(self.folder / LOGS)
        for part, plan in parts:
            text = of(part.name, plan).model_dump_json(by_alias=True, indent=1) + "\n"
            write_unseen(made_folder(self.part_folder(part.name)) / PART, text)
        flush(self.folder)  # once, in place of twice for each of thousands of files
        write_atomically(self.folder / CLUSTER, record.model_dump_json(by_alias=True, indent=1) + "\n")


def cluster_runs(results: Path) -> list[ClusterRun]:
    """Return every run on a cluster below a results folder, oldest first."""
    return [ClusterRun(results / name) for name in cluster_names(results)]


@dataclass(frozen=True, slots=True)
class NodeRun:
    """The run of a part on one node."""

    run: Run
    created_at: str
    is_complete: bool
    """Every repeat of the part has a final outcome here."""


def node_runs(part: Path, cells: Sequence[Cell], *, retry_failed: bool = False) -> list[NodeRun]:
    """Return the runs of a part, those that are complete first, and of these the latest first.

    Figures of two nodes never mix, so a part counts with one of them as a whole.
    """
    found = [_node_run(run, cells, retry_failed=retry_failed) for run in runs(part)]
    return sorted(found, key=lambda each: (each.is_complete, each.created_at, each.run.name), reverse=True)


def counted_runs(cluster: ClusterRun) -> Iterator[PartRun]:
    """Yield the runs whose figures count, part by part, whether they have ended or not.

    Raises `InputError` if a record of the run on a cluster cannot be read.
    """
    record = cluster.record()
    for part in record.parts:
        begun = runs(cluster.part_folder(part.name))
        if len(begun) > 1:  # a single run counts, whatever is in it
            cells = plan_of(cluster.part(part.name)).cells
            begun = [each.run for each in counted_of_part(cluster.part_folder(part.name), cells, record.site.replicate)]
        yield from (PartRun(run.folder) for run in begun)


def counted_of_part(part: Path, cells: Sequence[Cell], replicate: int) -> list[NodeRun]:
    """Return the runs of a part whose figures count, the best one of each node as `node_runs` orders them."""
    of_nodes: dict[str, NodeRun] = {}
    for each in node_runs(part, cells):
        of_nodes.setdefault(node_of(each.run), each)
    return list(of_nodes.values())[:replicate]


def _node_run(run: Run, cells: Sequence[Cell], *, retry_failed: bool) -> NodeRun:
    try:
        created_at = run.record().created_at
    except InputError:
        return NodeRun(run, "", is_complete=False)
    left = unfinished(order(cells, 0), run.outcome, retry_failed=retry_failed)
    return NodeRun(run, created_at, is_complete=not left)


def run_on(part: Path, node: str, is_elsewhere: Callable[[Run], bool]) -> tuple[Run, bool]:
    """Return the run of a part on a node, and whether it was begun before.

    A node of the name that is another machine now, as after a repair, begins a run of its own.
    """
    for name in _names(folder_name(node)):
        run = Run(part / name)
        if not run.has_begun:
            if run.folder.exists():
                continue  # killed before its record: nothing in it was measured
            return run, False
        if not is_elsewhere(run):
            return run, True
    raise AssertionError("names never end")


def folder_name(node: str) -> str:
    """Return the name of a node as that of a folder."""
    return _UNFIT.sub("-", node).strip("-.") or "node"


def node_of(run: Run) -> str:
    """Return the name of the node that a run of a part is of."""
    return run.folder.name.partition(_AGAIN)[0]


def run_of_job(folder: str, job: str, restarts: int = 0) -> str:
    """Return the name of the run of a job on the node with that folder, where each start of a job begins one."""
    return f"{folder}{_AGAIN}{job}{f'{_RESTART}{restarts}' if restarts else ''}"


def nodes_of_job(part: Path, job: str) -> int:
    """Return the number of nodes from which a run of a job was brought into a part, of whichever start of it."""
    names = (run.name.partition(_AGAIN) for run in runs(part))
    return len({node for node, _, name in names if name.partition(_RESTART)[0] == job})


def _names(base: str) -> Iterator[str]:
    yield base
    number = 2
    while True:
        yield f"{base}{_AGAIN}{number}"
        number += 1


@dataclass(frozen=True, slots=True)
class PartState:
    """A part with what is still to be measured of it."""

    part: Part
    complete: tuple[str, ...]
    """Names of the nodes that have measured all of it, the latest first."""
    missing: int
    """Nodes that still have to."""
    failed: tuple[str, ...] = ()
    """Names of the nodes that have measured all of it but for failures that are to be tried again."""
    begun: tuple[str, ...] = ()
    """Names of the nodes that have begun it and are to go on, the latest first."""


def part_states(run: ClusterRun, record: ClusterRecord, *, retry_failed: bool = False) -> Iterator[PartState]:
    """Yield the state of every part, by its files alone."""
    for part in record.parts:
        folder = run.part_folder(part.name)
        cells = plan_of(run.part(part.name)).cells if any(folder.glob("*/run.json")) else ()
        every = node_runs(folder, cells, retry_failed=retry_failed) if cells else []
        complete = complete_on(every)
        missing = max(0, record.site.replicate - len(complete))
        failed = _ended_on(folder, cells, complete)[:missing] if retry_failed and missing else ()
        begun = dict.fromkeys(node_of(each.run) for each in every if each.created_at)
        left = tuple(node for node in begun if node not in complete)[:missing]
        yield PartState(part, complete, missing, failed, left)


def _ended_on(part: Path, cells: Sequence[Cell], besides: Sequence[str]) -> tuple[str, ...]:
    """Return the nodes that have a final outcome of every repeat, failures too, the latest first."""
    ended = complete_on(node_runs(part, cells)) if cells else ()
    return tuple(node for node in ended if node not in besides)


def complete_on(every: Iterable[NodeRun]) -> tuple[str, ...]:
    """Return the nodes of complete runs, each once, since a node by itself has a run for each of its jobs."""
    return tuple(dict.fromkeys(node_of(each.run) for each in every if each.is_complete))
