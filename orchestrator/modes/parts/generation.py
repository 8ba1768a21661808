"""The metrics of generation by `docs/load/figures.md`, for every mode whose requests are answered by tokens."""

from typing import Final

from orchestrator.modes.parts.figures import RepeatFigures
from orchestrator.modes.parts.metrics import Better, Metric


def _first_token(repeat: RepeatFigures) -> float | None:
    return repeat.tokens.first_token_s if repeat.tokens else None


def _per_token(repeat: RepeatFigures) -> float | None:
    return repeat.tokens.per_token_s if repeat.tokens else None


def _between_p50(repeat: RepeatFigures) -> float | None:
    return repeat.tokens.between_p50_s if repeat.tokens else None


def _between_p90(repeat: RepeatFigures) -> float | None:
    return repeat.tokens.between_p90_s if repeat.tokens else None


def _between_p99(repeat: RepeatFigures) -> float | None:
    return repeat.tokens.between_p99_s if repeat.tokens else None


def _p90_bound(repeat: RepeatFigures) -> float | None:
    return repeat.tokens.between_p90_bound_s if repeat.tokens else None


def _p99_bound(repeat: RepeatFigures) -> float | None:
    return repeat.tokens.between_p99_bound_s if repeat.tokens else None


def _rate(repeat: RepeatFigures) -> float | None:
    return repeat.tokens.tokens_per_s if repeat.tokens else None


FIRST_TOKEN: Final = Metric("time_to_first_token", "to the first token", "s", Better.LOWER, 0.02, _first_token)
PER_TOKEN: Final = Metric("time_per_output_token", "per token after the first", "s", Better.LOWER, 0.02, _per_token)
BETWEEN_TOKENS: Final = (
    Metric("inter_token_latency_p50", "between tokens, median", "s", Better.LOWER, 0.02, _between_p50),
    Metric(
        "inter_token_latency_p90",
        "between tokens, 90th percentile",
        "s",
        Better.LOWER,
        0.05,
        _between_p90,
        bound=_p90_bound,
    ),
    Metric(
        "inter_token_latency_p99",
        "between tokens, 99th percentile",
        "s",
        Better.LOWER,
        0.1,
        _between_p99,
        bound=_p99_bound,
    ),
)
TOKEN_RATE: Final = Metric("output_tokens_per_s", "tokens", "tokens/s", Better.HIGHER, 0.02, _rate)
GENERATION: Final = (FIRST_TOKEN, PER_TOKEN, *BETWEEN_TOKENS, TOKEN_RATE)
"""In the order in which they are shown."""
