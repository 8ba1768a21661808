"""Groups that several nodes have measured: their rankings side by side, and the variation between nodes."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.estimates import estimate
from orchestrator.analysis.scatter.random_effects import node_variation
from orchestrator.reporting.findings.cluster_model import CellOverNodes, GroupOverNodes, NodeRanking
from orchestrator.reporting.findings.model import CellReport, Group, GroupFinding, Report
from orchestrator.wording import listing

_DECIDED = {Verdict.FASTER: True, Verdict.SLOWER: False}
Pairs = dict[tuple[str, str], bool]
"""Two cells, and true if the first is the faster one; only those that are decided."""


def over_nodes(reports: Sequence[Report]) -> tuple[GroupOverNodes, ...]:
    """Compare the rankings of each group over the reports, each of which has it from another node."""
    groups: dict[str, list[tuple[Group, dict[str, CellReport]]]] = {}
    for report in reports:
        for group in report.groups:
            if any(place.rank for place in group.places):
                groups.setdefault(group.anchor, []).append((group, report.by_id))
    return tuple(_over_nodes(members) for members in groups.values())


def _over_nodes(members: Sequence[tuple[Group, dict[str, CellReport]]]) -> GroupOverNodes:
    first = members[0][0]
    holds, sentence = _holds([group for group, _ in members])
    ids = dict.fromkeys(place.cell_id for group, _ in members for place in group.places)
    return GroupOverNodes(
        label=f"{first.workload.label} on {first.system.name}",
        rankings=tuple(NodeRanking(group.node, tuple(_ranked(group))) for group, _ in members),
        cells=tuple(cell for cell_id in ids if (cell := _cell(cell_id, [cells for _, cells in members]))),
        holds=holds,
        sentence=sentence,
        per_s=first.workload.rules.per_s,
    )


def _ranked(group: Group) -> Iterator[str]:
    return (place.label for place in group.places if place.rank)


def _cell(cell_id: str, nodes: Sequence[dict[str, CellReport]]) -> CellOverNodes | None:
    reports = [cells[cell_id] for cells in nodes if cell_id in cells]
    values = [
        rates
        for report in reports
        if (rates := [each.measurement.samples_per_s for each in report.repeats if each.measurement])
    ]
    if not values:
        return None
    means = [math.exp(sum(map(math.log, rates)) / len(rates)) for rates in values]
    over = estimate(means)
    variation = node_variation(values)
    return CellOverNodes(
        cell_id, reports[0].label, len(values), over.value, over.low, over.high, variation.within, variation.between
    )


def _holds(groups: Sequence[Group]) -> tuple[bool | None, str]:
    """Return whether no two nodes contradict each other, with a sentence."""
    if len(groups) < 2:
        return None, "The figures are of one node, so nothing says if the ranking holds on others."
    pairs = {group.node: _pairs(group) for group in groups}
    labels = {place.cell_id: place.label for group in groups for place in group.places}
    for (node, decided), (other, others) in combinations(pairs.items(), 2):
        for (one, two), is_faster in decided.items():
            if others.get((one, two), is_faster) is not is_faster:
                faster, slower = (node, other) if is_faster else (other, node)
                return False, (
                    f"The ranking does not hold on all {len(groups)} nodes: {labels[one]} is faster than {labels[two]} "
                    f"on {faster}, and slower on {slower}."
                )
    nodes = listing([group.node for group in groups])
    best = {group.places[0].label for group in groups if group.conclusion is GroupFinding.DECIDED}
    if len(best) == 1 and all(group.conclusion is GroupFinding.DECIDED for group in groups):
        return True, f"The ranking holds on {nodes}: {best.pop()} is the fastest on each."
    return True, f"No two of {nodes} contradict each other, but not each of them decides which is the fastest."


def _pairs(group: Group) -> Pairs:
    """Return the decided pairs of a node, each in the order of the ids; of a large group those with the best alone."""
    pairs: Pairs = {}
    ids = [place.cell_id for place in group.places]
    if group.ratios:
        found = [
            (one, other, over)
            for one, line in zip(ids, group.ratios, strict=False)
            for other, over in zip(ids, line, strict=False)
        ]
    else:
        found = [(place.cell_id, ids[0], place.to_best) for place in group.places]
    for one, other, over in found:
        if over is not None and over.verdict in _DECIDED and one != other:
            is_faster = _DECIDED[over.verdict]
            pairs[min(one, other), max(one, other)] = is_faster if one < other else not is_faster
    return pairs
