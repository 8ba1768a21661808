"""The answers of a server under load in one repeat, with the bounds of MLPerf's early stopping."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated

from pydantic import Field

from orchestrator.analysis.percentiles import quantiles
from orchestrator.modes.parts.early_stopping import bound, least_requests
from orchestrator.modes.parts.load import Load
from orchestrator.results.contract import Result

REQUIRED_SHARE = 0.99
"""The share of requests that MLPerf's server scenario wants within its latency limit."""


def _is_none(value: object) -> bool:
    return value is None


@dataclass(frozen=True, slots=True)
class TokenTail:
    """The tail of a time of tokens over the requests of one repeat."""

    p99_s: float
    p99_bound_s: float | None
    """The most that 99 % of the requests are shown to take, with 99 % confidence; None for too few requests."""


@dataclass(frozen=True, slots=True)
class AnsweredRequests:
    """The answers to the requests of one repeat."""

    requests: int
    requests_per_batch: float
    """Mean over the batches; a batch may have room for more, which is computed all the same."""
    waiting: float
    """Share of all latencies that was spent in the queue."""
    p90_bound_s: float | None
    """The latency that 90 % of requests are shown to have at most, with 99 % confidence; None for too few requests.

    There is none of requests that arrive all at once, as the last of them waits for all others whatever the server
    does, nor of their first tokens.
    """
    p99_bound_s: float | None
    in_time: Annotated[float | None, Field(exclude_if=_is_none)] = None
    """The share of the requests that were answered within every limit; None without one."""
    more_requests: Annotated[int | None, Field(exclude_if=_is_none)] = None
    """Requests that are missing until 99 % are shown to be within the limit, were no further one late.

    It is 0 if that is shown, and None without a limit, or if fewer than 99 % of the requests were within it."""
    first_token: Annotated[TokenTail | None, Field(exclude_if=_is_none)] = None
    """From the arrival to the first token; None of requests for no tokens."""
    per_token: Annotated[TokenTail | None, Field(exclude_if=_is_none)] = None
    """The mean gap between the tokens of a request; None too of requests for one token."""


def answers(result: Result, load: Load) -> AnsweredRequests:
    """Return the figures of a result under load."""
    latency_s, waited_s = result.latency_s, result.requests.waited_s if result.requests else ()
    at_once = result.requests is not None and result.requests.are_at_once
    batches = sum(block.steps for block in result.blocks)
    first_s = result.generation.first_token_s if result.generation else ()
    per_token_s = tuple(_per_token(result))
    limits = (
        (latency_s, load.latency_limit_s), (first_s, load.first_token_limit_s), (per_token_s, load.per_token_limit_s),
    )  # fmt: skip
    in_time = _share_in_time(len(latency_s), limits) if load.limits_s else None
    return AnsweredRequests(
        requests=len(latency_s),
        requests_per_batch=len(latency_s) / batches,
        waiting=sum(waited_s) / sum(latency_s),
        p90_bound_s=None if at_once else bound(latency_s, 0.90),
        p99_bound_s=None if at_once else bound(latency_s, 0.99),
        in_time=in_time,
        more_requests=None if in_time is None else _missing(len(latency_s), in_time),
        first_token=None if at_once else _tail(first_s),
        per_token=_tail(per_token_s),
    )


def _per_token(result: Result) -> Iterator[float]:
    """Yield the mean gap between the tokens of each request; nothing where requests have one token, or none."""
    if result.generation is None or not result.generation.between_tokens_s:
        return
    between_s = result.generation.between_tokens_s
    after = len(between_s) // len(result.generation.first_token_s)
    for begin in range(0, len(between_s), after):
        yield fmean(between_s[begin : begin + after])


def _tail(times_s: Sequence[float]) -> TokenTail | None:
    return TokenTail(quantiles(sorted(times_s), (0.99,))[0], bound(times_s, 0.99)) if times_s else None


def _share_in_time(requests: int, limits: Sequence[tuple[Sequence[float], float | None]]) -> float:
    """Return the share of requests whose times are all within their limits. A time that none has is in none's way."""
    late = {
        number
        for times_s, limit_s in limits
        if limit_s is not None
        for number, each in enumerate(times_s)
        if each > limit_s
    }
    return 1 - len(late) / requests


def _missing(requests: int, in_time: float) -> int | None:
    if in_time < REQUIRED_SHARE:
        return None
    return max(0, least_requests(REQUIRED_SHARE, round(requests * (1 - in_time))) - requests)
