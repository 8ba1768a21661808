"""The scatter that several sides have in common, and the comparison that takes it."""

import math

import numpy as np
import pytest

from orchestrator.analysis.comparison import Verdict, compare, looks
from orchestrator.analysis.scatter.block_scatter import block_scatter
from orchestrator.analysis.scatter.contrasts import Scatter, contrast


def test_levels_and_slow_blocks_are_no_scatter() -> None:
    blocks = [[rate * slow for rate in (100.0, 110.0, 90.0)] for slow in (1.0, 0.7, 1.3, 0.9)]

    scatter = block_scatter(blocks)

    assert scatter is not None
    assert scatter.variance == pytest.approx(0.0, abs=1e-20)
    assert scatter.degrees == 6


def test_variance_is_that_of_a_ratio() -> None:
    """Twice that of one side, whatever the levels and the blocks."""
    draw = np.random.default_rng(1)
    logs = 0.02 * draw.standard_normal((2000, 13)) + 0.1 * draw.standard_normal((2000, 1)) + np.arange(13)

    scatter = block_scatter(np.exp(logs).tolist())

    assert scatter is not None
    assert math.sqrt(scatter.variance) == pytest.approx(0.02 * math.sqrt(2), rel=0.02)


@pytest.mark.parametrize("blocks", [[], [[1.0, 2.0]], [[1.0], [2.0]]])
def test_too_few_blocks_or_sides_have_no_scatter(blocks: list[list[float]]) -> None:
    assert block_scatter(blocks) is None


def test_blocks_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        block_scatter([[1.0, 2.0], [1.0, 2.0, 3.0]])


def test_a_common_scatter_narrows_the_interval() -> None:
    baseline, candidate = [1.0, 1.01, 0.99, 1.0], [1.1, 1.09, 1.1, 1.12]
    common = Scatter(variance=0.0002, degrees=36)

    alone = contrast(candidate, baseline, paired=True)
    pooled = contrast(candidate, baseline, paired=True, scatter=common)

    assert pooled.value == alone.value
    assert (pooled.degrees(), alone.degrees()) == (36, 3)
    assert pooled.error() == pytest.approx(math.sqrt(0.0002 / 4))
    assert pooled.half_width(0.999) < alone.half_width(0.999)


def test_pairs_that_scatter_more_keep_their_own() -> None:
    baseline, candidate = [1.0, 1.0, 1.0, 1.0], [1.3, 0.8, 1.1, 0.9]

    own = contrast(candidate, baseline, paired=True, scatter=Scatter(variance=0.0002, degrees=36))

    assert own == contrast(candidate, baseline, paired=True)


def test_many_pairs_need_no_common_scatter() -> None:
    values = [1.0, 1.02, 0.98, 1.01, 0.99]

    assert contrast(values, [1.0] * 5, paired=True, scatter=Scatter(1e-4, 4)).degrees() == 4
    assert contrast(values, [1.0] * 5, paired=True, scatter=Scatter(1e-4, 3)).common_degrees is None


def test_a_common_scatter_decides_after_few_blocks() -> None:
    look = looks(13, blocks=(4, 48), power=1)[0]
    baseline, candidate = [1.0, 1.01, 0.99, 1.0], [0.9, 0.92, 0.92, 0.9]

    def verdict(scatter: Scatter | None) -> Verdict:
        return compare(
            baseline, candidate, tolerance=0.02, higher_is_better=True, confidence=look.confidence,
            equivalence=look.equivalence, paired=True, scatter=scatter,
        ).verdict  # fmt: skip

    assert verdict(None) is Verdict.INCONCLUSIVE
    assert verdict(Scatter(2 * 0.01**2, 36)) is Verdict.SLOWER


def test_an_interval_of_a_common_scatter_holds_the_truth() -> None:
    """Also where the number of later blocks follows from the results of the first ones."""
    draw = np.random.default_rng(2)
    held = 0
    for _ in range(2000):
        first = np.exp(0.02 * draw.standard_normal((4, 6)))
        scatter = block_scatter(first.tolist())
        further = 20 if abs(math.log(first[:, 1].mean() / first[:, 0].mean())) > 0.01 else 2
        both = np.vstack([first[:, :2], np.exp(0.02 * draw.standard_normal((further, 2)))])
        apart = contrast(both[:, 1].tolist(), both[:, 0].tolist(), paired=True, scatter=scatter)
        held += abs(apart.value) <= apart.half_width(0.95)

    assert held / 2000 >= 0.94


def test_spending_may_follow_another_power() -> None:
    early, late = looks(1, blocks=(4, 8), power=1)

    assert (early.equivalence, late.equivalence) == (pytest.approx(0.025), pytest.approx(0.025))
