"""Generation of tokens after prompts, whose samples are tokens and whose steps are whole generations."""

from orchestrator.modes.parts.figures import RepeatFigures
from orchestrator.modes.parts.metrics import ENERGY, TIMED, Better, Metric
from orchestrator.modes.parts.rules import ModeRules, ParityRule

_OF_STEPS = {"latency_p50", "latency_p90", "latency_p99", "total_time", "accuracy", "loss"}


def _first(repeat: RepeatFigures) -> float | None:
    return repeat.generation.first_token_s if repeat.generation else None


def _per_token(repeat: RepeatFigures) -> float | None:
    return repeat.generation.per_output_token_s if repeat.generation else None


def _median(repeat: RepeatFigures) -> float | None:
    between = repeat.generation.between_tokens if repeat.generation else None
    return between.p50_s if between else None


def _slow(repeat: RepeatFigures) -> float | None:
    between = repeat.generation.between_tokens if repeat.generation else None
    return between.p90_s if between else None


def _slowest(repeat: RepeatFigures) -> float | None:
    between = repeat.generation.between_tokens if repeat.generation else None
    return between.p99_s if between else None


FIRST_TOKEN = Metric("time_to_first_token", "first token", "s", Better.LOWER, 0.05, _first, gates=True)
PER_TOKEN = Metric("time_per_output_token", "each further token", "s", Better.LOWER, 0.02, _per_token, gates=True)
BETWEEN = (
    Metric("inter_token_p50", "between tokens, median", "s", Better.LOWER, 0.02, _median),
    Metric("inter_token_p90", "between tokens, 90th percentile", "s", Better.LOWER, 0.05, _slow),
    Metric("inter_token_p99", "between tokens, 99th percentile", "s", Better.LOWER, 0.1, _slowest),
)

RULES = ModeRules(
    metrics=(*(metric for metric in TIMED if metric.name not in _OF_STEPS), FIRST_TOKEN, PER_TOKEN, *BETWEEN),
    columns=(FIRST_TOKEN, PER_TOKEN, *BETWEEN, ENERGY),
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
