"""The figures of the tokens of a result. In the mode `generate` a batch of prompts is one request."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, chain

from orchestrator.analysis.load.token_times import TokenTimes, token_times
from orchestrator.results.contract import Result
from orchestrator.results.parts.requests import RequestMoments
from orchestrator.results.throughput import throughput

_ROUNDING_S = 1e-6
"""The largest error of a moment. A generation takes longer."""


def generation_times(result: Result) -> TokenTimes | None:
    """Return the figures of a result that holds times of tokens, or None.

    Its rate is that of its blocks, in which the tokens of every prompt of a batch count, or under load of its requests.
    """
    stored = result.generation
    if stored is None:
        return None
    first_s, between_s = stored.first_token_s, stored.between_tokens_s
    after = len(between_s) // len(first_s)
    gaps = [between_s[number * after : (number + 1) * after] for number in range(len(first_s))]
    moments = [tuple(accumulate(chain((first,), each))) for first, each in zip(first_s, gaps, strict=True)]
    arrival_s, rate = [0.0] * len(first_s), throughput(result, epochs=False)
    if result.requests is not None:
        times = token_times(arrival_s, moments, rate * (after + 1), batches=[*_batches(result.requests)])
        return replace(times, first_token_s=None) if result.requests.are_at_once else times
    return token_times(arrival_s, moments, rate, sum(first_s) / (sum(first_s) + sum(between_s)))


def _batches(requests: RequestMoments) -> Iterator[int]:
    """Yield the number of requests of each batch. Those of one began together, and they are in order."""
    begun_s, size = -1.0, 0
    for arrival_s, waited_s in zip(requests.arrival_s, requests.waited_s, strict=True):
        if size and arrival_s + waited_s - begun_s > _ROUNDING_S:
            yield size
            size = 0
        begun_s, size = arrival_s + waited_s, size + 1
    yield size
