"""Fleets with planted node effects: false alarms, power, and what a judgement keeps to."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.analysis.fleet import FleetJudgement, Likeness, judge, like_limit
from tests.effort import examples

FLEETS = 4 * examples(2000)
"""Simulated fleets: 800, ten times as many in `make test-all`."""
NOISE = 0.01
"""Standard deviation of the logarithm of a rate, from round to round."""


def fleet(
    generator: np.random.Generator, effects: Sequence[float], rounds: int = 8, noise: float = NOISE
) -> dict[str, list[float | None]]:
    """Return rates of nodes with these effects on the logarithm, with a drift that all nodes share."""
    drift = generator.normal(0, 0.05, rounds)
    logs = np.asarray(effects)[:, None] + drift + generator.normal(0, noise, (len(effects), rounds))
    return {f"node{number}": [float(rate) for rate in each] for number, each in enumerate(np.exp(3 + logs))}


def judged(rates: Mapping[str, Sequence[float | None]], figures: int = 1) -> FleetJudgement:
    judgement = judge(rates, figures=figures)
    assert judgement
    return judgement


def named(judgement: FleetJudgement, *kinds: Likeness) -> set[str]:
    return {each.node for each in judgement.nodes if each.likeness in kinds}


def most_alarms(fleets: int) -> float:
    """Return the share that a rate of 0.05 stays below in 999 of 1,000 simulations."""
    return 0.05 + 3.1 * math.sqrt(0.05 * 0.95 / fleets)


@pytest.mark.parametrize("nodes", [3, 4, 8, 16])
@pytest.mark.parametrize("spread", [0.0, 0.003, 0.03])
def test_like_nodes_raise_few_alarms(nodes: int, spread: float) -> None:
    """Nodes are equal, or differ by chance. In at most one fleet of twenty, any of them is unlike or doubted."""
    generator = np.random.default_rng(nodes)
    judgements = [judged(fleet(generator, generator.normal(0, spread, nodes))) for _ in range(FLEETS)]
    unlike = sum(bool(named(each, Likeness.UNLIKE)) for each in judgements)
    doubted = sum(bool(named(each, Likeness.UNLIKE, Likeness.UNDECIDED)) for each in judgements)

    assert unlike / FLEETS <= 0.05
    assert doubted / FLEETS <= most_alarms(FLEETS)


def test_a_range_is_no_wider_than_needed() -> None:
    """Of like nodes that differ far more than they scatter, about one fleet of twenty has one outside."""
    generator = np.random.default_rng(1)
    judgements = [judged(fleet(generator, generator.normal(0, 0.05, 8), noise=1e-6)) for _ in range(FLEETS)]

    assert sum(bool(named(each, Likeness.UNLIKE)) for each in judgements) / FLEETS == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize("nodes", [6, 16])
def test_one_slow_node_is_found(nodes: int) -> None:
    """At 5 % slower, with a scatter of 1 %, it is found 19 times of 20, and it alone."""
    generator = np.random.default_rng(nodes)
    effects = [math.log(0.95), *[0.0] * (nodes - 1)]
    found = [named(judged(fleet(generator, effects)), Likeness.UNLIKE) for _ in range(FLEETS)]

    assert sum(each == {"node0"} for each in found) / FLEETS >= 0.95


def test_two_slow_nodes_do_not_hide_each_other() -> None:
    generator = np.random.default_rng(2)
    effects = [math.log(0.95)] * 2 + [0.0] * 6
    found = [named(judged(fleet(generator, effects, noise=0.005)), Likeness.UNLIKE) for _ in range(FLEETS)]

    assert sum(each == {"node0", "node1"} for each in found) / FLEETS >= 0.95


def test_several_figures_share_the_risk() -> None:
    """Judged by four figures, a fleet of like nodes raises an alarm by any of them as rarely as by one."""
    generator = np.random.default_rng(3)
    alarms = 0
    for _ in range(FLEETS // 4):
        each = [judged(fleet(generator, generator.normal(0, 0.05, 6), noise=1e-6), figures=4) for _ in range(4)]
        alarms += any(named(one, Likeness.UNLIKE) for one in each)

    assert alarms / (FLEETS // 4) <= most_alarms(FLEETS // 4)


def test_a_bad_round_is_no_bad_node() -> None:
    """One round at half speed pulls the mean of a node out of the range, and its interval along."""
    rates = fleet(np.random.default_rng(4), [0.0] * 8, noise=0.002)
    rates["node3"][5] = (rates["node3"][5] or 0) / 2

    assert named(judged(rates), Likeness.UNLIKE) == set()
    assert named(judged(rates), Likeness.UNDECIDED) == {"node3"}


def test_intervals_hold_the_planted_ratio() -> None:
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(FLEETS // 2):
        slow = next(each for each in judged(fleet(generator, [-0.1, *[0.0] * 7])).nodes if each.node == "node0")
        held += slow.low <= math.exp(-0.1) <= slow.high

    assert held / (FLEETS // 2) >= 0.98  # 0.994 in the long run, as of one of eight nodes


def test_limits_are_those_of_like_fleets() -> None:
    """The limit of three nodes is large: two that agree by chance say little of the third."""
    assert like_limit(3, 0.95) == pytest.approx(48, rel=0.1)
    assert like_limit(4, 0.95) == pytest.approx(10.2, rel=0.05)
    assert like_limit(8, 0.95) == pytest.approx(6.6, rel=0.05)


def test_rounds_that_a_node_lacks_are_left_out() -> None:
    rates = fleet(np.random.default_rng(6), [0.0] * 5)
    rates["node1"][0] = rates["node2"][7] = None
    judgement = judged(rates)

    assert (judgement.rounds, judgement.left_out) == (6, ())
    without = {node: each[1:7] for node, each in rates.items()}
    assert judged(without) == judgement


def test_a_node_of_few_rounds_spoils_no_others() -> None:
    rates = fleet(np.random.default_rng(7), [0.0] * 5)
    rates["node4"] = [*[None] * 6, 20.0, 20.0]
    judgement = judged(rates)

    assert (judgement.rounds, judgement.left_out) == (8, ("node4",))


@pytest.mark.parametrize(("nodes", "rounds"), [(0, 8), (2, 8), (8, 2), (3, 0)])
def test_too_little_is_not_judged(nodes: int, rounds: int) -> None:
    assert judge(fleet(np.random.default_rng(8), [0.0] * nodes, rounds)) is None


def test_a_rate_must_be_positive() -> None:
    with pytest.raises(ValueError, match="positive and finite"):
        judge({"a": [0.0] * 3, "b": [1.0] * 3, "c": [1.0] * 3})


EFFECTS = st.lists(st.floats(-0.2, 0.2), min_size=3, max_size=9)


@settings(max_examples=examples(200))
@given(effects=EFFECTS, seed=st.integers(0, 2**32 - 1), factor=st.floats(1e-3, 1e3))
def test_units_and_drift_change_nothing(effects: list[float], seed: int, factor: float) -> None:
    """Another unit multiplies all rates; another round multiplies those of a round."""
    rates = fleet(np.random.default_rng(seed), effects)
    factors = [factor * (1 + number) for number in range(8)]
    scaled = {node: [rate * by for rate, by in zip(each, factors, strict=True) if rate] for node, each in rates.items()}
    one, other = judged(rates), judged(scaled)

    assert [each.likeness for each in one.nodes] == [each.likeness for each in other.nodes]
    assert [each.low for each in one.nodes] == pytest.approx([each.low for each in other.nodes])
    assert (one.low, one.high) == pytest.approx((other.low, other.high))


@settings(max_examples=examples(200))
@given(effects=EFFECTS, seed=st.integers(0, 2**32 - 1))
def test_a_judgement_follows_from_its_numbers(effects: list[float], seed: int) -> None:
    judgement = judged(fleet(np.random.default_rng(seed), effects))

    for each in judgement.nodes:
        assert each.low <= each.ratio <= each.high
        is_unlike = each.high < judgement.low or each.low > judgement.high
        assert (each.likeness is Likeness.UNLIKE) == is_unlike
        if each.likeness is Likeness.LIKE:
            assert judgement.low <= each.ratio <= judgement.high
