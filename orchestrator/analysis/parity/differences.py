"""The differences between two answers of parity containers, each at its worst and compared with its bar."""

import math
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Final

from orchestrator.analysis.parity import layers
from orchestrator.analysis.parity.sides import FULL_PRECISION, ParitySide
from orchestrator.modes.parts.rules import Evidence, ParityRule
from orchestrator.results.parts.outputs import Outputs

_LED_BY: Final[dict[Evidence, str]] = {
    "weights": "initial values of",
    "gradients": "first gradient of",
    "logits": "",
}


@dataclass(frozen=True, slots=True)
class Bars:
    """Largest relative differences that two cells of the same work may show."""

    weights: float
    """Relative norm for the values of each initial tensor, as are `gradients` and `logits`."""
    first_loss: float
    gradients: float
    losses: tuple[tuple[str, float], ...]
    """Bars after a number of steps."""
    logits: float
    at_edges: float = 0.0
    """The bar of a first gradient in front of a ReLU or a max pool that exceeds its own bar.

    It has no effect unless it is the higher one.
    """


EXACT = Bars(weights=1e-6, first_loss=1e-5, gradients=1e-4, losses=(("10", 1e-4),), logits=1e-4, at_edges=1e-2)
"""Bars of exact arithmetic.

A value that rounding moves over the edge of a ReLU takes one summand of thousands out of the gradients in front of
it, and nothing behind it shows that. This is no other work, and is noted. Everything else must keep its own bar.
"""
WITH_BATCH_NORM = Bars(weights=1e-6, first_loss=1e-5, gradients=0.1, losses=(("3", 1e-3), ("10", 1e-2)), logits=1e-4)
"""Bars with batch norm, which amplifies rounding from step to step.

Rounding also moves some values over the edge of a ReLU, where the gradient jumps: ResNet20's in float32 is up to 2.3e-2
away from that in float64, computed by the same program.
"""
REDUCED = Bars(weights=2**-8, first_loss=2e-2, gradients=0.2, losses=(("10", 5e-2),), logits=0.1)
"""Bars for a side that computes in fewer bits.

They are wide enough for the rounding of bfloat16, and only guard against another model.
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that was compared, at its worst."""

    evidence: Evidence
    what: str
    """Words such as `first loss` or `first gradient of conv2d_1.weight`."""
    value: float
    """Relative difference."""
    bar: float
    detail: str = ""
    """Both values, if they mean something to people."""

    @property
    def within(self) -> bool:
        """Return true if the difference keeps its bar."""
        return self.value <= self.bar

    @property
    def text(self) -> str:
        """Return the difference as a sentence with its size and its bar."""
        return f"{self.what}{f' {self.detail}' if self.detail else ''}: {self.value:.2g} apart, bar {self.bar:g}"


def bars(one: ParitySide, other: ParitySide) -> Bars:
    """Return the bars for a pair of sides."""
    if {one.precision, other.precision} != {FULL_PRECISION}:
        return REDUCED
    kinds = {kind for side in (one, other) if side.result for kind in layers.kinds(side.result)}
    return WITH_BATCH_NORM if "batch_norm" in kinds else EXACT


def missing(one: ParitySide, other: ParitySide, rule: ParityRule) -> str:
    """Return in one line the evidence that a side lacks, or an empty text."""
    limits, lacking = bars(one, other), dict[str, list[str]]()
    for side in (one, other):
        for what in _lacks(side, rule, limits):
            lacking.setdefault(what, []).append(side.label)
    return "; ".join(f"no {what} of {' and '.join(labels)}" for what, labels in lacking.items())


def _lacks(side: ParitySide, rule: ParityRule, limits: Bars) -> Iterator[str]:
    """Name the evidence that a rule needs and a side's answer does not hold. The weights of a file are its SHA-256."""
    is_file = side.result is not None and side.result.network is not None
    for evidence, name in rule.needed.items():
        if evidence == "tokens":
            if side.result is None or side.result.generated is None:
                yield name
        elif not side.tensors[evidence].names and not (is_file and evidence == "weights"):
            yield name
    if side.result and "losses" in rule.compared:
        yield from (f"loss after {steps} steps" for steps, _ in limits.losses if steps not in side.result.losses)
    if side.result and "dropout" in rule.compared:
        yield from (f"losses with {name}" for name in layers.unasked_dropouts(side.result))


