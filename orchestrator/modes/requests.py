"""Requests under load, each for one sample, which one server answers in batches."""

from orchestrator.modes.parts.figures import RepeatFigures
from orchestrator.modes.parts.metrics import ENERGY, TIMED, Better, Metric
from orchestrator.modes.parts.rules import INFERENCE, ModeRules

_LEFT_OUT = {"total_time", "accuracy", "first_step"}
"""Metrics that requests lack. A mode with more metrics than training would widen the intervals of training too."""


def _goodput(repeat: RepeatFigures) -> float | None:
    in_time = repeat.requests.in_time if repeat.requests else None
    return None if in_time is None else in_time * repeat.samples_per_s


GOODPUT = Metric("goodput", "goodput", "requests/s", Better.HIGHER, 0.02, _goodput)

RULES = ModeRules(
    metrics=(*(metric for metric in TIMED if metric.name not in _LEFT_OUT), GOODPUT),
    columns=(GOODPUT, ENERGY),
    parity=INFERENCE,
    step="a request",
    takes_load=True,
    position=3,
)
