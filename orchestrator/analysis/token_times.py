"""The times of tokens from the moments at which they came, by the definitions of `docs/load/figures.md`."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from orchestrator.analysis.percentiles import quantiles
from orchestrator.modes.parts.early_stopping import requests_for_bound


@dataclass(frozen=True, slots=True)
class TokenTimes:
    """The times of the tokens of one repeat."""

    first_token_s: float
    """Median over the requests, from the arrival of each to its first token."""
    per_token_s: float | None
    """Median over the requests of the mean gap between tokens, without the first; None if none has two tokens."""
    between_p50_s: float | None
    """Median of the gaps between tokens of all requests together."""
    between_p90_s: float | None
    """Their 90th percentile; None for too few gaps to bound it, as of the 99th."""
    between_p99_s: float | None
    """Their 99th percentile; None for too few gaps to bound it."""
    tokens_per_s: float
    """All tokens, the first ones too, over the time of the repeat."""
    prefill: float | None = None
    """The share of the time of all tokens that passed until the first ones; the rest is decoding. None under load."""


def token_times(
    arrival_s: Sequence[float],
    token_s: Sequence[Sequence[float]],
    tokens_per_s: float,
    prefill: float | None = None,
) -> TokenTimes:
    """Return the times of tokens that came at these moments, a sequence for each request in the order of arrival.

    A token counts when it is in the memory of the host. The rate and the share of the prefill are of the whole repeat.
    Raises `ValueError` if there is no request, or one without a token.
    """
    if not arrival_s or not all(token_s) or len(arrival_s) != len(token_s):
        raise ValueError("every request needs an arrival and at least one token")
    gaps = [[late - early for early, late in pairwise(moments)] for moments in token_s]
    per_token = [statistics.fmean(each) for each in gaps if each]
    pooled = sorted(chain.from_iterable(gaps))
    p50, p90, p99 = quantiles(pooled, (0.5, 0.9, 0.99)) if pooled else (None, None, None)
    return TokenTimes(
        first_token_s=statistics.median(
            moments[0] - arrival for arrival, moments in zip(arrival_s, token_s, strict=True)
        ),
        per_token_s=statistics.median(per_token) if per_token else None,
        between_p50_s=p50,
        between_p90_s=p90 if len(pooled) >= requests_for_bound(0.90) else None,
        between_p99_s=p99 if len(pooled) >= requests_for_bound(0.99) else None,
        tokens_per_s=tokens_per_s,
        prefill=prefill,
    )
