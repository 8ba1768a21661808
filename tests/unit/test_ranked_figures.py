"""The simulated rankings and the plans of twenty cells, as `bench.verdicts.detection` counts them."""

import numpy as np
import pytest
import yaml

from bench.verdicts import precision, rankings
from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.rankings import RankingLooks, Standing, looks_up_to, standing


def by_blocks(rates: rankings.Rates) -> tuple[int, Standing]:
    """Go through the looks as a run does, in which only open cells have further repeats. Return the launches."""
    cells = {str(number): [] for number in range(len(rates))}
    looks, state = RankingLooks((), 64), Standing({}, frozenset())
    going_on = frozenset(cells)
    for blocks in looks_up_to(64):
        for name in going_on:
            cells[name] = list(rates[int(name)][:blocks])
        looks = RankingLooks((*looks.taken, blocks), 64)
        state = standing(cells, looks, lambda one, other: False)
        going_on = state.open
        if not going_on:
            break
    return sum(map(len, cells.values())), state


@pytest.mark.parametrize("seed", range(4))
def test_a_ranking_ends_as_a_run_of_blocks_does(seed: int) -> None:
    """The simulation looks at all repeats at once, and counts those that a run would have launched."""
    draw = np.random.default_rng(seed)
    levels, rates = rankings.drawn(draw, [0.01, 0.04, 0.1])

    end = rankings.ranked(levels, rates, rankings.UNTIL_DECIDED)
    launches, state = by_blocks(rates)

    assert end.launches == launches
    assert end.is_decided == all(over.verdict is not Verdict.INCONCLUSIVE for over in state.ratios.values())


def test_an_order_of_equals_is_wrong() -> None:
    _, rates = rankings.drawn(np.random.default_rng(1), [0.2])

    assert rankings.ranked([0.0, 0.0], rates, rankings.UNTIL_DECIDED).is_wrong
    assert rankings.ranked([0.2, 0.0], rates, rankings.UNTIL_DECIDED).is_wrong
    assert not rankings.ranked([0.0, 0.2], rates, rankings.UNTIL_DECIDED).is_wrong


def test_the_fixed_number_is_the_fewest_that_decides_as_often() -> None:
    draw = np.random.default_rng(2)
    drawings = [rankings.drawn(draw, [0.1]) for _ in range(20)]

    few = rankings.as_often(0.5, drawings)
    many = rankings.as_often(1.0, drawings)

    assert 2 < few < many < 20


PLANNED = {
    "id": "mxnet-1.9.1-cpu/lenet-train-b64", "framework": "mxnet", "version": "1.9.1", "model": "lenet",
    "mode": "train", "repeats": 7, "blocks": 12, "half_width": 0.02, "half_width_low": 0.012, "half_width_high": 0.03,
}  # fmt: skip


def test_planned_repeats_are_those_of_the_matrix() -> None:
    matrix = yaml.safe_load(precision.MATRIX.format(repeats=10) + precision.included([PLANNED]))

    (entry,) = matrix["include"]
    assert (entry["framework"], entry["repeats"], entry["blocks"]) == ("mxnet==1.9.1", 7, 12)
    assert len(matrix["frameworks"]) * len(matrix["models"]) * len(matrix["modes"]) == precision.CELLS


@pytest.mark.parametrize(("width", "held"), [(0.025, 20), (0.031, 0)])
def test_a_half_width_outside_its_range_is_counted(width: float, held: int) -> None:
    planned = [PLANNED | {"id": str(number)} for number in range(20)]

    inside, ratio = precision.figures(planned, dict.fromkeys((str(number) for number in range(20)), width), "2%")

    assert inside["text"].startswith(f"{held} of 20 cells")
    assert inside["within"] == (held == 20)
    assert not ratio["within"]


def test_half_widths_are_shares_of_the_throughput() -> None:
    throughput = {"value": 100.0, "low": 98.0, "high": 102.0}
    cells = [
        {"cell": {"id": "a"}, "measurement": {"throughput": throughput}},
        {"cell": {"id": "b"}, "measurement": None},
    ]

    assert precision.half_widths({"cells": cells}) == {"a": pytest.approx(0.02)}
