"""The times of generated tokens in one repeat, by the definitions of `docs/load.md`."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from orchestrator.analysis.percentiles import Percentiles, percentiles
from orchestrator.results.contract import Result


@dataclass(frozen=True, slots=True)
class GenerationFigures:
    """The figures of the tokens of one repeat. The first token is in none of those between tokens."""

    generations: int
    first_token_s: float
    """From a prompt to its first token, median over the generations."""
    per_output_token_s: float | None
    """The mean time of each token after the first, median over the generations; None if there is one token."""
    between_tokens: Percentiles | None
    """From each token to the next, over all generations; None if there is one token."""
    prefill: float
    """The share of the time of all tokens that went until the first ones."""
    first_tokens: Annotated[Percentiles | None, Field(exclude=True)] = None
    """Percentiles of the first tokens, which no document has."""


def generation_figures(result: Result) -> GenerationFigures | None:
    """Return the figures of a result that holds times of tokens, or None."""
    times = result.generation
    if times is None:
        return None
    first_s, between_s = times.first_token_s, times.between_tokens_s
    after = len(between_s) // len(first_s)
    means = [_mean(between_s[number * after : (number + 1) * after]) for number in range(len(first_s))] if after else []
    return GenerationFigures(
        generations=len(first_s),
        first_token_s=statistics.median(first_s),
        per_output_token_s=statistics.median(means) if means else None,
        between_tokens=percentiles([between_s]),
        prefill=sum(first_s) / (sum(first_s) + sum(between_s)),
        first_tokens=percentiles([first_s]),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
