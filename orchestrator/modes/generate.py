"""Generation of tokens after prompts, whose samples are tokens and whose steps are whole generations."""

from typing import Final

from orchestrator.modes.parts.generation import GENERATION, TOKEN_RATE
from orchestrator.modes.parts.metrics import ENERGY, TIMED
from orchestrator.modes.parts.rules import ModeRules, ParityRule

_OF_OTHERS: Final = {"loss", "latency_p50", "latency_p90", "latency_p99", "total_time", "accuracy"}
"""Metrics of others. Times of tokens say more than that of a whole generation, and each metric takes some of alpha."""
_TOKENS: Final = tuple(metric for metric in GENERATION if metric is not TOKEN_RATE)
"""Those of generation without the rate, which is the throughput here."""

RULES = ModeRules(
    metrics=(*(metric for metric in TIMED if metric.name not in _OF_OTHERS), *_TOKENS),
    columns=(*_TOKENS, ENERGY),
    parity=ParityRule(
        compared=frozenset({"weights", "logits", "tokens"}),
        needed={"weights": "initial values", "logits": "logits after the prompt", "tokens": "generated tokens"},
        asked=frozenset({"native_layers", "weights"}),
    ),
    step="a generation",
    sample="token",
    generates=True,
    position=4,
)
