"""A fleet check, from its nodes to its report. Every round is an ordinary run on each node."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.analysis.fleet import FEWEST_ROUNDS
from orchestrator.clusters.folder import ClusterRun, folder_name
from orchestrator.clusters.parts import Part, groups_of, needs_of
from orchestrator.clusters.record import ClusterRecord
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.wording import listing_of
from orchestrator.workflows.cluster.follow import Pause
from orchestrator.workflows.cluster.freeze import FrozenParts, estimated, results_of, write
from orchestrator.workflows.cluster.run import ClusterResult, measured
from orchestrator.workflows.fleet.findings import FleetReport, fleet_report
from orchestrator.workflows.fleet.options import FleetOptions, nodes_of, site_of
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.cluster_runs import find_cluster_run
from orchestrator.workflows.inputs.data import with_data
from orchestrator.workflows.inputs.planned_matrix import plan_matrix
from orchestrator.workflows.run import refuse_changes

FOLDER = "fleet"
"""Folder of the checks, below that of the results."""
MOST_CELLS = 12
"""All cells share the risk of a false alarm, and a round has to be short."""
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class FleetResult:
    """A fleet check that came to its end, or whose jobs go on."""

    run: ClusterResult
    report: FleetReport | None = None
    """None while jobs go on."""


def check(options: FleetOptions, host: Host, pause: Pause | None = None) -> FleetResult:
    """Measure the same cells on every node in rounds, or go on with that, and report the nodes that are unlike others.

    Raises `InputError` with every mistake of the matrix or the site, `HostError` if the scheduler cannot be used.

    Example: `check(FleetOptions(site="site.yaml", select=["torch-*-cpu/lenet-infer-*"]), this_host()).report`
    """
    cluster, record = _begun(options, host) if options.resume is None else _found(options, options.resume)
    result = measured(cluster, record, options, host, pause)
    return FleetResult(result, None if result.is_detached else fleet_report(cluster))


def _begun(options: FleetOptions, host: Host) -> tuple[ClusterRun, ClusterRecord]:
    """Return a new check, planned and frozen."""
    if options.rounds < FEWEST_ROUNDS:
        raise InputError(f"--rounds {options.rounds}: a fleet check needs {FEWEST_ROUNDS} rounds")
    site = site_of(options, host)
    planned = plan_matrix(options, host)
    plan = _of_a_round(with_data(planned.plan, planned.matrix, options.data, host))
    for warning in plan.warnings:
        host.say(f"warning: {warning}")
    seconds = estimated(planned, plan)(plan)
    split = ((part, plan) for part in rounds(plan, nodes_of(options, site, host), options.rounds, seconds))
    frozen = FrozenParts(planned, plan, tuple(split))
    cluster, record = write(frozen, options, site, results_of(options, site) / FOLDER)
    host.say(f"fleet check: {cluster.folder}")
    return cluster, record


def _of_a_round(plan: Plan) -> Plan:
    """Return the plan that every node carries out in each round. Raises `InputError` for cells that do not suit it."""
    untimed = [cell.id for cell in plan.cells if not cell.workload.rules.times_steps]
    mistakes = []
    if untimed:
        mistakes.append(
            f"--fleet compares throughput, which {listing_of(untimed, _MOST_NAMED)} cannot have: select others"
        )
    if not 0 < len(plan.cells) <= MOST_CELLS:
        mistakes.append(
            f"--fleet takes 1 to {MOST_CELLS} short cells, and {len(plan.cells)} are planned: choose with --select"
        )
    if mistakes:
        raise InputError(*mistakes)
    return replace(plan, cells=tuple(replace(cell, repeats=1) for cell in plan.cells), parity=False, study=None)


def rounds(plan: Plan, nodes: Sequence[str], count: int, seconds: float) -> Iterator[Part]:
    """Yield a part for each node in each round, round by round, the nodes of a round in an order of its own.

    `seconds` is the estimate of one part.
    """
    generator = random.Random(plan.seed)  # noqa: S311 - no secret
    for number in range(1, count + 1):
        for node in generator.sample(nodes, len(nodes)):
            name = f"{number:02}-{folder_name(node)}"
            yield Part(name, groups_of(plan), len(plan.cells), seconds, needs_of(plan), node)


def _found(options: FleetOptions, name: str) -> tuple[ClusterRun, ClusterRecord]:
    """Return the check that a name means, below the results folder or in it.

    Raises `InputError` if there is none, and for options that it has settled.
    """
    refuse_changes(options)
    if options.site is not None or options.nodes:
        raise InputError("--resume goes on with the nodes of the check: leave out --site and --node")
    below: Path = options.results / FOLDER
    for folder in (below, options.results):
        found = find_cluster_run(folder, name)
        if found is not None and (record := found.record()).is_fleet_check:
            return ClusterRun(found.folder.absolute()), record
    raise InputError(f"{below}: no fleet check {name!r}; name the folder that has it with --results")
