"""The metrics that decide in a regression test, each with the tolerance it is held to."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.errors import InputError
from orchestrator.matrix.hints import did_you_mean
from orchestrator.modes import METRICS
from orchestrator.modes.parts.metrics import Metric

BY_NAME: Final[Mapping[str, Metric]] = {metric.name: metric for metric in METRICS}


@dataclass(frozen=True, slots=True)
class Gate:
    """A metric that decides, with the tolerance it is held to."""

    metric: str
    tolerance: float
    model: str = ""
    """The one model that the tolerance is for; empty: every other one. The metric decides for all in either case."""


DEFAULT_GATES: Final = tuple(Gate(metric.name, metric.tolerance) for metric in METRICS if metric.gates)
_SPEC = re.compile(r"(?P<name>[^=@]+)(?:@(?P<model>[^=]+))?(?:=(?P<tolerance>.+))?")


def parse_gates(texts: Sequence[str], option: str, models: Sequence[str]) -> tuple[Gate, ...]:
    """Read metrics such as `throughput`, `throughput=3%` and `throughput@mlp=0.05`.

    What is given for all models takes the place of the default ones. A tolerance for one model says nothing of what
    else decides: where nothing else is given, the default ones stay beside it. Raises `InputError` with every mistake.
    """
    parsed: dict[tuple[str, str], Gate] = {}
    mistakes = []
    for text in texts:
        try:
            gate = _gate(text, models)
            if (gate.metric, gate.model) in parsed:
                raise ValueError("is given twice; keep one")
        except ValueError as error:
            mistakes.append(f"{option} {text!r}: {error}")
        else:
            parsed[gate.metric, gate.model] = gate
    if mistakes:
        raise InputError(*mistakes)
    given = tuple(parsed.values())
    return given if any(not gate.model for gate in given) else (*DEFAULT_GATES, *given)


def tolerance(gates: Sequence[Gate], metric: Metric, model: str) -> tuple[bool, float]:
    """Return if a metric decides, and its tolerance for a model.

    What is named for one model decides for all: the others are held to the tolerance that it has by itself.
    """
    own = {gate.model: gate.tolerance for gate in gates if gate.metric == metric.name}
    return bool(own), own.get(model, own.get("", metric.tolerance))


def _gate(text: str, models: Sequence[str]) -> Gate:
    match = _SPEC.fullmatch(text.strip())
    name = match["name"].strip() if match else text
    metric = BY_NAME.get(name)
    if match is None or metric is None:
        raise ValueError(f"unknown metric{did_you_mean(name, tuple(BY_NAME))}")
    model = (match["model"] or "").strip()
    if model and model not in models:
        raise ValueError(f"the matrix has no model {model!r}{did_you_mean(model, tuple(models))}")
    return Gate(name, _share(match["tolerance"]) if match["tolerance"] else metric.tolerance, model)


def _share(text: str) -> float:
    """`3%` and `0.03` as 0.03."""
    number = text.strip()
    try:
        share = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise ValueError(f"{number!r} is no tolerance; write a share of the baseline, such as 2% or 0.02")
    return share
