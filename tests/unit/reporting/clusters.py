"""A made-up run on a cluster for tests of reports: two nodes, or two for every part."""

from collections.abc import Mapping
from dataclasses import replace

from orchestrator.clusters.parts import parts
from orchestrator.domain import Plan
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.joined import PartReport, Whole, across, joined
from orchestrator.reporting.findings.model import Replicate, Report
from orchestrator.reporting.findings.over_nodes import over_nodes
from orchestrator.reporting.findings.problems import no_tail
from orchestrator.results.evidence import Stored
from tests.unit.reporting import synthetic as s

ONE, OTHER, ALONE = s.cell(s.MXNET), s.cell(s.TORCH), s.cell(s.TORCH, s.MLP)
PLAN = s.plan([ONE, OTHER, ALONE], warnings=("careful",))
END = "the scheduler ended job 12_1 on node2: TIMEOUT"
Rates = Mapping[str, list[float]]
"""Samples/s of the repeats of cells, by their ids."""
FAST_FIRST: Rates = {ONE.id: [200.0, 201.0, 199.0], OTHER.id: [100.0, 101.0, 99.0]}
FAST_LAST: Rates = {ONE.id: [100.0, 101.0, 99.0], OTHER.id: [200.0, 201.0, 199.0]}


def whole(plan: Plan = PLAN, replicate: int = 1) -> Whole:
    return Whole("20260102T030405Z-abcd", "2026-01-02T03:04:05+00:00", "0.1.0", plan, replicate, no_tail)


def on_node(number: int, node: str, rates: Rates, *, end: str = "", cpu: str = "Example CPU") -> PartReport:
    """Report on the part of a number as a node measured it; nothing but the cells of `rates` has a result."""
    part, plan = list(parts(PLAN, lambda _: 60.0))[number]
    record = s.record(plan)
    record = record.model_copy(update={"host": {**record.host, "hostname": node, "cpu": cpu}})
    report = compose(record, plan, stored(plan, rates))
    return PartReport(part.name, node, f"parts/{part.name}/{node}" if node else "", report, end)


def stored(plan: Plan, rates: Rates) -> list[Stored]:
    """Return the repeats of the cells that have rates."""
    return [item for cell in plan.cells if cell.id in rates for item in s.ok(cell, rates[cell.id], spread=0)]


def two_nodes() -> Report:
    """The first part on one node, and the second on another, whose job came to its time limit."""
    return joined(
        whole(), [on_node(0, "node1", FAST_FIRST), on_node(1, "node2", {}, end=END, cpu="Another CPU")]
    )  # fmt: skip


def replicated(first: Rates = FAST_FIRST, second: Rates = FAST_FIRST) -> Report:
    """Both nodes measured the first part, and neither the second."""
    nodes = [
        [on_node(0, "node1", first), on_node(0, "node2", second)],
        [on_node(1, "", {}), on_node(1, "", {})],
    ]
    one, other = (joined(whole(), [part[number] for part in nodes]) for number in range(2))
    assert one.cluster
    assert other.cluster
    everywhere, notes = across(whole(replicate=2), [part for each in nodes for part in each])
    cluster = replace(one.cluster, nodes=everywhere, notes=notes, groups=over_nodes([one, other]))
    further = Replicate(other.groups, other.cells, other.statuses, other.problems, other.cluster.parts)
    return replace(one, cluster=cluster, further=(further,))
