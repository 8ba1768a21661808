"""The lasting changes of level in a series of runs, with their sizes."""

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
"""Values on either side of a change; what lasts for one run or two is a spike."""
LARGEST_P = 0.005
"""The largest p-value of a change that is reported."""
_WINDOW = 5
"""The window of the running median, which two spikes in a row do not move."""
_SPIKE = 7.0
"""Distance of a spike from the running median, in robust standard deviations."""


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """One lasting change of level."""

    index: int
    """Index of the first value after the change."""
    before: float
    """Geometric mean from the previous change to this one, without spikes, in the unit of the values."""
    after: float
    """Geometric mean from this change to the next, likewise."""
    p_value: float
    """Probability of a change at least this clear anywhere in a series of this length that has none."""


def change_points(values: Sequence[float], *, min_effect: float = 0.02) -> list[ChangePoint]:
    """Return the lasting changes of level in a series, which has one value a run in order.

    The method works on logarithms. A value far from the median of the five around it is a spike, and is left out.
    Candidates are the best splits of seeded intervals, the narrowest first. Each is placed by least squares between its
    neighbours. Then the least sure are dropped until every p-value is at most `LARGEST_P`. It comes from a two-sample t
    test, times the number of places that were searched. Finally the smallest are dropped until every effect is at least
    `min_effect` (0.02 stands for the factor 1.02, up or down). A change shows from its third run on. The time grows
    as n log n with the number of values.

    The caller leaves out runs without a value. Raises `ValueError` if a value is not positive and finite, or if
    `min_effect` is negative.
    Sources: Hampel, "The influence curve and its role in robust estimation", J. American Statistical Association 69
    (1974); Kovács, Bühlmann, Li and Munk, "Seeded binary segmentation", Biometrika 110 (2023); Baranowski, Chen and
    Fryzlewicz, "Narrowest-over-threshold detection", J. Royal Statistical Society B 81 (2019).
    """
    import numpy as np  # noqa: PLC0415 - takes a fifth of a second, and only commands that read a series need it

    if not 0 <= min_effect <= sys.float_info.max:
        raise ValueError(f"a smallest effect is 0 or a share such as 0.02, not {min_effect}")
    if len(values):
        log_mean(list(values))
    logs = np.log([float(value) for value in values])
    kept = np.flatnonzero(~_spikes(logs))
    if len(kept) < 2 * SHORTEST:
        return []
    levels = _Levels(logs[kept])
    changes = levels.placed(_narrowest_over(levels))
    changes = levels.sure(changes, math.log1p(min_effect))
    means, p_values = levels.means(changes), levels.p_values(changes)
    return [
        ChangePoint(int(kept[place]), exponential(before), exponential(after), p_value)
        for place, before, after, p_value in zip(changes, means, means[1:], p_values, strict=False)
    ]


def _spikes(logs: "Floats") -> "npt.NDArray[np.bool_]":
    """Return true for the values far from the median of the five around them.

    The first two and the last two values are compared with the median at their end.
    """
    import numpy as np  # noqa: PLC0415 - as above

    if len(logs) < _WINDOW:
        return np.zeros(len(logs), dtype=bool)
    inner = np.median(np.lib.stride_tricks.sliding_window_view(logs, _WINDOW), axis=1)
    distance = np.abs(logs - np.pad(inner, _WINDOW // 2, mode="edge"))
    return distance > max(_SPIKE * 1.4826 * float(np.median(distance)), _ROUNDING)


_ROUNDING = 1e-12
"""Logarithms that differ by less are equal."""


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
        """Return the best split of each interval of one length, and the distance of its means.

        The distance is in standard deviations.
        """
        import numpy as np  # noqa: PLC0415 - as above

        left = np.arange(SHORTEST, length - SHORTEST + 1)
        right = length - left
        first, last = self.sums[starts][:, None], self.sums[starts + length][:, None]
        middle = self.sums[starts[:, None] + left]
        apart = np.abs((middle - first) / left - (last - middle) / right) * np.sqrt(left * right / length)
        best = np.argmax(apart, axis=1)
        return starts + left[best], apart[np.arange(len(starts)), best]

    def placed(self, changes: Sequence[int], places: Iterable[int] | None = None) -> list[int]:
        """Return the changes, placed by least squares between their neighbours.

        `places` limits this to some of the changes.
        """
        import numpy as np  # noqa: PLC0415 - as above

        placed = list(changes)
        moving = range(len(placed)) if places is None else [each for each in places if 0 <= each < len(placed)]
        for _ in range(3):
            before = list(placed)
            for place in moving:
                start = placed[place - 1] if place else 0
                end = placed[place + 1] if place + 1 < len(placed) else self.size
                if end - start >= 2 * SHORTEST:
                    placed[place] = int(self.splits(np.array([start]), end - start)[0][0])
            if placed == before:
                break
        return placed

    def means(self, changes: Sequence[int]) -> list[float]:
        """Return the means of the logarithms between the changes."""
        import numpy as np  # noqa: PLC0415 - as above

        ends = np.array([0, *changes, self.size])
        offset = float(np.mean(self.logs))
        return [float(each) for each in np.diff(self.sums[ends]) / np.diff(ends) + offset]

    def p_values(self, changes: Sequence[int]) -> list[float]:
        """Return the p-value of each change, times the number of places where it could have been.

        A t test compares the stretches before and after the change. The variance is that of all values around the
        levels of their own stretches.
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
        """Return the changes that remain after the least sure and then the smallest are dropped.

        The others are placed again each time.
        """
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
    """Return the splits of the narrowest intervals that show one, at most one for each interval.

    The intervals have rising lengths, and each overlaps the next by three quarters.
    """
    import numpy as np  # noqa: PLC0415 - as above
    from scipy.special import ndtri  # noqa: PLC0415 - half a second, as in estimates.quantile

    # This is a little below the final threshold, where a change has all the values up to its neighbours.
    threshold = -0.8 * float(ndtri(LARGEST_P / 2 / levels.size)) * levels.scale
    lengths = [2 * SHORTEST]
    while lengths[-1] < levels.size:
        lengths.append(min(levels.size, math.ceil(lengths[-1] * math.sqrt(2))))
    splits: list[int] = []
    for length in lengths:
        shift = max(1, length // 4)
        starts = np.unique(np.append(np.arange(0, levels.size - length + 1, shift), levels.size - length))
        places, apart = levels.splits(starts, length)
        over = np.flatnonzero(apart > threshold)
        for each in over[np.argsort(-apart[over], kind="stable")]:
            if bisect(splits, starts[each]) == bisect(splits, starts[each] + length - 1):
                insort(splits, int(places[each]))
    return splits
