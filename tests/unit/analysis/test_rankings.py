import random
from collections.abc import Sequence

import pytest

from orchestrator.analysis.comparison import Verdict, looks
from orchestrator.analysis.gpus.in_turn import Timed
from orchestrator.analysis.rankings import RankingLooks, family_of, looks_up_to, standing
from orchestrator.analysis.ratios import RatioRule, ratio


def timed(rates: Sequence[float]) -> list[Timed]:
    return [Timed(number, "", rate) for number, rate in enumerate(rates)]


def around(rate: float, n: int, seed: int, spread: float = 0.02) -> list[Timed]:
    draw = random.Random(seed)
    return timed([rate * draw.lognormvariate(0, spread) for _ in range(n)])


def same_work(one: str, other: str) -> bool:
    del one, other
    return False


@pytest.mark.parametrize(
    ("most", "expected"),
    [(64, (6, 8, 12, 16, 24, 32, 48, 64)), (50, (6, 8, 12, 16, 24, 32, 48, 50)), (6, (6,)), (3, (3,))],
)
def test_looks_end_at_the_most_blocks(most: int, expected: tuple[int, ...]) -> None:
    assert looks_up_to(most) == expected


def test_levels_are_those_of_the_looks_taken() -> None:
    """A cell that was not looked at has spent nothing, and an early look between two usual ones spends its part."""
    usual = RankingLooks((6, 8), 64).levels(28)
    early = RankingLooks((6, 7, 8), 64).levels(28)

    assert usual == looks(28, blocks=(6, 8, 64))[:2]
    assert early[0] == usual[0]
    assert (1 - early[1].confidence) + (1 - early[2].confidence) == pytest.approx(1 - usual[1].confidence)
    assert sum(1 - each.confidence for each in RankingLooks((6, 7, 64), 64).levels(28)) == pytest.approx(0.05 / 28)
    assert RankingLooks((), 64).levels(28) == ()


def test_a_ratio_is_that_of_the_look_that_decided() -> None:
    """Repeats after the look change nothing."""
    fast, slow = around(1300, 12, 1), around(1000, 12, 2)
    over = RankingLooks((6, 12), 64).ratio(fast, slow, 28)
    (first, _) = RankingLooks((6, 12), 64).levels(28)

    rule = RatioRule(first.confidence, equivalence=first.equivalence)
    expected = ratio([each.rate for each in fast[:6]], [each.rate for each in slow[:6]], rule)
    assert (over.blocks, over.verdict) == (6, Verdict.FASTER)
    assert (over.low, over.high) == (expected.low, expected.high)


def test_an_open_ratio_is_that_of_the_last_look() -> None:
    over = RankingLooks((6, 12), 64).ratio(around(1010, 14, 1), around(1000, 14, 2), 28)

    assert (over.blocks, over.verdict) == (12, Verdict.INCONCLUSIVE)
    assert over.more_repeats
    assert over.confidence == RankingLooks((6, 12), 64).levels(28)[1].confidence


def test_without_a_look_there_is_no_interval() -> None:
    over = RankingLooks((), 64).ratio(around(1300, 4, 1), around(1000, 4, 2), 28)

    assert (over.low, over.high, over.verdict, over.more_repeats) == (None, None, Verdict.INCONCLUSIVE, None)
    assert over.value == pytest.approx(1.3, rel=0.05)


def test_a_cell_is_estimated_at_its_look() -> None:
    """The value is that of the repeats that were looked at, and nothing is predicted."""
    taken, repeats = RankingLooks((6, 8), 64), around(1000, 9, 1)
    known = taken.estimate(repeats, planned=9)

    assert (known.n, known.next_low, known.next_high) == (8, None, None)
    assert known.confidence == taken.levels(1)[1].confidence
    assert taken.estimate(repeats[:6], planned=6).confidence == taken.levels(1)[0].confidence
    assert RankingLooks((), 64).estimate(repeats, planned=9).low is None


def test_ties_are_tested_at_the_level_of_equivalence() -> None:
    """`same` may stand next to an interval that reaches beyond the tolerance, as two one-sided tests allow."""
    one, other = [1.0, 1.01, 0.99, 1.0, 1.012, 0.988], [1.001, 1.009, 0.991, 1.0, 1.01, 0.99]

    assert ratio(one, other, RatioRule(0.9999)).verdict is Verdict.INCONCLUSIVE
    assert ratio(one, other, RatioRule(0.9999, equivalence=0.05)).verdict is Verdict.SAME


def test_only_cells_with_an_undecided_comparison_go_on() -> None:
    cells = {"a": around(1000, 6, 1), "b": around(1005, 6, 2), "far": around(2000, 6, 3)}

    assert standing(cells, RankingLooks((6,), 64), same_work).open == {"a", "b"}


def test_cells_of_other_work_are_not_compared() -> None:
    cells = {"a": around(1000, 6, 1), "b": around(1005, 6, 2)}
    state = standing(cells, RankingLooks((6,), 64), lambda one, other: True)

    assert (state.open, state.ratios) == (frozenset(), {})


def test_a_cell_with_one_repeat_does_not_go_on() -> None:
    cells = {"a": around(1000, 6, 1), "b": around(1005, 1, 2), "none": []}

    assert standing(cells, RankingLooks((6,), 64), same_work).open == frozenset()


def measured_until_decided(draw: random.Random, rates: Sequence[float]) -> tuple[set[tuple[str, str, str]], int]:
    """Measure cells with a scatter of 2 %. Return what was decided of each pair, and the launches."""
    cells: dict[str, list[Timed]] = {str(number): [] for number in range(len(rates))}
    taken, going_on = RankingLooks((), 64), frozenset(cells)
    while going_on and len(taken.taken) < len(looks_up_to(64)):
        blocks = looks_up_to(64)[len(taken.taken)]
        for name in sorted(going_on):
            start = len(cells[name])
            rate = rates[int(name)]
            cells[name] += [Timed(repeat, "", rate * draw.lognormvariate(0, 0.02)) for repeat in range(start, blocks)]
        taken = RankingLooks((*taken.taken, blocks), 64)
        state = standing(cells, taken, same_work)
        going_on = state.open
    decided = {(*pair, over.verdict.value) for pair, over in state.ratios.items()}
    return decided, sum(map(len, cells.values()))


def test_equal_cells_raise_few_false_alarms() -> None:
    """At most 5 % of rankings of five equal cells have any wrong order, so 1.5 of 30 are expected at most."""
    draw = random.Random(11)
    ends = [measured_until_decided(draw, [1000.0] * 5)[0] for _ in range(30)]

    wrong = sum(any(verdict in {"faster", "slower"} for _, _, verdict in end) for end in ends)
    assert wrong <= 5


def test_cells_far_apart_take_few_launches() -> None:
    """Only the close pair goes on: the ranking takes less than half of what the same blocks of every cell take."""
    draw = random.Random(12)
    rates = [1000.0, 1015.0, 1200.0, 1400.0, 1700.0, 2000.0]
    ends = [measured_until_decided(draw, rates) for _ in range(10)]

    assert all(len(end) == family_of(6) for end, _ in ends)
    assert sum(launches for _, launches in ends) / 10 < 0.45 * 6 * 64


def test_levels_hold_for_repeated_looks() -> None:
    """A pair at the edge of no difference is called different in no more than 5 % of many-look runs of two cells."""
    draw = random.Random(13)
    wrong = 0
    for _ in range(300):
        (end,), _ = measured_until_decided(draw, [1000.0, 1000.0])
        wrong += end[2] in {"faster", "slower"}
    assert wrong <= 24  # 15 are expected at most, with a standard deviation of 3.8
