"""Runs on a cluster, found by name among all runs of a results folder, and their reports."""

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.bundles.returns.results_manifest import MERGED
from orchestrator.clusters.folder import ClusterRun, NodeRun, cluster_runs, counted_of_part, counted_runs, node_of
from orchestrator.clusters.record import ClusterRecord, JobsRecord, PartRecord, plan_of
from orchestrator.domain import Status
from orchestrator.errors import InputError
from orchestrator.reporting.findings.compose import compose, log_tail
from orchestrator.reporting.findings.compose import report as read_report
from orchestrator.reporting.findings.joined import PartReport, Whole, across, joined
from orchestrator.reporting.findings.model import Replicate, Report
from orchestrator.reporting.findings.over_nodes import over_nodes
from orchestrator.results.listing.index import RunSummary
from orchestrator.results.names import matching
from orchestrator.results.records import RunRecord
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from orchestrator.wording import counted
from orchestrator.workflows.inputs.stored_runs import find_run, find_runs


def find_cluster_run(results: Path, name: str) -> ClusterRun | None:
    """Return the run on a cluster that a name means, or None if it means an ordinary run, or none at all.

    It may be the beginning of a name, or `latest`. Raises `InputError` if it means runs of both kinds.
    """
    clusters = {run.name: run for run in cluster_runs(results)}
    if not clusters:
        return None
    named = matching(sorted([*clusters, *(run.name for run in runs(results))]), name)
    of_clusters = [each for each in named if each in clusters]
    if of_clusters and len(named) > 1:
        raise InputError(f"{results}: {len(named)} runs begin with {name!r}; there are {', '.join(named[-5:])}")
    return clusters[of_clusters[0]] if of_clusters else None


def required_cluster_run(results: Path, name: str) -> ClusterRun:
    """Return the run on a cluster that a name means, as in `find_cluster_run`.

    Raises `InputError` if it means none, or several runs.
    """
    cluster = find_cluster_run(results, name)
    if cluster is None:
        raise InputError(f"{results}: no run on a cluster {name!r}; `orchestrator runs` lists all runs")
    return cluster


def find_reported(results: Path, names: Sequence[str], *, every: bool) -> list[Run]:
    """Return the folders of runs of either kind by their names, each once, or of all there are.

    Raises `InputError` if a name means no run, or several.
    """
    if every and names:
        raise InputError("--all means every run: leave out the names, or --all")
    if every and (clusters := cluster_runs(results)):
        both = (*(run.folder for run in clusters), *(run.folder for run in runs(results)))
        return [Run(folder) for folder in sorted(both)]
    if every:
        return find_runs(results, names, every=True)
    found = []
    for name in names or ("",):
        cluster = find_cluster_run(results, name)
        found.append(Run(cluster.folder) if cluster else find_run(results, name))
    return list({run.name: run for run in found}.values())


def report_of(run: Run) -> Report:
    """Report on a run of either kind. Raises `InputError` if its records cannot be read."""
    cluster = ClusterRun(run.folder)
    return cluster_report(cluster) if cluster.is_there else read_report(run)


def refuse_merged(cluster: ClusterRun) -> None:
    """Raise `InputError` for a run that came here in a file, whose jobs are known elsewhere."""
    if (cluster.folder / MERGED).exists():
        raise InputError(f"{cluster.name} was merged from another host: go on there")


def refuse_fleet_check(cluster: ClusterRun) -> ClusterRecord:
    """Return the record of a run. Raises `InputError` if it is a fleet check, whose parts have the same cells."""
    record = cluster.record()
    if record.is_fleet_check:
        raise InputError(f"{cluster.folder} is a fleet check, and no run of a matrix: use {cluster.resume_command}")
    return record


def cluster_report(cluster: ClusterRun) -> Report:
    """Report on a run on a cluster, from the reports of its parts.

    Where several nodes measure each part, the others' figures are in further reports of the same cells.
    Raises `InputError` if a record cannot be read.
    """
    record, jobs = refuse_fleet_check(cluster), cluster.jobs()
    whole = Whole(
        record.run, record.created_at, record.orchestrator_version, plan_of(record), record.site.replicate,
        lambda outcome: log_tail(Run(cluster.folder), outcome),
    )  # fmt: skip
    nodes = [_part_reports(cluster, cluster.part(part.name), record, jobs) for part in record.parts]
    first, *others = (joined(whole, [each[number] for each in nodes]) for number in range(record.site.replicate))
    if not others or first.cluster is None:
        return first
    everywhere, notes = across(whole, [part for each in nodes for part in each])
    over = over_nodes([first, *others])
    over_all = replace(first.cluster, nodes=everywhere, notes=notes, groups=over)
    return replace(first, cluster=over_all, further=tuple(map(_replicate, others)))


