"""Requests under load, each for one sample or for the tokens after one prompt, which one server answers in batches."""

from orchestrator.modes.parts.figures import RepeatFigures
from orchestrator.modes.parts.generation import BETWEEN_TOKENS, FIRST_TOKEN, PER_TOKEN, TOKEN_RATE
from orchestrator.modes.parts.metrics import ENERGY, TIMED, Better, Metric
from orchestrator.modes.parts.rules import GENERATION, INFERENCE, ModeRules

_LEFT_OUT = {"total_time", "accuracy", "first_step"}
"""Metrics that requests lack. A mode with more metrics than training would widen the intervals of training too."""


def _goodput(repeat: RepeatFigures) -> float | None:
    in_time = repeat.requests.in_time if repeat.requests else None
    return None if in_time is None else in_time * repeat.samples_per_s


GOODPUT = Metric("goodput", "goodput", "requests/s", Better.HIGHER, 0.02, _goodput)

_ANSWERED = (*(metric for metric in TIMED if metric.name not in _LEFT_OUT), GOODPUT)
_OF_TOKENS = (TOKEN_RATE, FIRST_TOKEN, PER_TOKEN, *BETWEEN_TOKENS)
"""Those that reports show. All answers are of one length, so that the rate of tokens is that of requests, and the times
between tokens are those of whole batches: these are shown, and not judged."""

RULES = ModeRules(
    metrics=_ANSWERED,
    columns=(GOODPUT, ENERGY),
    parity=INFERENCE,
    step="a request",
    takes_load=True,
    by_tokens=ModeRules(
        metrics=(
            *(metric for metric in _ANSWERED if metric.name not in {"loss", "latency_p90"}),
            FIRST_TOKEN,
            PER_TOKEN,
        ),
        columns=(GOODPUT, *_OF_TOKENS, ENERGY),
        parity=GENERATION,
        step="a request",
        sample="request",
        takes_load=True,
        generates=True,
        position=3,
    ),
    position=3,
)
