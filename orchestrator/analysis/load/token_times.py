"""The times of tokens from the moments at which they came, by the definitions of `docs/load/figures.md`."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from orchestrator.analysis.percentiles import quantiles
from orchestrator.modes.parts.early_stopping import most_slow


@dataclass(frozen=True, slots=True)
class TokenTimes:
    """The times of the tokens of one repeat."""

    first_token_s: float | None
    """Median over the requests, from the arrival of each to its first token; None if all of them arrived at once."""
    per_token_s: float | None
    """Median over the requests of the mean gap between tokens, without the first; None if none has two tokens."""
    between_p50_s: float | None
    """Median of the gaps between tokens of all requests together."""
    between_p90_s: float | None
    """Their 90th percentile; None for too few generations to bound it, as of the 99th."""
    between_p99_s: float | None
    """Their 99th percentile; None for too few generations to bound it."""
    tokens_per_s: float
    """All tokens, the first ones too, over the time of the repeat."""
    prefill: float | None = None
    """The share of the time of all tokens that passed until the first ones; the rest is decoding. None under load."""
    between_p90_bound_s: float | None = None
    """The gap that 90 % are shown not to exceed, with 99 % confidence; None for too few generations, as of the 99th."""
    between_p99_bound_s: float | None = None
    """The gap that 99 % are shown not to exceed, with 99 % confidence; None for too few generations."""


def token_times(
    arrival_s: Sequence[float],
    token_s: Sequence[Sequence[float]],
    tokens_per_s: float,
    prefill: float | None = None,
    batches: Sequence[int] | None = None,
) -> TokenTimes:
    """Return the times of tokens that came at these moments, a sequence for each request in the order of arrival.

    A token counts when it is in the memory of the host. The rate and the share of the prefill are of the whole repeat.
    `batches` has the number of requests of each generation that answers several, which share their gaps; without it,
    each request has a generation of its own.
    Raises `ValueError` if there is no request, or one without a token, or if batches are of another number of requests.
    """
    if not arrival_s or not all(token_s) or len(arrival_s) != len(token_s):
        raise ValueError("every request needs an arrival and at least one token")
    generations = [1] * len(token_s) if batches is None else batches
    if sum(generations) != len(token_s):
        raise ValueError(f"batches of {sum(generations)} requests, of {len(token_s)}")
    gaps = [[late - early for early, late in pairwise(moments)] for moments in token_s]
    per_token = [statistics.fmean(each) for each in gaps if each]
    pooled = sorted(chain.from_iterable(gaps))
    fewest = min(generations) * min(map(len, gaps))
    p90_bound_s, p99_bound_s = (_bound(pooled, len(generations), fewest, share) for share in (0.90, 0.99))
    p50, p90, p99 = quantiles(pooled, (0.5, 0.9, 0.99)) if pooled else (None, None, None)
    return TokenTimes(
        first_token_s=statistics.median(
            moments[0] - arrival for arrival, moments in zip(arrival_s, token_s, strict=True)
        ),
        per_token_s=statistics.median(per_token) if per_token else None,
        between_p50_s=p50,
        between_p90_s=None if p90_bound_s is None else p90,
        between_p99_s=None if p99_bound_s is None else p99,
        tokens_per_s=tokens_per_s,
        prefill=prefill,
        between_p90_bound_s=p90_bound_s,
        between_p99_bound_s=p99_bound_s,
    )


def _bound(gaps_s: Sequence[float], generations: int, fewest: int, share: float) -> float | None:
    """Return the gap that a percentile is shown not to exceed, or None for too few generations.

    The gaps are in order, and `fewest` is the number of them in the smallest generation. Generations are taken as
    independent, and the gaps of one are not. So the early stopping of MLPerf counts generations: of t that may be slow,
    the gaps of t - 1 whole ones are discarded. The number of slow gaps scatters most if those of a generation are slow
    together, so the bound holds for others too.
    """
    slow = most_slow(share, generations)
    return gaps_s[-1 - (slow - 1) * fewest] if slow >= 1 and gaps_s else None
