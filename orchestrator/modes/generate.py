"""Generation of tokens after prompts, whose samples are tokens and whose steps are whole generations."""

from typing import Final

from orchestrator.modes.parts.generation import GENERATION, TOKEN_RATE
from orchestrator.modes.parts.metrics import ENERGY, TIMED
from orchestrator.modes.parts.rules import GENERATION as PARITY
from orchestrator.modes.parts.rules import ModeRules

_LEFT_OUT: Final = {
    "loss", "total_time", "accuracy", "first_step", "latency_p50", "latency_p90", "latency_p99",
}  # fmt: skip
"""Metrics that a generation has not, and times of whole ones: those of tokens say more.

A mode with more metrics than training would widen the intervals of training too.
"""
_TOKENS: Final = tuple(metric for metric in GENERATION if metric is not TOKEN_RATE)
"""Those of generation without the rate, which is the throughput here."""

RULES = ModeRules(
    metrics=(*(metric for metric in TIMED if metric.name not in _LEFT_OUT), *_TOKENS),
    columns=(*_TOKENS, ENERGY),
    parity=PARITY,
    step="a generation",
    sample="token",
    generates=True,
    position=4,
)
