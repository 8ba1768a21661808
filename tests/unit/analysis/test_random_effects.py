"""Variation within nodes and between them."""

import math

import pytest

from orchestrator.analysis.scatter.random_effects import NodeVariation, node_variation


def rates(*logs: float) -> list[float]:
    return [math.exp(log) for log in logs]


def test_nodes_that_differ_have_variation_between() -> None:
    """Computed by hand: within = 0.0002 / 2, between = (0.08 - 0.0001) / 2 with two values a node."""
    found = node_variation([rates(-0.01, 0.0), rates(0.19, 0.20)])

    assert found.within == pytest.approx(math.sqrt(0.00005))
    assert found.between == pytest.approx(math.sqrt((0.04 - 0.00005) / 2))


def test_equal_nodes_have_none_between() -> None:
    """An estimate below zero is zero."""
    assert node_variation([rates(-0.1, 0.1), rates(-0.1, 0.1)]) == NodeVariation(pytest.approx(math.sqrt(0.02)), 0.0)


def test_unequal_numbers_of_repeats_weigh_as_they_should() -> None:
    """With sizes 1 and 3 the mean size of the estimate is 4 - 10/4 = 1.5."""
    found = node_variation([rates(0.0), rates(0.1, 0.2, 0.3)])

    within = 0.02 / 2
    spread = 0.15**2 + 3 * 0.05**2
    assert found.within == pytest.approx(math.sqrt(within))
    assert found.between == pytest.approx(math.sqrt((spread - within) / 1.5))


def test_too_little_says_nothing() -> None:
    assert node_variation([]) == NodeVariation(None, None)
    assert node_variation([[1.0], [2.0]]) == NodeVariation(None, None)
    assert node_variation([[1.0, 1.0], []]) == NodeVariation(0.0, None)
