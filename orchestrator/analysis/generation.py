"""The figures of the tokens of a result of the mode `generate`, in which a batch of prompts is one request."""

from dataclasses import replace
from itertools import accumulate, chain

from orchestrator.analysis.token_times import TokenTimes, token_times
from orchestrator.results.contract import Result
from orchestrator.results.throughput import throughput


def generation_times(result: Result) -> TokenTimes | None:
    """Return the figures of a result that holds times of tokens, or None.

    Its rate is that of its blocks, in which the tokens of every prompt of a batch count.
    """
    stored = result.generation
    if stored is None:
        return None
    first_s, between_s = stored.first_token_s, stored.between_tokens_s
    after = len(between_s) // len(first_s)
    gaps = [between_s[number * after : (number + 1) * after] for number in range(len(first_s))]
    moments = [tuple(accumulate(chain((first,), each))) for first, each in zip(first_s, gaps, strict=True)]
    times = token_times([0.0] * len(first_s), moments)
    spent_s = sum(first_s) + sum(between_s)
    return replace(times, tokens_per_s=throughput(result, epochs=False), prefill=sum(first_s) / spent_s)
