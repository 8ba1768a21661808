"""The table of runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orchestrator.clusters.folder import node_of
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.results.decisions import Decisions, stored_decisions
from orchestrator.results.records import RunRecord
from orchestrator.tables.columns import ColumnKind, TableColumn, TableSchema
from orchestrator.tables.rows.keys import RUN
from orchestrator.tables.stored import OpenedRun, counts

_TEXT, _INTEGER, _TRUTH = ColumnKind.TEXT, ColumnKind.INTEGER, ColumnKind.TRUTH
_JSON, _MOMENT = ColumnKind.JSON, ColumnKind.MOMENT


@dataclass(frozen=True, slots=True)
class RunSource:
    """A run with its records."""

    run: str
    whole: str
    node: str | None
    counts: bool | None
    record: RunRecord | None
    plan: Plan | None
    decisions: Decisions | None
    problem: str | None

    def fact(self, name: str, kind: type) -> Any:
        """Return a fact of the host if it is of this kind, or None."""
        value = self.record.host.get(name) if self.record else None
        return value if isinstance(value, kind) and not isinstance(value, bool) else None


def _fact(name: str, kind: type) -> Any:
    return lambda source: source.fact(name, kind)


def _planned(source: RunSource) -> int | None:
    return sum(cell.repeats for cell in source.plan.cells) if source.plan else None


def _count(name: str) -> Any:
    return lambda source: len(getattr(source.plan, name)) if source.plan else None


def _gpus(source: RunSource) -> str | None:
    gpus = source.fact("gpus", list)
    if gpus is None:
        return None
    return ", ".join(str(gpu.get("name", "")) for gpu in gpus if isinstance(gpu, dict))


RUNS = TableSchema(
    "runs",
    "A row for each run. The parts of a run on a cluster are runs of their own.",
    (
        RUN,
        TableColumn(
            "whole", _TEXT, "Name of the whole run: of a part that of the run on the cluster, else as `run`.", "whole"
        ),
        TableColumn("node", _TEXT, "Node that has measured a part; null for other runs.", "node"),
        TableColumn(
            "counts",
            _TRUTH,
            "False for the run of a part that another run of the same part replaces; null if that is not known.",
            "counts",
        ),
        TableColumn("created_at", _MOMENT, "Moment at which the run began.", "record.created_at"),
        TableColumn("matrix", _TEXT, "Name of the matrix.", "plan.name"),
        TableColumn("runtime", _TEXT, "`docker`, `venv` or `host`.", "record.runtime"),
        TableColumn(
            "profile",
            _TEXT,
            "Profile such as `quick`, whose figures prove nothing; null without one.",
            "plan.profile.name",
        ),
        TableColumn(
            "study", _TEXT, "Name of the published study that it repeats; null without one.", "plan.study.name"
        ),
        TableColumn("seed", _INTEGER, "Seed of data, weights and order.", "plan.seed"),
        TableColumn("parity", _TRUTH, "True if the run checks that cells do the same work.", "plan.parity"),
        TableColumn("cells", _INTEGER, "Planned cells.", _count("cells"), "cells"),
        TableColumn("planned_repeats", _INTEGER, "Planned repeats of all cells.", _planned, "repeats"),
        TableColumn("skips", _INTEGER, "Cells that the plan leaves out.", _count("skips"), "cells"),
        TableColumn(
            "orchestrator_version", _TEXT, "Version of the program that began the run.", "record.orchestrator_version"
        ),
        TableColumn("schema", _INTEGER, "Schema of its record.", "record.schema_"),
        TableColumn("host_name", _TEXT, "Name of the host.", _fact("hostname", str)),
        TableColumn("host_cpu", _TEXT, "CPU of the host, as the kernel names it.", _fact("cpu", str)),
        TableColumn("host_cpus", _INTEGER, "Logical CPUs that the run might use.", _fact("cpus", int), "CPUs"),
        TableColumn("host_cores", _INTEGER, "Physical cores of these.", _fact("cores", int), "cores"),
        TableColumn("host_memory_bytes", _INTEGER, "Memory of the host.", _fact("memory_bytes", int)),
        TableColumn("host_gpus", _TEXT, "Names of its GPUs, separated by commas; empty without any.", _gpus),
        TableColumn("host_driver", _TEXT, "Version of the GPU driver.", _fact("driver", str)),
        TableColumn("host_kernel", _TEXT, "Version of the kernel.", _fact("kernel", str)),
        TableColumn("host_engine", _TEXT, "Version of the container engine.", _fact("engine", str)),
        TableColumn("host", _JSON, "All that the record says of the host.", "record.host"),
        TableColumn(
            "bundle", _JSON, "Bundle that the plan came in; null if it was made on this host.", "record.bundle"
        ),
        TableColumn("images", _JSON, "Origin of the images.", "record.images"),
        TableColumn(
            "part_of", _TEXT, "Part of a run on a cluster that the run comes back to in a file.", "record.part_of"
        ),
        TableColumn("proved_with", _JSON, "Measurement by which cells ran side by side on GPUs.", "record.proved_with"),
        TableColumn(
            "decisions", _JSON, "Looks and decisions of a run until decided; null for any other run.", "decisions"
        ),
        TableColumn(
            "problem", _TEXT, "Reason that its record or its decisions cannot be read; null if they can.", "problem"
        ),
    ),
)


def run_source(stored: OpenedRun) -> RunSource:
    """Read the records of a run."""
    problem, decisions = stored.problem, None
    try:
        decisions = stored_decisions(stored.run)
    except (InputError, OSError) as error:
        problem = problem or str(error)
    return RunSource(
        run=stored.name,
        whole=stored.run.whole,
        node=node_of(stored.run) if stored.is_part else None,
        counts=counts(stored),
        record=stored.record,
        plan=stored.plan,
        decisions=decisions,
        problem=problem or None,
    )


def run_sources(stored: OpenedRun) -> Iterator[RunSource]:
    """Yield the source of the one row of a run."""
    yield run_source(stored)
