"""Percentiles of times for people, each of a tail with its bound or not at all.

The bound is that of MLPerf's early stopping, as in `orchestrator/modes/parts/early_stopping.py`. Of n times, t may be
slow for the largest t for which so few are slow with a probability of at most 1 %, if each is with 1 - share. The t - 1
slowest are discarded, and the slowest one left is the bound.
"""

import math

from benchmarks.timing.measure import percentile

DOUBT = 0.01
TAILS = ((0.9, "p90"), (0.99, "p99"))


def line(times_s, together=1):
    """Return the median and the tails of times that are in seconds, in milliseconds.

    `together` is how many times one generation has. They are slow together, so generations are counted in their place.
    """
    shown, lacking = ["p50 %.3f ms" % (1e3 * percentile(times_s, 0.5))], []
    for share, name in TAILS:
        bound_s = bound(times_s, share, together)
        if bound_s is None:
            lacking.append(name)
        else:
            shown.append("%s %.3f ms (at most %.3f ms)" % (name, 1e3 * percentile(times_s, share), 1e3 * bound_s))
    return ", ".join(shown) + ("; too few for %s" % " and ".join(lacking) if lacking else "")


def bound(times_s, share, together=1):
    """Return the time that a share is shown not to exceed, with 99 % confidence, or None for too few."""
    slow = most_slow(share, len(times_s) // together)
    return sorted(times_s)[-1 - (slow - 1) * together] if slow >= 1 else None


def most_slow(share, count):
    """Return how many of so many times may be slow if a share is shown to be fast, or -1 if none may."""
    slow, passed = -1, 0.0
    while slow < count - 1:
        passed += _exactly(slow + 1, count, 1 - share)
        if passed > DOUBT:
            break
        slow += 1
    return slow


def _exactly(several, count, probability):
    """Return the probability that so many of some independent events happen."""
    ways = math.lgamma(count + 1) - math.lgamma(several + 1) - math.lgamma(count - several + 1)
    return math.exp(ways + several * math.log(probability) + (count - several) * math.log1p(-probability))
