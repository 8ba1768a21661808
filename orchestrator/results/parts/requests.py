"""The requests that a server was asked, as a result holds them, and what is wrong with those of a result."""

from itertools import pairwise
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from orchestrator.modes.parts.load import Load, Scenario

_Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


class RequestMoments(BaseModel):
    """The moments of every request, in the order of arrival, in seconds since the clock of the load started.

    A request ends after its latency, which `latency_s` of the result has in the same order.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    arrival_s: Annotated[tuple[_Seconds, ...], Field(min_length=1)]
    """By the schedule where there is one, else when its client sent it."""
    waited_s: tuple[_Seconds, ...]
    """From the arrival of each to the step that answers it."""

    @property
    def are_at_once(self) -> bool:
        """Return true if several arrived at once, as offline, where the last waits for all others."""
        return len(self.arrival_s) > 1 and not any(self.arrival_s)


def broken_requests(load: Load, moments: RequestMoments, latency_s: tuple[float, ...], most: int) -> str | None:
    """Return what is wrong with the requests of a load, of which a batch holds at most `most`, in one line, or None."""
    count, arrived = len(moments.arrival_s), moments.arrival_s
    if not len(latency_s) == len(moments.waited_s) == count:
        return f"result.json has {count} arrivals, {len(moments.waited_s)} waits and {len(latency_s)} latencies"
    surplus = most - 1 if load.clients else 0  # the last batch of clients may hold more than were left to ask
    if not load.requests <= count <= load.requests + surplus:
        return f"result.json has {count} requests; {load.requests} were asked for"
    if any(late < early for early, late in pairwise(arrived)):
        return "result.json has requests that are not in the order of their arrival"
    if any(latency < waited for latency, waited in zip(latency_s, moments.waited_s, strict=True)):
        return "result.json has a request that ended before its step began"
    if load.scenario is Scenario.OFFLINE and arrived[-1] > 0:
        return "result.json has requests that arrived late, and offline all arrive at once"
    return None