def _replicate(report: Report) -> Replicate:
    parts = report.cluster.parts if report.cluster else ()
    return Replicate(report.groups, report.cells, report.statuses, report.problems, parts)


def _part_reports(cluster: ClusterRun, part: PartRecord, record: ClusterRecord, jobs: JobsRecord) -> list[PartReport]:
    """Return the reports of a part, one for each node that is to measure it, whether it has or not."""
    plan, folder = plan_of(part), cluster.part_folder(part.part)
    end = record.unmeasured_reason(part.part, jobs)
    counted_here = counted_of_part(folder, plan.cells, record.site.replicate)
    reports = [_on_node(cluster, part.part, each, end) for each in counted_here if each.created_at]
    missing = record.site.replicate - len(reports)
    if not missing:
        return reports
    unmeasured = RunRecord(
        run=record.run, created_at=record.created_at, orchestrator_version=record.orchestrator_version,
        runtime=record.options.runtime, host={}, plan={}, matrix={},
    )  # fmt: skip
    return [*reports, *([PartReport(part.part, "", "", compose(unmeasured, plan, ()), end)] * missing)]


def _on_node(cluster: ClusterRun, part: str, node: NodeRun, end: str) -> PartReport:
    folder = node.run.folder.relative_to(cluster.folder).as_posix()
    return PartReport(part, node_of(node.run), folder, read_report(node.run), "" if node.is_complete else end)


@dataclass(frozen=True, slots=True)
class ListedCluster:
    """A run on a cluster in a list of runs."""

    summary: RunSummary
    cells: tuple[str, ...]
    """The ids of its planned cells; none if its record cannot be read."""


def listed_clusters(results: Path) -> list[ListedCluster]:
    """Return every run on a cluster for a list of runs, by the files of its parts."""
    return [_listed(cluster) for cluster in cluster_runs(results)]


def _listed(cluster: ClusterRun) -> ListedCluster:
    try:
        record = cluster.record()
        plan = plan_of(record)
        ends, nodes = _ends(cluster)
    except InputError as error:
        nothing = RunSummary(cluster.name, "", "", "", "", 0, 0, 0, (), None, str(error))
        return ListedCluster(nothing, ())
    summary = RunSummary(
        name=cluster.name,
        created_at=record.created_at,
        matrix=plan.name,
        runtime=record.options.runtime,
        host=nodes[0] if len(nodes) == 1 else counted(len(nodes), "node"),
        cells=len(plan.cells),
        planned=record.site.replicate * sum(part.repeats for part in record.parts),
        skips=len(plan.skips),
        counts=tuple((status, ends[status]) for status in Status if ends[status]),
        wall_s=None,
    )
    return ListedCluster(summary, tuple(cell.id for cell in plan.cells))


def every_measured(results: Path) -> list[Run]:
    """Return every run of a results folder, oldest first, with those whose figures count of runs on a cluster.

    A run on a cluster whose records cannot be read tells nothing.
    """
    found: list[Run] = [*runs(results)]
    for cluster in cluster_runs(results):
        with contextlib.suppress(InputError):
            found += counted_runs(cluster)
    return sorted(found, key=lambda run: run.name)


def _ends(cluster: ClusterRun) -> tuple[Counter[Status], list[str]]:
    """Return how the repeats that count have ended, and the nodes that they ran on."""
    ends: Counter[Status] = Counter()
    nodes: set[str] = set()
    for run in counted_runs(cluster):
        nodes.add(node_of(run))
        with contextlib.suppress(InputError):  # a node that wrote a broken record hides no other
            ends.update(outcome.status for outcome in run.outcomes(run.plan().cells))
    return ends, sorted(nodes)


def find_measured(results: Path, name: str, hint: str = "") -> list[Run]:
    """Return the run that a name means, or those whose figures count of a run on a cluster.

    It may be the beginning of a name, or `latest`. Raises `InputError` if it means no run, or several.
    """
    cluster = find_cluster_run(results, name)
    if cluster is None:
        return [find_run(results, name, hint)]
    measured: list[Run] = [*counted_runs(cluster)]
    if not measured:
        raise InputError(f"{cluster.folder}: no node has measured anything yet; go on with: {cluster.resume_command}")
    return measured
