"""The keys of a load, which an entry of a model has and a rule names."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictFloat, StrictInt
from pydantic import WithJsonSchema as Schema

from orchestrator import limits
from orchestrator.matrix.load_axes import LoadAxes
from orchestrator.matrix.values import units
from orchestrator.matrix.values.kinds import Axis
from orchestrator.matrix.values.shapes import Shape
from orchestrator.modes.parts.load import REQUESTS, Scenario

OF_TOKENS = ("first_token_limit", "per_token_limit")
"""Keys of loads that ask for tokens."""
KEYS = ("scenario", "concurrency", "rate", "latency_limit", *OF_TOKENS, "requests")
Clients = Annotated[StrictInt, Field(ge=1, le=limits.MAX_CLIENTS)]
Rate = Annotated[StrictInt | StrictFloat, Field(ge=limits.MIN_RATE, le=limits.MAX_RATE)]
Limit = Annotated[
    float,
    BeforeValidator(units.latency_s),
    Schema({
        "anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": "^[0-9.]+ *m?s$"}],
        "examples": ["100ms", "1.5s", 0.1],
    }),
]  # fmt: skip
Requests = Annotated[StrictInt, Field(ge=1, le=limits.MAX_LATENCY_STEPS)]


class LoadShape(Shape):
    """The way in which requests arrive, in the mode requests."""

    scenario: Axis[Scenario] | None = Field(
        None, description="How requests arrive (mode requests): single_stream (the default), offline, server or closed."
    )
    concurrency: Axis[Clients] | None = Field(None, description="Requests under way at any time (scenario: closed).")
    rate: Axis[Rate] | None = Field(None, description="Requests per second, on average (scenario: server).")
    latency_limit: Axis[Limit] | None = Field(
        None, description="Within which an answer is good: 100ms, 1.5s, or seconds."
    )
    first_token_limit: Axis[Limit] | None = Field(
        None, description="Within which the first token of a good answer comes (mode requests, with prompt_length)."
    )
    per_token_limit: Axis[Limit] | None = Field(
        None, description="Within which each further token of it comes, by their mean."
    )
    requests: Axis[Requests] | None = Field(
        None, description=f"Fewest requests that count (mode requests); {REQUESTS} by default."
    )


def axes(entry: LoadShape) -> LoadAxes:
    """Return the axes of a load as an entry has them."""
    return LoadAxes(
        entry.scenario or (),
        entry.concurrency or (),
        tuple(map(float, entry.rate or ())),
        entry.latency_limit or (),
        entry.first_token_limit or (),
        entry.per_token_limit or (),
        entry.requests or (),
    )


def long_form(load: LoadAxes) -> dict[str, Any]:
    """Return the keys that are set, as plain values for YAML."""
    values = (
        [each.value for each in load.scenarios],
        load.concurrencies,
        load.rates,
        load.latency_limits_s,
        load.first_token_limits_s,
        load.per_token_limits_s,
        load.requests,
    )
    return {key: list(listed) for key, listed in zip(KEYS, values, strict=True) if listed}
