"""Where a series of nights changed its level for good, and by how much."""

import math
import sys
from bisect import bisect, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.analysis.estimates import exponential, log_mean

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

SHORTEST = 3
"""Values on either side of a change: what lasts for one night or two is a spike."""
LARGEST_P = 0.005
"""Of a change that is reported."""
_WINDOW = 5
"""Of the running median, which two spikes beside each other do not move."""
_SPIKE = 7.0
"""Robust standard deviations from the running median."""


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """One lasting change of level."""

    index: int
    """Of the first value after the change."""
    before: float
    """Geometric mean from the change before to this one, without spikes; in the unit of the values."""
    after: float
    """The same, from this change to the next."""
    p_value: float
    """Probability of a change as sure as this anywhere in a series of this length that has none."""


def change_points(values: Sequence[float], *, min_effect: float = 0.02) -> list[ChangePoint]:
    """Find the lasting changes of level in a series, one value a night, in its order.

    Works on logarithms. A value far from the median of the five around it is a spike, and is left out.
    Candidates are the best splits of seeded intervals, the narrowest first; each is placed by least squares between
    its neighbours; then the least sure are dropped until all have a two-sample t test, multiplied by the number of
    places that were searched, at or below `LARGEST_P`, and the smallest until all are at least `min_effect`
    (0.02: by the factor 1.02, up or down). A change shows from its third night on. Takes n log n for n values.

    Nights without a value are left out by the caller. Raises `ValueError` where a value is not positive and finite,
    or `min_effect` is negative.
    Sources: Hampel, "The influence curve and its role in robust estimation", J. American Statistical Association 69
    (1974); Kovács, Bühlmann, Li and Munk, "Seeded binary segmentation", Biometrika 110 (2023); Baranowski, Chen and
    Fryzlewicz, "Narrowest-over-threshold detection", J. Royal Statistical Society B 81 (2019).
    """
    import numpy as np  # noqa: PLC0415 - a fifth of a second, which no command should pay that reads no series

    if not 0 <= min_effect <= sys.float_info.max:
        raise ValueError(f"a smallest effect is 0 or a share such as 0.02, not {min_effect}")
    if len(values):
        log_mean(list(values))
    logs = np.log([float(value) for value in values])
    nights = np.flatnonzero(~_spikes(logs))
    if len(nights) < 2 * SHORTEST:
        return []
    levels = _Levels(logs[nights])
    changes = levels.placed(_narrowest_over(levels))
    changes = levels.sure(changes, math.log1p(min_effect))
    means, p_values = levels.means(changes), levels.p_values(changes)
    return [
        ChangePoint(int(nights[place]), exponential(before), exponential(after), p_value)
        for place, before, after, p_value in zip(changes, means, means[1:], p_values, strict=False)
    ]


