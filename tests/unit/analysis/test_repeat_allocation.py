import math
import random
from statistics import fmean, median, pvariance, stdev

import pytest

from orchestrator.analysis.estimates import estimate
from orchestrator.analysis.scatter.allocation import Cost, allocation, best_blocks, fewest_repeats, half_width
from orchestrator.analysis.scatter.moderation import KnownVariance, moderated, prior
from orchestrator.analysis.scatter.variance import Components, RepeatScatter, components, median_variance


def scatter(container: float, block: float) -> Components:
    """Variances of a cell whose repeats had ten blocks."""
    repeat = container + block * median_variance(10)
    return Components(0.0, block, container, None, None, repeat, 11, 10, 30)


@pytest.mark.parametrize(("blocks", "share"), [(1, 0.0), (3, 0.05), (5, 0.05), (9, 0.05), (10, 0.2), (40, 0.1)])
def test_a_median_scatters_as_stated(blocks: int, share: float) -> None:
    draw = random.Random(blocks)
    medians = [median(draw.gauss(0, 1) for _ in range(blocks)) for _ in range(4000)]

    assert median_variance(blocks) == pytest.approx(pvariance(medians), rel=share + 0.05)


def test_a_half_width_is_expected_without_bias() -> None:
    """Of cells whose scatter is known from few repeats, the mean of what is expected is that of what comes."""
    draw = random.Random(1)
    deviations = [0.02 * math.exp(draw.gauss(0, 0.6)) for _ in range(600)]
    own = [KnownVariance(stdev(draw.gauss(0, each) for _ in range(5)) ** 2, 4) for each in deviations]
    before = prior(own)
    expected, measured, inside = [], [], 0
    for deviation, known in zip(deviations, own, strict=True):
        reached = half_width(moderated(known, before) or known, 8)
        over = estimate([math.exp(draw.gauss(0, deviation)) for _ in range(8)])
        assert over.high is not None
        expected.append(reached.expected)
        measured.append(over.high / over.value - 1)
        inside += reached.low <= measured[-1] <= reached.high

    assert fmean(expected) / fmean(measured) == pytest.approx(1, abs=0.06)
    assert inside / 600 == pytest.approx(0.9, abs=0.04)


def test_fewest_repeats_are_the_fewest() -> None:
    known = KnownVariance(0.02**2, 11)
    repeats = fewest_repeats(known, 0.01)

    assert repeats is not None
    assert half_width(known, repeats).expected <= 0.01 < half_width(known, repeats - 1).expected
    assert fewest_repeats(KnownVariance(1.0, 11), 0.01) is None


@pytest.mark.parametrize(
    ("of_cell", "cost"),
    [
        (scatter(0.0001, 0.01), Cost(5.0, 1.0, 0.25)),
        (scatter(0.001, 0.001), Cost(5.0, 1.0, 0.25)),
        (scatter(0.0004, 0.02), Cost(30.0, 1.0, 0.25)),
    ],
)
def test_the_cheapest_allocation_is_near_the_formula(of_cell: Components, cost: Cost) -> None:
    """Of numbers that are not whole, that of Kalibera and Jones is the best; whole repeats move it by little."""
    known = KnownVariance(of_cell.repeat, 1000)
    best = allocation(of_cell, known, cost, 0.005, range(1, 101))
    formula = round(min(max(best_blocks(of_cell, cost), 1), 100))
    by_formula = allocation(of_cell, known, cost, 0.005, [formula])

    assert best is not None
    assert by_formula is not None
    assert best.seconds <= by_formula.seconds <= 1.08 * best.seconds


def test_no_scatter_of_containers_asks_for_long_ones() -> None:
    assert best_blocks(scatter(0.0, 0.01), Cost(5.0, 1.0, 0.25)) == math.inf


def test_a_prior_is_that_of_all_cells() -> None:
    """Variances that are all alike are known as one; those that differ are each their own."""
    draw = random.Random(2)
    alike = prior([KnownVariance(stdev(draw.gauss(0, 0.02) for _ in range(4)) ** 2, 3) for _ in range(200)])
    apart = prior(
        [
            KnownVariance(stdev(draw.gauss(0, 0.02 * math.exp(draw.gauss(0, 1))) for _ in range(4)) ** 2, 3)
            for _ in range(200)
        ]
    )

    assert alike is not None
    assert apart is not None
    assert alike.variance == pytest.approx(0.0004, rel=0.15)
    assert alike.degrees > 20
    assert apart.degrees < 4


def test_two_cells_make_no_prior() -> None:
    own = KnownVariance(0.0004, 5)

    assert prior([own, own]) is None
    assert moderated(own, None) == own
    assert moderated(None, None) is None


def repeats(draw: random.Random, level: float, blocks: int) -> RepeatScatter:
    container = level + draw.gauss(0, 0.02)
    rates = [container + draw.gauss(0, 0.05) for _ in range(blocks)]
    return RepeatScatter(math.exp(median(rates)), blocks, stdev(rates) ** 2, 0.3**2, 100)


def test_levels_are_split_as_they_were_drawn() -> None:
    """Steps of 30 % make 3 % of a block of a hundred; blocks have 4 % beyond, containers 2 %, runs 3 %, hosts 10 %."""
    draw = random.Random(3)
    hosts = []
    for _ in range(20):
        host = draw.gauss(0, 0.1)
        levels = [host + draw.gauss(0, 0.03) for _ in range(8)]
        hosts.append([[repeats(draw, level, 10) for _ in range(6)] for level in levels])

    split = components(hosts)

    assert split is not None
    assert split.step == pytest.approx(0.3**2, rel=0.1)
    assert split.block == pytest.approx(0.05**2 - 0.03**2, rel=0.1)
    assert split.container == pytest.approx(0.02**2, rel=0.25)
    assert split.run == pytest.approx(0.03**2, rel=0.3)
    assert split.host == pytest.approx(0.1**2, rel=0.5)


def test_single_repeats_say_nothing() -> None:
    draw = random.Random(4)

    assert components([[[repeats(draw, 0.0, 10)], [repeats(draw, 0.0, 10)]]]) is None


def test_steps_explain_no_more_than_their_blocks() -> None:
    """The pass that times single steps synchronises each of them, which the blocks do not."""
    run = [RepeatScatter(rate, 10, 0.0001, 0.5**2, 10) for rate in (1.0, 1.01, 0.99)]

    split = components([[run]])

    assert split is not None
    assert (split.step, split.block) == (pytest.approx(0.001), pytest.approx(0.0))


@pytest.mark.parametrize("variance", [3e-17, 0.1, 0.9453])
def test_no_variance_is_below_zero(variance: float) -> None:
    """Steps that explain all of a block leave nothing of it, whatever is lost by rounding."""
    run = [RepeatScatter(rate, 3, variance, 100.0, 7) for rate in (1.0, 1.01, 0.99)]

    split = components([[run]])

    assert split is not None
    assert split.block is not None
    assert split.block >= 0
