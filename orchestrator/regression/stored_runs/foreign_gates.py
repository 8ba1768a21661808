"""The metrics of foreign results that decide, with their tolerances and, where a file does not say it, directions."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from orchestrator.errors import InputError, did_you_mean
from orchestrator.foreign.parts import CPU_TIME
from orchestrator.modes.parts.metrics import Better
from orchestrator.regression.rules import BY_NAME, tolerance_share

TOLERANCE = 0.02
"""As for our own throughput."""
_SPEC = re.compile(r"(?P<metric>[^=:]+)(?::(?P<better>[a-z]+))?(?:=(?P<tolerance>.+))?")
_DIRECTIONS = {"lower": Better.LOWER, "higher": Better.HIGHER}


@dataclass(frozen=True, slots=True)
class ForeignGate:
    """A metric that decides."""

    metric: str
    tolerance: float = TOLERANCE
    better: Better | None = None
    """Its direction; None for that of the file."""


def parse_foreign_gates(texts: Sequence[str], metrics: Collection[str], option: str) -> tuple[ForeignGate, ...]:
    """Read metrics such as `time`, `time=3%` or `build-size:lower=1%`. Raises `InputError` with every mistake."""
    gates: dict[str, ForeignGate] = {}
    mistakes = []
    for text in texts:
        try:
            gate = _gate(text, metrics)
            if gate.metric in gates:
                raise ValueError("is given twice; keep one")
        except ValueError as error:
            mistakes.append(f"{option} {text!r}: {error}")
        else:
            gates[gate.metric] = gate
    if mistakes:
        raise InputError(*mistakes)
    return tuple(gates.values())


def _gate(text: str, metrics: Collection[str]) -> ForeignGate:
    match = _SPEC.fullmatch(text.strip())
    name = match["metric"].strip() if match else text
    if match is None or name not in metrics:
        raise ValueError(f"the files have no such metric{did_you_mean(name, tuple(metrics))}")
    better = match["better"]
    if better is not None and better not in _DIRECTIONS:
        raise ValueError(f"{better!r} is no direction; write {name}:lower or {name}:higher")
    return ForeignGate(
        name,
        tolerance_share(match["tolerance"]) if match["tolerance"] else usual_tolerance(name),
        _DIRECTIONS.get(better or ""),
    )


def gate_of(metric: str, gates: Sequence[ForeignGate]) -> ForeignGate | None:
    """Return the gate of a metric, or None if it only informs.

    Without gates all decide but the CPU time, and those of our own metrics that decide by default.
    """
    if gates:
        return next((gate for gate in gates if gate.metric == metric), None)
    ours = BY_NAME.get(metric)
    informs = metric == CPU_TIME or (ours is not None and not ours.gates)
    return None if informs else ForeignGate(metric, usual_tolerance(metric))


def usual_tolerance(metric: str) -> float:
    """Return the tolerance of a metric of our own, or that of every other one."""
    return BY_NAME[metric].tolerance if metric in BY_NAME else TOLERANCE
