"""The answers of a server under load in one repeat, with the bounds of MLPerf's early stopping."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from orchestrator.modes.parts.early_stopping import bound, least_requests
from orchestrator.modes.parts.load import Load
from orchestrator.results.contract import Result

REQUIRED_SHARE = 0.99
"""The share of requests that MLPerf's server scenario wants within its latency limit."""


def _is_none(value: object) -> bool:
    return value is None


@dataclass(frozen=True, slots=True)
class AnsweredRequests:
    """The answers to the requests of one repeat."""

    requests: int
    requests_per_batch: float
    """Mean over the batches; a batch may have room for more, which is computed all the same."""
    waiting: float
    """Share of all latencies that was spent in the queue."""
    p90_bound_s: float | None
    """The latency that 90 % of requests are shown to have at most, with 99 % confidence; None for too few requests."""
    p99_bound_s: float | None
    in_time: Annotated[float | None, Field(exclude_if=_is_none)] = None
    """The share of the requests that were answered within the limit; None without a limit."""
    more_requests: Annotated[int | None, Field(exclude_if=_is_none)] = None
    """Requests that are missing until 99 % are shown to be within the limit, were no further one late.

    It is 0 if that is shown, and None without a limit, or if fewer than 99 % of the requests were within it."""


def answers(result: Result, load: Load) -> AnsweredRequests:
    """Return the figures of a result under load."""
    latency_s, waited_s = result.latency_s, result.requests.waited_s if result.requests else ()
    batches = sum(block.steps for block in result.blocks)
    in_time = None if load.latency_limit_s is None else _share_in_time(latency_s, load.latency_limit_s)
    return AnsweredRequests(
        requests=len(latency_s),
        requests_per_batch=len(latency_s) / batches,
        waiting=sum(waited_s) / sum(latency_s),
        p90_bound_s=bound(latency_s, 0.90),
        p99_bound_s=bound(latency_s, 0.99),
        in_time=in_time,
        more_requests=None if in_time is None else _missing(len(latency_s), in_time),
    )


def _share_in_time(latency_s: Sequence[float], limit_s: float) -> float:
    return sum(1 for each in latency_s if each <= limit_s) / len(latency_s)


def _missing(requests: int, in_time: float) -> int | None:
    if in_time < REQUIRED_SHARE:
        return None
    return max(0, least_requests(REQUIRED_SHARE, round(requests * (1 - in_time))) - requests)
