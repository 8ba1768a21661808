"""The scatter inside groups and from group to group, apart: nodes, runs, containers."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from statistics import fmean, pvariance


@dataclass(frozen=True, slots=True)
class OneWay:
    """The scatter of positive values, as variances of their logarithm: 0.0001 is about one percent squared."""

    within: float | None
    """From value to value of one group; None without a group that has two values."""
    between: float | None
    """From group to group, beyond what values scatter; None with fewer than two groups.

    Without `within`, it holds the scatter of the values too.
    """
    degrees: int
    """Degrees of freedom of `within`."""


def one_way(families: Iterable[Sequence[Sequence[float]]]) -> OneWay:
    """Split the scatter of positive values by their groups, pooled over families whose groups have one mean.

    It is the one-way random effects model on the logarithms, with the estimates of the analysis of variance: groups may
    have different numbers of values, and a negative estimate between groups is 0. Sums of squares, their degrees of
    freedom and the weights of group sizes add up over the families. Source: Searle, Casella, McCulloch, "Variance
    Components" (1992), chapter 3.6.
    """
    inside = among = sizes = 0.0
    degrees = degrees_among = 0
    for family in families:
        logs = [[math.log(value) for value in values] for values in family if values]
        if not logs:
            continue
        total = sum(map(len, logs))
        means = [mean for values in logs for mean in repeat(fmean(values), len(values))]
        inside += sum(len(values) * pvariance(values) for values in logs)
        among += total * pvariance(means)
        sizes += total - sum(len(values) ** 2 for values in logs) / total
        degrees += total - len(logs)
        degrees_among += len(logs) - 1
    within = inside / degrees if degrees else None
    if not degrees_among:
        return OneWay(within, None, degrees)
    size = sizes / degrees_among
    between = max(0.0, among / size / degrees_among - (within or 0.0) * (1 / size))
    return OneWay(within, between, degrees)


@dataclass(frozen=True, slots=True)
class NodeVariation:
    """The scatter of a rate, as standard deviations of its logarithm: 0.01 is about one percent."""

    within: float | None
    """From repeat to repeat on one node; None without a node that has two repeats."""
    between: float | None
    """From node to node, beyond what repeats scatter; None with fewer than two nodes, or without `within`."""


def node_variation(nodes: Sequence[Sequence[float]]) -> NodeVariation:
    """Split the scatter of positive values by the nodes that they were measured on."""
    split = one_way([nodes])
    if split.within is None:
        return NodeVariation(None, None)
    return NodeVariation(math.sqrt(split.within), None if split.between is None else math.sqrt(split.between))
