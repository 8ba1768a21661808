"""Requests under load, each for one sample, which one server answers in batches."""

from orchestrator.modes.parts.figures import RepeatFigures
from orchestrator.modes.parts.metrics import ENERGY, TIMED, Better, Metric
from orchestrator.modes.parts.rules import INFERENCE, ModeRules

_OF_EPOCHS = {"total_time", "accuracy"}


def _in_time(repeat: RepeatFigures) -> float | None:
    return repeat.requests.in_time if repeat.requests else None


def _goodput(repeat: RepeatFigures) -> float | None:
    in_time = _in_time(repeat)
    return None if in_time is None else in_time * repeat.samples_per_s


GOODPUT = Metric("goodput", "goodput", "requests/s", Better.HIGHER, 0.02, _goodput)
IN_TIME = Metric("in_time", "within the limit", "share", Better.HIGHER, 0.01, _in_time)

RULES = ModeRules(
    metrics=(*(metric for metric in TIMED if metric.name not in _OF_EPOCHS), GOODPUT, IN_TIME),
    columns=(GOODPUT, ENERGY),
    parity=INFERENCE,
    step="a request",
    takes_load=True,
    position=3,
)
