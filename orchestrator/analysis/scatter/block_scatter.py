"""The scatter that several sides have in common, from blocks that hold each of them once."""

import math
from collections.abc import Sequence

from orchestrator.analysis.scatter.contrasts import Scatter


def block_scatter(blocks: Sequence[Sequence[float]]) -> Scatter | None:
    """Return the scatter of the ratio of two sides in one block, pooled over all sides.

    `blocks` has a row for each block, with a positive value of every side in one order. Blocks and sides are fitted to
    the logarithms, so that neither the speed of a side nor that of the host in a block counts as scatter. With b blocks
    of s sides, (b - 1) × (s - 1) degrees of freedom are left. None if that is nothing.

    A normal residual is independent of the means of the sides over the same blocks, and of all later blocks. A t test
    with this scatter is therefore exact for any number of later blocks, also if that number depends on the results.
    Raises `ValueError` if the blocks differ in length.
    Sources: Stein, "A two-sample test for a linear hypothesis whose power is independent of the variance", Annals of
    Mathematical Statistics 16 (1945); Scheffé, The Analysis of Variance (1959), for the two-way layout.
    """
    degrees = (len(blocks) - 1) * (len(blocks[0]) - 1) if blocks else 0
    if degrees <= 0:
        return None
    logs = [[math.log(value) for value in block] for block in blocks]
    of_blocks = [_mean(block) for block in logs]
    of_sides = [_mean(side) for side in zip(*logs, strict=True)]
    of_all = _mean(of_blocks)
    residuals = (
        log - of_block - of_side + of_all
        for block, of_block in zip(logs, of_blocks, strict=True)
        for log, of_side in zip(block, of_sides, strict=True)
    )
    return Scatter(2 * math.fsum(residual**2 for residual in residuals) / degrees, degrees)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
