"""The parts of the variance within runs and from run to run."""

import random

import pytest

from orchestrator.regression.judge.judge import scatter
from tests.unit.regression.stored_runs.measured_runs import nights


def test_scatter_within_and_between_nights_is_told_apart() -> None:
    generator = random.Random(1)
    found = scatter(nights(generator, 400, 0.02, 0.01), nights(generator, 400, 0.02, 0.01))

    assert found.within == pytest.approx(0.01, rel=0.1)
    assert found.between == pytest.approx(0.02, rel=0.1)


def test_quiet_nights_have_little_scatter_of_their_own() -> None:
    """Nights that differ by no more than their repeats explain have next to no scatter of their own."""
    generator = random.Random(2)
    found = scatter(nights(generator, 400, 0.0, 0.02), nights(generator, 400, 0.0, 0.02))

    assert found.within == pytest.approx(0.02, rel=0.1)
    assert found.between is not None
    assert found.between < 0.004


def test_one_night_or_repeat_leaves_scatter_unknown() -> None:
    """One night reports no scatter between nights, and one repeat reports no scatter within them."""
    single = scatter([[1.0, 1.1]], [[1.0, 1.2]])
    alone = scatter([[1.0], [1.1]], [[1.0], [1.2]])

    assert single.within is not None
    assert single.between is None
    assert alone.within is None
    assert alone.between is not None
