"""The figures of the tokens of a result. In the mode `generate` a batch of prompts is one request."""

from itertools import accumulate, chain

from orchestrator.analysis.token_times import TokenTimes, token_times
from orchestrator.results.contract import Result
from orchestrator.results.throughput import throughput


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
        return token_times(arrival_s, moments, rate * (after + 1))
    return token_times(arrival_s, moments, rate, sum(first_s) / (sum(first_s) + sum(between_s)))
