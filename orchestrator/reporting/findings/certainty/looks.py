"""The looks of a run until decided: the levels of what it shows, what stays open, and what that would cost."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean

from orchestrator.analysis.comparison import OF_FIGURES, Verdict
from orchestrator.analysis.gpus.in_turn import Timed
from orchestrator.analysis.rankings import RankingLooks, family_of
from orchestrator.domain import Cell, Outcome, Plan, Status, System, Workload
from orchestrator.reporting.findings.certainty.limits import limits_lines
from orchestrator.reporting.findings.certainty.looks_model import GroupLooks, OpenPair, UntilDecided
from orchestrator.reporting.findings.model import CellReport, Group
from orchestrator.reporting.findings.shared_texts import floor_lines, parity_lines
from orchestrator.results.decisions import Decisions
from orchestrator.wording import counted, listing, plural, seconds

_MOST_NAMED = 6
_ENDS = {
    "decided": "every comparison is decided",
    "most_blocks": "no look is left, and more takes a new run with a larger --max-blocks",
    "budget": "another block would have passed the budget",
    None: "it was stopped, or is still going on",
}


def ranking_looks(decisions: Decisions) -> RankingLooks:
    """Return the looks that a run has taken."""
    return RankingLooks(decisions.taken, decisions.most_blocks, decisions.alpha, decisions.tolerance)


def compared_groups(plan: Plan, idle_builders: Collection[str]) -> tuple[tuple[Cell, ...], ...]:
    """Return the cells of each group that a run until decided compares: two or more that are timed and compute."""
    idle = {image.name for image in plan.images if image.environment.builder in idle_builders}
    groups: dict[tuple[System, Workload], list[Cell]] = {}
    for cell in plan.cells:
        if cell.workload.rules.times_steps and cell.script is None and cell.image not in idle:
            groups.setdefault((cell.system, cell.workload), []).append(cell)
    return tuple(tuple(members) for members in groups.values() if len(members) > 1)


def timed(cell: CellReport) -> list[Timed]:
    """Return the rate of every repeat of a cell that was measured."""
    return [
        Timed(repeat.outcome.repeat, repeat.outcome.ran_on, repeat.measurement.samples_per_s)
        for repeat in cell.repeats
        if repeat.measurement is not None
    ]


def at_its_look(cell: CellReport, looks: RankingLooks) -> CellReport:
    """Return a cell with the throughput up to its last look, whose interval is at the level of that look."""
    if cell.measurement is None:
        return cell
    return replace(
        cell, measurement=replace(cell.measurement, throughput=looks.estimate(timed(cell), cell.cell.repeats))
    )


def with_looks(group: Group, cells: Mapping[str, CellReport]) -> Group:
    """Return a group with what its looks decided, and the cost of what they left open."""
    if len(group.places) < 2:
        return group
    measured = [place for place in group.places if cells[place.cell_id].measurement]
    open_pairs: list[OpenPair] = []
    decided = 0
    for i, j in combinations(range(len(measured)), 2):
        over = group.ratios[i][j]
        if over is not None and over.verdict is Verdict.INCONCLUSIVE:
            open_pairs.append(_open(cells[measured[i].cell_id], cells[measured[j].cell_id], over.more_repeats))
        decided += over is not None and over.verdict in OF_FIGURES[:3]
    looks = GroupLooks(family_of(len(group.places)), decided, tuple(open_pairs), _cost_s(open_pairs, cells))
    return replace(group, looks=looks)


def _open(one: CellReport, other: CellReport, more: int | None) -> OpenPair:
    launches = mean_launch_s(one), mean_launch_s(other)
    cost_s = None if more is None or None in launches else more * sum(each or 0.0 for each in launches)
    return OpenPair(one.cell.id, other.cell.id, more, cost_s)


def _cost_s(pairs: Sequence[OpenPair], cells: Mapping[str, CellReport]) -> float | None:
    """Return the seconds of the repeats that decide all open comparisons, each repeat once."""
    more: dict[str, int] = {}
    for pair in pairs:
        if pair.more_repeats is None:
            return None
        for cell_id in (pair.one, pair.other):
            more[cell_id] = max(pair.more_repeats, more.get(cell_id, 0))
    return sum(number * (mean_launch_s(cells[cell_id]) or 0.0) for cell_id, number in more.items()) if more else None


def mean_launch_s(cell: CellReport) -> float | None:
    """Return the mean time of the launches of a cell that were measured, with the wait before them."""
    launches = [launch_s(repeat.outcome) for repeat in cell.repeats if repeat.outcome.status is Status.OK]
    return fmean(launches) if launches else None


def launch_s(outcome: Outcome) -> float:
    """Return the seconds of a launch, with the wait for an idle host before it."""
    return outcome.wall_s + (outcome.idle_wait_s or 0.0)


def run_line(asked: UntilDecided) -> str:
    """Say in a line what a run until decided was asked, and how far it came."""
    budget = "" if asked.budget_s is None else f", a budget of {seconds(asked.budget_s)}"
    looks = f"looked after {listing([*map(str, asked.looks)])} blocks" if asked.looks else "no look was taken"
    sure = f"{100 * (1 - asked.alpha):g} %"
    return (
        f"Measured until decided: at most {asked.most_blocks} blocks{budget}; {looks} in {seconds(asked.spent_s)}; "
        f"{_ENDS[asked.ended]}. In {sure} of such runs every verdict faster or slower of a group is right, whatever "
        "look decided it. Intervals of throughputs and of their ratios are at the level of their look. All other "
        "intervals take no account of the looks."
    )


def looks_lines(group: Group) -> Iterator[str]:
    """Say what is decided in a group, what stays open, and what each further decision would cost."""
    looks = group.looks
    if looks is None:
        return
    yield f"Decided: {looks.decided} of {counted(looks.family, 'comparison')}."
    labels = {place.cell_id: place.label for place in group.places}
    for pair in looks.open[:_MOST_NAMED]:
        yield f"Open: {labels[pair.one]} and {labels[pair.other]}, {_cost(pair)}."
    if len(looks.open) > _MOST_NAMED:
        yield f"Open: {len(looks.open) - _MOST_NAMED:,} more."
    if looks.cost_s is not None and len(looks.open) > 1:
        yield f"To decide all of them takes about {seconds(looks.cost_s)}."


def remarks(group: Group) -> tuple[str, ...]:
    """Return the lines that stand below the table of a group: on parity, looks, limits and floors."""
    return (*parity_lines(group), *looks_lines(group), *limits_lines(group), *floor_lines(group))


def _cost(pair: OpenPair) -> str:
    if pair.more_repeats is None:
        return "and nothing says how many repeats would decide it"
    time = "" if pair.cost_s is None else f", {seconds(pair.cost_s)}"
    return f"about {pair.more_repeats:,} more {plural('repeat', pair.more_repeats)} of each{time}"
