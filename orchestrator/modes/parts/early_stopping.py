"""MLPerf's early stopping: how many requests show that a share of them is fast enough, and which latency they show.

Source: MLCommons, "MLPerf Inference Rules", appendix "Early Stopping Criterion"
(https://github.com/mlcommons/inference_policies/blob/master/inference_rules.adoc), with its tolerance of 0 and its
confidence of 99 %. Requests are taken as independent, which those of one server are not quite.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

CONFIDENCE: Final = 0.99


@lru_cache(maxsize=4096)
def least_requests(share: float, slow: int) -> int:
    """Return the fewest requests that show a share to be in time if `slow` of them are not.

    Of a server that is in time for just that share, so many requests have so few slow ones with a probability of at
    most 1 %. They are 459 for the 99th percentile with none that is slow, and 662 with one.
    """
    below, enough = slow, max(1, slow + 1)
    while not _shows(share, enough, slow):
        below, enough = enough, 2 * enough
    while enough - below > 1:
        middle = (below + enough) // 2
        if _shows(share, middle, slow):
            enough = middle
        else:
            below = middle
    return enough


@lru_cache(maxsize=4096)
def most_slow(share: float, requests: int) -> int:
    """Return the most slow requests with which so many show a share to be in time, or -1 if even none is too many."""
    if not _shows(share, requests, 0):
        return -1
    fine, too_many = 0, requests
    while too_many - fine > 1:
        middle = (fine + too_many) // 2
        if _shows(share, requests, middle):
            fine = middle
        else:
            too_many = middle
    return fine


def bound(latencies_s: Sequence[float], share: float) -> float | None:
    """Return the latency that a percentile is shown not to exceed, or None for too few requests.

    As the rules say, of t requests that may be slow the t - 1 slowest are discarded, and the slowest one left is
    reported. At least one must be one that may be slow.
    """
    slow = most_slow(share, len(latencies_s))
    return sorted(latencies_s)[-slow] if slow >= 1 else None


def requests_for_bound(share: float) -> int:
    """Return the fewest requests for which there is a bound: 64 for the 90th percentile, 662 for the 99th."""
    return least_requests(share, 1)


def _shows(share: float, requests: int, slow: int) -> bool:
    return slow < requests and _at_most(slow, requests, 1 - share) <= 1 - CONFIDENCE


def _at_most(most: int, of: int, probability: float) -> float:
    """Return the probability that at most so many of some independent events happen."""
    known = math.lgamma(of + 1)
    one, none = math.log(probability), math.log1p(-probability)
    return math.fsum(
        math.exp(known - math.lgamma(count + 1) - math.lgamma(of - count + 1) + count * one + (of - count) * none)
        for count in range(most + 1)
    )
