"""The load that requests put on a server, as `benchmarks/timing/load.py` makes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from orchestrator.modes.parts.settings import LaterFields

REQUESTS: Final = 662
"""Requests by default, of which MLPerf's early stopping bounds the 99th percentile with one to discard."""


class Scenario(StrEnum):
    """The ways in which requests arrive, the first three as MLPerf names them."""

    SINGLE_STREAM = "single_stream"
    """One client, which sends its next request as soon as it has its answer."""
    OFFLINE = "offline"
    """All requests at once."""
    SERVER = "server"
    """A Poisson process of a given rate, whatever the server does."""
    CLOSED = "closed"
    """A number of clients, each of which does as the one of a single stream."""


@dataclass(frozen=True, slots=True)
class Load(LaterFields):
    """One load."""

    LATER: ClassVar[Mapping[str, Any]] = {
        "concurrency": None, "rate": None, "latency_limit_s": None, "first_token_limit_s": None,
        "per_token_limit_s": None,
    }  # fmt: skip

    scenario: Scenario = Scenario.SINGLE_STREAM
    requests: int = REQUESTS
    """Fewest requests that count."""
    concurrency: int | None = None
    """Clients, of the scenario `closed` alone."""
    rate: float | None = None
    """Requests per second, of the scenario `server` alone."""
    latency_limit_s: float | None = None
    """Seconds within which an answer is good."""
    first_token_limit_s: float | None = None
    """Seconds until its first token within which it is; of requests for tokens alone, as the next one is."""
    per_token_limit_s: float | None = None
    """Seconds of each further token, by their mean, within which it is."""

    @property
    def limits_s(self) -> tuple[float, ...]:
        """Return the limits that there are."""
        limits_s = (self.latency_limit_s, self.first_token_limit_s, self.per_token_limit_s)
        return tuple(limit_s for limit_s in limits_s if limit_s is not None)

    @property
    def clients(self) -> int | None:
        """Return the requests that are under way at any time, or None if they are not bounded."""
        return 1 if self.scenario is Scenario.SINGLE_STREAM else self.concurrency

    @property
    def suffix(self) -> str:
        """Return what a cell's id says of it, such as `-scenario=server-rate=20-latency_limit=0.1s`."""
        named = {
            "scenario": None if self.scenario is Scenario.SINGLE_STREAM else self.scenario.value,
            "concurrency": self.concurrency,
            "rate": None if self.rate is None else f"{self.rate:g}",
            "latency_limit": _seconds(self.latency_limit_s),
            "first_token_limit": _seconds(self.first_token_limit_s),
            "per_token_limit": _seconds(self.per_token_limit_s),
            "requests": None if self.requests == REQUESTS else self.requests,
        }
        return "".join(f"-{name}={value}" for name, value in named.items() if value is not None)


def _seconds(limit_s: float | None) -> str | None:
    return None if limit_s is None else f"{limit_s:g}s"


OwnLoad = Annotated[Load | None, Field(exclude_if=lambda load: load is None)]
"""The load of a cell in the mode `requests`; JSON holds it only there."""
