"""The pivot that all of a group are compared with, if parity is not transitive: whoever wins, nothing beats it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.parity.work import PairParity, WorkParity
from orchestrator.domain import Cell, Framework
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.groups import MOST_IN_MATRIX
from orchestrator.reporting.findings.model import GroupFinding, Report
from orchestrator.reporting.findings.shared_texts import MOST_NAMES, parity_lines
from tests.effort import examples
from tests.unit.reporting import synthetic

JUDGED = {work: PairParity(work, "" if work is WorkParity.SAME else "first losses 1 % apart") for work in WorkParity}


SLOW = -1


@dataclass(frozen=True)
class Drawn:
    """Rates of the repeats of some cells, and the work of their pairs, by their numbers; else it is the same."""

    rates: Sequence[Sequence[float]]
    work: Mapping[frozenset[int], WorkParity]
    slow: int = 0
    """The number of further cells, slower than all of these; in a pair each goes by the number `SLOW`."""


@st.composite
def groups(draw: st.DrawFn) -> Drawn:
    size = draw(st.integers(1, 6))
    repeats = st.tuples(st.sampled_from([50.0, 80.0, 99.0, 100.0, 101.0, 200.0]), st.integers(1, 3))
    rates = [
        [rate * (1 + 0.02 * number) for number in range(count)] for rate, count in draw(st.tuples(*[repeats] * size))
    ]
    pairs = [frozenset((one, other)) for one in range(size) for other in range(SLOW, one)]
    work = draw(st.tuples(*[st.sampled_from(list(WorkParity))] * len(pairs)))
    return Drawn(rates, dict(zip(pairs, work, strict=True)))


def number(drawn: Drawn, cell_id: str) -> int:
    found = int(cell_id.split("-")[1].removeprefix("2."))
    return found if found < len(drawn.rates) else SLOW


def work(drawn: Drawn, one: str, other: str) -> WorkParity:
    return drawn.work.get(frozenset((number(drawn, one), number(drawn, other))), WorkParity.SAME)


def made(drawn: Drawn) -> Report:
    """Reports compare releases of one name: torch 2.0, torch 2.1, …"""
    count = len(drawn.rates) + drawn.slow
    cells = [synthetic.cell(Framework("torch", f"2.{number}", python="3.11")) for number in range(count)]
    rates = [*drawn.rates, *[[1.0]] * drawn.slow]
    plan = replace(synthetic.plan(cells), parity=True)
    stored = [item for each, mine in zip(cells, rates, strict=True) for item in synthetic.ok(each, mine, spread=0.0)]

    def judge(one: Cell, other: Cell) -> PairParity:
        return JUDGED[work(drawn, one.id, other.id)]

    return compose(synthetic.record(plan), plan, stored, judge=judge)


def check(drawn: Drawn) -> None:
    report = made(drawn)
    (group,) = report.groups
    throughput = {
        place.cell_id: found.throughput.value
        for place in group.places
        if (found := report.by_id[place.cell_id].measurement)
    }
    best = group.places[0]
    beside = [place for place in group.places[1:] if not JUDGED[work(drawn, best.cell_id, place.cell_id)].is_other_work]

    for place in group.places[1:]:
        assert place.to_best is not None
        assert (place.to_best.verdict is not Verdict.NOT_COMPARABLE) == (place in beside)
        assert (place.rank is not None) == (place in beside)
    for place in beside:
        assert throughput[place.cell_id] <= throughput[best.cell_id]
        assert place.to_best is not None
        assert place.to_best.value <= 1
    if group.conclusion in {
        GroupFinding.DECIDED,
        GroupFinding.SAME,
        GroupFinding.INCONCLUSIVE,
        GroupFinding.ALONE,
    }:
        assert group.sentence.removeprefix("Inconclusive: ").startswith(f"{best.label} ")
    pairs = {work(drawn, one.cell_id, other.cell_id) for one, other in combinations(group.places, 2)}
    if "No two of the measured cells" in group.sentence:
        assert all(JUDGED[each].is_other_work for each in pairs)
    if any("cells do the same work" in said for said in parity_lines(group)):
        assert pairs == {WorkParity.SAME}


@given(groups())
@example(Drawn([[200.0] * 3, [100.0] * 3, [80.0] * 3], {frozenset((0, 2)): WorkParity.NOT_COMPARABLE}))
def test_no_comparable_cell_beats_the_winner(drawn: Drawn) -> None:
    """No cell that does the work of the winner is faster than it."""
    check(drawn)


@settings(max_examples=examples(20))
@given(groups())
@example(Drawn([[200.0] * 3, [100.0] * 3], {frozenset((0, SLOW)): WorkParity.NOT_COMPARABLE}))
def test_winner_of_a_large_group_is_unbeaten(drawn: Drawn) -> None:
    """No cell that does the winner's work is faster, also in a group too large to compare every pair."""
    check(replace(drawn, slow=MOST_IN_MATRIX))


FIRST_AND_THIRD_APART = {frozenset((0, 2)): WorkParity.NOT_COMPARABLE}


def test_faster_of_two_incomparable_cells_is_best() -> None:
    """The faster of two incomparable cells is the best, though one between them does the work of both."""
    report = made(Drawn([[200.0] * 3, [100.0] * 3, [80.0] * 3], FIRST_AND_THIRD_APART))
    (group,) = report.groups

    assert group.sentence == (
        "torch 2.0 is the fastest at 200 samples/s, 2.00 × as fast as the next, torch 2.1 (95 % interval 2.00–2.00). "
        "Not comparable with torch 2.0: torch 2.2."
    )


def test_incomparable_runners_up_share_ranks() -> None:
    """Two cells that do the work of the best and not each other's are named and share their ranks."""
    report = made(Drawn([[100.0] * 3, [200.0] * 3, [80.0] * 3], FIRST_AND_THIRD_APART))
    (group,) = report.groups

    assert [(place.label, place.rank and place.rank.label) for place in group.places] == [
        ("torch 2.1", "1"), ("torch 2.0", "2–3"), ("torch 2.2", "2–3"),
    ]  # fmt: skip
    assert parity_lines(group) == (
        "Parity: torch 2.1 does the same work as torch 2.0 and torch 2.2.",
        "Parity: torch 2.2 and torch 2.0 are not comparable: first losses 1 % apart.",
    )


def test_of_many_such_pairs_the_first_are_named() -> None:
    apart = {frozenset((one, other)): WorkParity.NOT_COMPARABLE for one in range(1, 6) for other in range(1, one)}
    report = made(Drawn([[200.0], *[[100.0]] * 5], apart))

    assert parity_lines(report.groups[0])[-1] == "Parity: nor are 4 more pairs."
    assert len(parity_lines(report.groups[0])) == 1 + MOST_NAMES + 1
