"""The nodes of a fleet that ran the same work in rounds, and those that are unlike the others.

No fixed share is an alarm. A node is unlike its sisters if its interval lies wholly outside the range that like nodes
of such a fleet keep to. The interval has the scatter from round to round, and the range that from node to node.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING

from orchestrator.analysis.estimates import CONFIDENCE, bounded, exponential, quantile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FEWEST_NODES = 3
"""Of two nodes that differ, nothing says which is the odd one."""
FEWEST_ROUNDS = 3
_DRAWS = 40_000
"""Fleets of like nodes that are drawn. The share that is beyond a limit for 0.05 then has a standard error of 0.001."""
_AT_ONCE = 1_000_000
"""Numbers drawn at once, which bounds the memory."""
_SEED = 20_011


class Likeness(StrEnum):
    """The judgement of one node."""

    LIKE = "like"
    UNDECIDED = "undecided"
    """Its value is outside the range, and its interval is not."""
    UNLIKE = "unlike"


@dataclass(frozen=True, slots=True)
class NodeFinding:
    """The rate of one node over that of the middle of its fleet."""

    node: str
    likeness: Likeness
    ratio: float
    low: float
    """Lower end of its interval. The intervals of all nodes hold together with the confidence of the judgement."""
    high: float


@dataclass(frozen=True, slots=True)
class FleetJudgement:
    """A fleet, judged by one figure."""

    nodes: tuple[NodeFinding, ...]
    """The nodes that are judged, in their order."""
    rounds: int
    """The rounds that count, which all these nodes have measured."""
    low: float
    """Lower end of the range of like nodes, as a ratio to the middle of the fleet."""
    high: float
    left_out: tuple[str, ...] = ()
    """Nodes that have measured too few of the rounds."""


def judge(
    rates: Mapping[str, Sequence[float | None]], *, figures: int = 1, confidence: float = CONFIDENCE
) -> FleetJudgement | None:
    """Judge the nodes of a fleet by their positive rates in each round, None where a node has none.

    The middle of the fleet is the mean over its core: the nodes nearest to the median, without the farthest quarter.
    The range of like nodes is the middle plus or minus a limit times the standard deviation of the core. `like_limit`
    gives the limit at which, of fleets whose nodes come from one normal distribution, 1 - `confidence` have any node
    outside. It holds whether such nodes differ or not. The interval of a node is Student's t of its differences to the
    core, round by round, so that what a round does to all nodes cancels. Bonferroni's inequality divides the risk among
    the nodes of an interval, and among the `figures` that a fleet is judged by.

    Returns None with fewer than three nodes or three rounds. Sources: Grubbs, "Procedures for detecting outlying
    observations in samples", Technometrics 11 (1969); Tukey and McLaughlin, "Less vulnerable confidence and
    significance procedures for location based on a single sample", Sankhyā A 25 (1963), for trimming with a limit of
    its own. Raises `ValueError` for a rate that is not positive and finite.
    """
    logs = {node: [None if rate is None else _log(rate) for rate in each] for node, each in rates.items()}
    whole, rounds = _complete(logs)
    if len(whole) < FEWEST_NODES:
        return None
    risk = (1 - confidence) / figures
    means = {node: fmean(each) for node, each in whole.items()}
    core = _core(means)
    middle = [fmean(whole[node][number] for node in core) for number in range(rounds)]
    half = like_limit(len(whole), 1 - risk) * stdev(means[node] for node in core)
    width = quantile(rounds - 1, 1 - risk / len(whole)) / math.sqrt(rounds)
    findings = (_finding(node, each, middle, width, half) for node, each in whole.items())
    left_out = tuple(node for node in rates if node not in whole)
    return FleetJudgement(tuple(findings), rounds, exponential(-half), exponential(half), left_out)


def _log(rate: float) -> float:
    if not 0 < rate < math.inf:
        raise ValueError("a rate must be positive and finite")
    return math.log(rate)


def _complete(logs: Mapping[str, Sequence[float | None]]) -> tuple[dict[str, list[float]], int]:
    """Return the values of the rounds that all nodes have, and their number.

    The nodes of the fewest rounds are left out until enough rounds are left.
    """
    nodes = dict(logs)
    while nodes:
        shared = [number for number, of_round in enumerate(zip(*nodes.values(), strict=True)) if None not in of_round]
        if len(shared) >= FEWEST_ROUNDS:
            whole = {node: [each for number in shared if (each := nodes[node][number]) is not None] for node in nodes}
            return whole, len(shared)
        del nodes[min(nodes, key=lambda node: sum(each is not None for each in nodes[node]))]
    return {}, 0


def _core(means: Mapping[str, float]) -> list[str]:
    """Return the nodes of the core, those nearest to the median first."""
    middle = median(means.values())
    return sorted(means, key=lambda node: abs(means[node] - middle))[: _core_size(len(means))]


def _core_size(nodes: int) -> int:
    return nodes - max(1, nodes // 4)


def _finding(node: str, logs: Sequence[float], middle: Sequence[float], width: float, half: float) -> NodeFinding:
    """Return the finding on a node.

    `width` is half of its interval in standard deviations, and `half` that of the range on the logarithm.
    """
    apart = [own - others for own, others in zip(logs, middle, strict=True)]
    mean, error = fmean(apart), width * stdev(apart)
    is_outside, is_clear = abs(mean) > half, abs(mean) - error > half
    likeness = Likeness.UNLIKE if is_clear else Likeness.UNDECIDED if is_outside else Likeness.LIKE
    return NodeFinding(node, likeness, bounded(math.exp(mean)), exponential(mean - error), exponential(mean + error))


@cache
def like_limit(nodes: int, confidence: float) -> float:
    """Return the distance from the middle that the farthest of like nodes keeps to, in standard deviations of the core.

    The distribution depends on the number of nodes alone. It is drawn, with a fixed seed, for want of a formula.
    """
    import numpy as np  # noqa: PLC0415 - takes a fifth of a second, and only this needs it

    farthest = np.concatenate(list(_drawn(nodes)))
    return float(np.quantile(farthest, confidence))


def _drawn(nodes: int) -> "Iterator[npt.NDArray[np.float64]]":
    """Yield the distance of the farthest node of fleets of like nodes."""
    import numpy as np  # noqa: PLC0415 - as above

    generator = np.random.default_rng(_SEED)
    left = _DRAWS
    while left:
        fleets = min(left, max(1, _AT_ONCE // nodes))
        left -= fleets
        means = generator.standard_normal((fleets, nodes))
        from_median = np.abs(means - np.median(means, axis=1, keepdims=True))
        nearest = np.argsort(from_median, axis=1)[:, : _core_size(nodes)]
        core = np.take_along_axis(means, nearest, axis=1)
        farthest = np.abs(means - core.mean(axis=1, keepdims=True)).max(axis=1)
        yield farthest / core.std(axis=1, ddof=1)
