"""A test of whether one side fails more often than the other, from counts alone."""

from math import comb


def more_often_by_chance(failed: int, repeats: int, other_failed: int, other_repeats: int) -> float:
    """Return the probability that at least this many of all failures fall to the first side by chance.

    It assumes that both fail equally often, and needs no likelihood of failing: from the number of failures of all
    repeats, the ones that failed are drawn without replacement. It is 1 if nothing failed. Raises `ValueError` if more
    failed than there were.
    Source: Fisher, "The logic of inductive inference", J. Royal Statistical Society 98 (1935), the exact test.
    """
    if not (0 <= failed <= repeats and 0 <= other_failed <= other_repeats):
        raise ValueError(f"{failed} of {repeats} and {other_failed} of {other_repeats}: more failed than there were")
    together = failed + other_failed
    ways = sum(comb(repeats, at) * comb(other_repeats, together - at) for at in range(failed, together + 1))
    return ways / comb(repeats + other_repeats, together)