def _spikes(logs: "Floats") -> "npt.NDArray[np.bool_]":
    """Which values are far from the median of the five around them; of the first and last two, those of the end."""
    import numpy as np  # noqa: PLC0415 - as above

    if len(logs) < _WINDOW:
        return np.zeros(len(logs), dtype=bool)
    inner = np.median(np.lib.stride_tricks.sliding_window_view(logs, _WINDOW), axis=1)
    distance = np.abs(logs - np.pad(inner, _WINDOW // 2, mode="edge"))
    return distance > max(_SPIKE * 1.4826 * float(np.median(distance)), _ROUNDING)


_ROUNDING = 1e-12
"""Of logarithms: below it, values are equal."""


class _Levels:
    """A series of logarithms with its running sums, from which the mean of any stretch follows at once."""

    def __init__(self, logs: "Floats") -> None:
        import numpy as np  # noqa: PLC0415 - as above

        self.logs, self.size = logs, len(logs)
        centered = logs - np.mean(logs)
        self.sums = np.concatenate([[0.0], np.cumsum(centered)])
        differences = np.abs(np.diff(logs))
        self.scale = max(1.4826 / math.sqrt(2) * float(np.median(differences)), _ROUNDING)

    def splits(self, starts: "npt.NDArray[np.intp]", length: int) -> "tuple[npt.NDArray[np.intp], Floats]":
        """The best split of each interval of one length, and how far its means lie apart in standard deviations."""
        import numpy as np  # noqa: PLC0415 - as above

        left = np.arange(SHORTEST, length - SHORTEST + 1)
        right = length - left
        first, last = self.sums[starts][:, None], self.sums[starts + length][:, None]
        middle = self.sums[starts[:, None] + left]
        apart = np.abs((middle - first) / left - (last - middle) / right) * np.sqrt(left * right / length)
        best = np.argmax(apart, axis=1)
        return starts + left[best], apart[np.arange(len(starts)), best]

    def placed(self, changes: Sequence[int], places: Iterable[int] | None = None) -> list[int]:
        """Each change, or those at some places among them, where least squares put it between its neighbours."""
        import numpy as np  # noqa: PLC0415 - as above

        found = list(changes)
        moving = range(len(found)) if places is None else [each for each in places if 0 <= each < len(found)]
        for _ in range(3):
            before = list(found)
            for place in moving:
                start = found[place - 1] if place else 0
                end = found[place + 1] if place + 1 < len(found) else self.size
                if end - start >= 2 * SHORTEST:
                    found[place] = int(self.splits(np.array([start]), end - start)[0][0])
            if found == before:
                break
        return found

    def means(self, changes: Sequence[int]) -> list[float]:
        """Of the logarithms, between the changes."""
        import numpy as np  # noqa: PLC0415 - as above

        ends = np.array([0, *changes, self.size])
        offset = float(np.mean(self.logs))
        return [float(each) for each in np.diff(self.sums[ends]) / np.diff(ends) + offset]

    def p_values(self, changes: Sequence[int]) -> list[float]:
        """Of a t test between the stretches before and after each change, times the places where it could have been.

        The variance is that of all values around the levels of their own stretches.
        """
        import numpy as np  # noqa: PLC0415 - as above
        from scipy.special import stdtr  # noqa: PLC0415 - half a second, as in estimates.quantile

        if not changes:
            return []
        counts = np.diff([0, *changes, self.size])
        means = np.array(self.means(changes))
        degrees = self.size - len(counts)
        rest = self.logs - np.repeat(means, counts)
        deviation = max(math.sqrt(float(np.sum(rest**2)) / degrees), _ROUNDING)
        distances = np.abs(np.diff(means)) / deviation / np.sqrt(1 / counts[1:] + 1 / counts[:-1])
        return [min(1.0, float(each)) for each in 2 * self.size * stdtr(degrees, -distances)]

    def sure(self, changes: list[int], smallest: float) -> list[int]:
        """The changes that are left when the least sure, then the smallest, are dropped and the others placed anew."""
        import numpy as np  # noqa: PLC0415 - as above

        while changes:
            p_values, effects = self.p_values(changes), np.abs(np.diff(self.means(changes)))
            worst = int(np.argmax(p_values))
            if p_values[worst] <= LARGEST_P:
                worst = int(np.argmin(effects))
                if effects[worst] >= smallest:
                    break
            changes = self.placed([*changes[:worst], *changes[worst + 1 :]], (worst - 1, worst))
        return changes


def _narrowest_over(levels: _Levels) -> list[int]:
    """Splits of the narrowest intervals that show one, no two of one interval.

    Intervals of rising lengths, each overlapping the next by three quarters.
    """
    import numpy as np  # noqa: PLC0415 - as above
    from scipy.special import ndtri  # noqa: PLC0415 - half a second, as in estimates.quantile

    # A little below what is asked for in the end: there a change has all the values up to its neighbours.
    threshold = -0.8 * float(ndtri(LARGEST_P / 2 / levels.size)) * levels.scale
    lengths = [2 * SHORTEST]
    while lengths[-1] < levels.size:
        lengths.append(min(levels.size, math.ceil(lengths[-1] * math.sqrt(2))))
    found: list[int] = []
    for length in lengths:
        shift = max(1, length // 4)
        starts = np.unique(np.append(np.arange(0, levels.size - length + 1, shift), levels.size - length))
        places, apart = levels.splits(starts, length)
        over = np.flatnonzero(apart > threshold)
        for each in over[np.argsort(-apart[over], kind="stable")]:
            if bisect(found, starts[each]) == bisect(found, starts[each] + length - 1):
                insort(found, int(places[each]))
    return found
