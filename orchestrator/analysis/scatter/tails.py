"""Heavy tails: a few slow repeats make an estimated variance less certain than its number of repeats says."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Final

LEAST_VALUES: Final = 20
"""Values of all groups together that say something of their tails."""
MOST_EXCESS: Final = 30.0
_LEAST_OF_GROUP = 4


def excess_kurtosis(groups: Iterable[Sequence[float]]) -> float:
    """Return the excess kurtosis that groups of values have in common: 0 for normal values and for too few.

    The groups may differ in mean and variance. The fourth cumulant and the fourth power of the deviation are each
    estimated without bias for every group, and averaged in units of its own variance. A light tail counts as normal.
    Source of the estimates: R. A. Fisher, "Moments and product moments of sampling distributions", Proceedings of the
    London Mathematical Society 30 (1930).
    """
    known = [_ratios(values) for values in groups if len(values) >= _LEAST_OF_GROUP and min(values) < max(values)]
    count = sum(size for _, _, size in known)
    if count < LEAST_VALUES:
        return 0.0
    cumulant = sum(each * size for each, _, size in known)
    power = sum(each * size for _, each, size in known)
    return min(max(cumulant / power, 0.0), MOST_EXCESS) if power > 0 else MOST_EXCESS


def _ratios(values: Sequence[float]) -> tuple[float, float, int]:
    """Return the fourth cumulant and the fourth power of the deviation over the squared variance, and the size."""
    size, mean = len(values), fmean(values)
    squares = sum((value - mean) ** 2 for value in values)
    fourth = sum((value - mean) ** 4 for value in values)
    cumulant = size * ((size + 1) * fourth - 3 * (size - 1) * squares**2 / size)
    cumulant /= (size - 1) * (size - 2) * (size - 3) * (squares / (size - 1)) ** 2
    return cumulant, (1 - cumulant / size) * (size - 1) / (size + 1), size


def effective_degrees(degrees: float, excess: float) -> float:
    """Return the degrees of freedom of a normal variance that is as uncertain as one of values with such tails.

    Source: O'Neill, "Some useful moment results in sampling problems", The American Statistician 68 (2014).
    """
    return 2 / (2 / degrees + excess / (degrees + 1))