def differences(one: ParitySide, other: ParitySide, rule: ParityRule) -> tuple[Difference, ...]:
    """Return everything that a rule compares and both results hold."""
    a, b, limits = one.result, other.result, bars(one, other)
    if a is None or b is None:
        raise ValueError("both sides must have a result")
    compared: list[Difference] = []
    if "weights" in rule.compared:
        compared += _tensors("weights", one, other, limits.weights)
    if "first_loss" in rule.compared and a.first_loss is not None and b.first_loss is not None:
        ends = (one.label, a.first_loss), (other.label, b.first_loss)
        compared.append(_loss("first loss", *ends, limits.first_loss))
    if "logits" in rule.compared:
        compared += _tensors("logits", one, other, limits.logits)
    if "gradients" in rule.compared:
        in_front = layers.in_front_of_edges(a)
        compared += _tensors("gradients", one, other, limits.gradients, (limits.at_edges, in_front))
    for steps, bar in limits.losses if "losses" in rule.compared else ():
        if steps in a.losses and steps in b.losses:
            ends = (one.label, a.losses[steps]), (other.label, b.losses[steps])
            compared.append(_loss(f"loss after {steps} steps", *ends, bar, evidence="losses"))
    return tuple(compared)


def _loss(
    what: str, one: tuple[str, float], other: tuple[str, float], bar: float, evidence: Evidence = "first_loss"
) -> Difference:
    (label, value), (other_label, other_value) = one, other
    largest = max(abs(value), abs(other_value))
    apart = abs(value - other_value) / largest if largest else 0.0
    return Difference(evidence, what, apart, bar, f"{value:.6g} in {label}, {other_value:.6g} in {other_label}")


def _tensors(
    evidence: Evidence,
    one: ParitySide,
    other: ParitySide,
    bar: float,
    eased: tuple[float, Set[str]] = (0.0, frozenset()),
) -> Iterator[Difference]:
    """Yield the worst of the tensors that both sides have, or nothing if a side has none at all.

    `eased` is a higher bar with the layers that it applies to. The worst tensor that needs it comes in addition.
    """
    a, b, led_by = one.tensors[evidence], other.tensors[evidence], _LED_BY[evidence]
    if not a.names or not b.names:
        return
    if a.names != b.names or a.lengths != b.lengths:
        sizes, others = dict(zip(a.names, a.lengths, strict=True)), dict(zip(b.names, b.lengths, strict=True))
        name = min(name for name in {*sizes, *others} if sizes.get(name) != others.get(name))
        where = " and ".join(f"{side.label}" for side, had in ((one, sizes), (other, others)) if name in had)
        yield Difference(evidence, f"{led_by} {name}".strip(), 1.0, bar, f"are of another size, or only in {where}")
        return
    easier, eased_layers = eased
    apart = [(float(value), name) for value, name in zip(a.apart(b), a.names, strict=True)]
    at_edges = [each for each in apart if bar < each[0] <= easier and each[1].rpartition(".")[0] in eased_layers]
    for limit, tensors in ((bar, [each for each in apart if each not in at_edges]), (easier, at_edges)):
        if tensors:
            value, name = max(tensors)
            yield Difference(evidence, f"{led_by} {name}".strip(), value, limit)


def output_differences(one: tuple[str, Outputs], other: tuple[str, Outputs], bar: float) -> Iterator[Difference]:
    """Yield the error of each output of an operator, and the distance of both, as shares of their scale."""
    for label, outputs in (one, other):
        yield Difference("outputs", f"output of {label} and of NumPy in float64", outputs.error, bar)
    yield Difference("outputs", f"outputs of {one[0]} and of {other[0]}", _apart(one[1], other[1]), bar)


def _apart(one: Outputs, other: Outputs) -> float:
    if one.elements != other.elements or len(one.sketch) != len(other.sketch):
        return 1.0
    distance = math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(one.sketch, other.sketch, strict=True)))
    scale = max(one.scale, other.scale)
    # A sketch is rounded to nine digits, and says nothing of what is less.
    rounding = 1e-9 * math.sqrt(math.fsum(value**2 for value in one.sketch))
    return max(0.0, distance - rounding) / scale if scale else distance
