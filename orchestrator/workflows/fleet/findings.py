"""The report of a fleet check, from the files of its rounds."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from orchestrator.analysis.fleet import FEWEST_NODES, FEWEST_ROUNDS, FleetJudgement, Likeness, NodeFinding, judge
from orchestrator.clusters.folder import ClusterRun, folder_name, node_of, node_runs
from orchestrator.clusters.record import ClusterRecord, plan_of
from orchestrator.domain import Cell
from orchestrator.errors import InputError
from orchestrator.reporting.findings.cells import flatten
from orchestrator.reporting.findings.host_facts import differing, shown_facts
from orchestrator.reporting.findings.model import Facts
from orchestrator.results.evidence import Stored, read_cells
from orchestrator.results.store import Run
from orchestrator.results.throughput import throughput
from orchestrator.wording import counted, listing, listing_of, seconds

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class NodeRound:
    """One round on one node."""

    node: str
    rates: Mapping[str, float]
    """Throughput in samples/s by the id of the cell, of the repeats that count."""
    began_at: str = ""
    """ISO 8601, UTC; empty if it has not begun."""
    disturbed: int = 0
    """Repeats that something else on the node disturbed, that do not count."""
    facts: Facts = ()
    end: str = ""
    """The end of its last job, or the reason that it has none, in a sentence; empty if neither is known, or if the
    round is complete."""


@dataclass(frozen=True, slots=True)
class CellOverFleet:
    """The nodes of a fleet, judged by the throughput of one cell."""

    cell_id: str
    rounds: int
    """The rounds that count; 0 if too little is measured."""
    low: float | None
    """Lower end of the range of like nodes, as a ratio to the middle of the fleet; None if too little is measured."""
    high: float | None
    nodes: tuple[NodeFinding, ...]
    left_out: tuple[str, ...]
    """Nodes that have measured too few of the rounds."""


@dataclass(frozen=True, slots=True)
class FleetReport:
    """A fleet check with its findings."""

    run: str
    nodes: tuple[str, ...]
    rounds: int
    """As they were planned."""
    cells: tuple[CellOverFleet, ...]
    unlike: tuple[str, ...]
    """Nodes that are unlike their sisters by at least one cell."""
    undecided: tuple[str, ...]
    """Nodes of which more rounds would tell."""
    sentence: str
    notes: tuple[str, ...]
    """Sentences on what else is to be known."""


def fleet_report(cluster: ClusterRun) -> FleetReport:
    """Report on a check by its files. Raises `InputError` if a record cannot be read."""
    record = cluster.record()
    cells, jobs = plan_of(record).cells, cluster.jobs()
    measured: dict[str, list[NodeRound]] = {}
    for part in record.parts:
        reason = record.unmeasured_reason(part.name, jobs)
        measured.setdefault(part.node, []).append(_round(cluster, part.name, part.node, cells, reason))
    return compose(record, cells, dict(sorted(measured.items())))


def compose(record: ClusterRecord, cells: Sequence[Cell], measured: Mapping[str, Sequence[NodeRound]]) -> FleetReport:
    """Return the report of what each node has measured in each round."""
    judged = tuple(_judged(cell.id, measured, len(cells)) for cell in cells)
    unlike = _named(judged, measured, {Likeness.UNLIKE})
    undecided = tuple(node for node in _named(judged, measured, {Likeness.UNDECIDED}) if node not in unlike)
    return FleetReport(
        run=record.run,
        nodes=tuple(measured),
        rounds=max(map(len, measured.values()), default=0),
        cells=judged,
        unlike=unlike,
        undecided=undecided,
        sentence=_sentence(judged, unlike, undecided),
        notes=tuple(_notes(measured, len(cells))),
    )


def _round(cluster: ClusterRun, part: str, node: str, cells: tuple[Cell, ...], end: str) -> NodeRound:
    """Read a round of a node: the run that counts, of which there is one unless the node has become another machine."""
    runs = (each for each in node_runs(cluster.part_folder(part), cells) if each.created_at)
    found = next((each for each in runs if node_of(each.run) == folder_name(node)), None)
    if found is None:
        return NodeRound(node, {}, end=end)
    stored = list(read_cells(found.run, cells))
    of_epochs = {cell.id: cell.duration.epochs is not None for cell in cells}
    rates = {
        each.outcome.cell_id: throughput(each.result, epochs=of_epochs[each.outcome.cell_id])
        for each in stored
        if each.result and not each.outcome.disturbance
    }
    began = min((each.outcome.started_at for each in stored if each.outcome.started_at), default="")
    return NodeRound(node, rates, began, _disturbed(stored), _facts(found.run), "" if found.is_complete else end)


def _disturbed(stored: Sequence[Stored]) -> int:
    return sum(bool(each.result and each.outcome.disturbance) for each in stored)


def _facts(run: Run) -> Facts:
    try:
        return shown_facts(tuple(flatten(run.record().host)))
    except InputError:
        return ()


def _judged(cell_id: str, measured: Mapping[str, Sequence[NodeRound]], figures: int) -> CellOverFleet:
    rates = {node: [each.rates.get(cell_id) for each in rounds] for node, rounds in measured.items()}
    judgement: FleetJudgement | None = judge(rates, figures=figures)
    if judgement is None:
        return CellOverFleet(cell_id, 0, None, None, (), tuple(measured))
    low, high = judgement.low, judgement.high
    return CellOverFleet(cell_id, judgement.rounds, low, high, judgement.nodes, judgement.left_out)


def _named(cells: Sequence[CellOverFleet], nodes: Mapping[str, object], kinds: set[Likeness]) -> tuple[str, ...]:
    """Return the nodes that any cell has found to be of these kinds, in the order of the fleet."""
    named = {each.node for cell in cells for each in cell.nodes if each.likeness in kinds}
    return tuple(node for node in nodes if node in named)


def _sentence(cells: Sequence[CellOverFleet], unlike: Sequence[str], undecided: Sequence[str]) -> str:
    judged = {each.node for cell in cells for each in cell.nodes}
    if not judged:
        return f"Nothing can be said: {FEWEST_NODES} nodes with {FEWEST_ROUNDS} rounds in common are needed."
    whole = counted(len(judged), "node")
    if unlike:
        verb = "is unlike its sisters" if len(unlike) == 1 else "are unlike their sisters"
        return f"Of {whole}, {listing(unlike)} {verb}."
    if undecided:
        return f"None of {whole} is shown to be unlike the others; more rounds would tell of {listing(undecided)}."
    return f"None of {whole} is unlike the others."


def _notes(measured: Mapping[str, Sequence[NodeRound]], cells: int) -> Iterator[str]:
    facts = {
        node: each[-1] for node, rounds in measured.items() if (each := [one.facts for one in rounds if one.facts])
    }
    different = [each for each in differing(list(facts.values())) if not each.startswith("Host (")]
    if different:
        yield f"The nodes differ in {listing(different)}."
    apart = _longest_apart(measured)
    if apart is not None:
        yield f"Within a round, nodes began up to {seconds(apart)} apart."
    for node, rounds in measured.items():
        missing = [each for each in rounds if len(each.rates) < cells]
        disturbed = sum(each.disturbed for each in rounds)
        if missing:
            ends = list(dict.fromkeys(each.end for each in missing if each.end))
            why = f": {listing_of(ends, _MOST_NAMED)}" if ends else ""
            yield f"{node} lacks figures in {len(missing)} of {counted(len(rounds), 'round')}{why}."
        if disturbed:
            yield f"{node}: {counted(disturbed, 'repeat')} disturbed by something else, not counted."


def _longest_apart(measured: Mapping[str, Sequence[NodeRound]]) -> float | None:
    """Return the longest time between the first and the last begin of a round, in seconds."""
    apart = -math.inf
    for of_round in zip(*measured.values(), strict=False):
        begins = [datetime.fromisoformat(each.began_at).timestamp() for each in of_round if each.began_at]
        if len(begins) > 1:
            apart = max(apart, max(begins) - min(begins))
    return None if math.isinf(apart) else apart
