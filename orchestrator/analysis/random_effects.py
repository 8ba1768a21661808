"""Variation within nodes and between them, apart."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NodeVariation:
    """The scatter of a rate, as standard deviations of its logarithm: 0.01 is about one percent."""

    within: float | None
    """From repeat to repeat on one node; None without a node that has two repeats."""
    between: float | None
    """From node to node, beyond what repeats scatter; None with fewer than two nodes, or without `within`."""


def node_variation(nodes: Sequence[Sequence[float]]) -> NodeVariation:
    """Split the scatter of positive values by the nodes that they were measured on.

    It is the one-way random effects model on the logarithms, with the estimates of the analysis of variance: nodes may
    have different numbers of values, and a negative estimate between nodes is 0. Source: Searle, Casella, McCulloch,
    "Variance Components" (1992), chapter 3.6.
    """
    logs = [[math.log(value) for value in values] for values in nodes if values]
    total = sum(map(len, logs))
    if total <= len(logs):
        return NodeVariation(None, None)
    means = [sum(values) / len(values) for values in logs]
    squares = sum((value - mean) ** 2 for values, mean in zip(logs, means, strict=True) for value in values)
    within = squares / (total - len(logs))
    if len(logs) < 2:
        return NodeVariation(math.sqrt(within), None)
    grand = sum(sum(values) for values in logs) / total
    spread = sum(len(values) * (mean - grand) ** 2 for values, mean in zip(logs, means, strict=True)) / (len(logs) - 1)
    size = (total - sum(len(values) ** 2 for values in logs) / total) / (len(logs) - 1)
    return NodeVariation(math.sqrt(within), math.sqrt(max(0.0, (spread - within) / size)))
