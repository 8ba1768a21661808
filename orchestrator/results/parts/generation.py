"""The times of generated tokens, as a result holds them, and what is wrong with those of a result."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
_ROUNDING_S = 1e-6
"""The largest error of a sum of differences of clocks."""


class StoredTokenTimes(BaseModel):
    """The times of the tokens of every timed generation, one after the other, read when each was on the host.

    Under load they are those of every request, in the order of arrival.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    first_token_s: Annotated[tuple[_Seconds, ...], Field(min_length=1)]
    """From each prompt to its first token: the prefill; under load from the arrival of each request."""
    between_tokens_s: tuple[_Seconds, ...]
    """From each token to the next one of its generation: the decode steps; none where a generation is one token."""


def broken_generation(
    times: StoredTokenTimes, latency_s: tuple[float, ...], generations: int, output: int
) -> str | None:
    """Return what is wrong with the times of so many generations of so many tokens, in one line, or None."""
    first, between = len(times.first_token_s), len(times.between_tokens_s)
    if first != generations or between != generations * (output - 1):
        return (
            f"result.json has the times of {first} first and {between} further tokens; "
            f"{generations} generations of {output} tokens were timed"
        )
    if len(latency_s) != generations:
        return f"result.json has {len(latency_s)} latencies of {generations} generations"
    for number, (first_s, whole_s) in enumerate(zip(times.first_token_s, latency_s, strict=True)):
        later = times.between_tokens_s[number * (output - 1) : (number + 1) * (output - 1)]
        if abs(first_s + sum(later) - whole_s) > _ROUNDING_S * (1 + whole_s):
            return f"result.json has a generation of {whole_s:g} s, whose tokens took {first_s + sum(later):g} s"
    return None
