"""The steps that are timed, compared with the rule of the model's optimizer and with the other side of a pair.

`docs/measurement.md` says how the container works the rule out, and where the bars come from.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from orchestrator.analysis.parity import layers
from orchestrator.analysis.parity.differences import Difference
from orchestrator.analysis.parity.sides import FULL_PRECISION, ParitySide
from orchestrator.modes.parts.rules import Evidence
from orchestrator.results.parity.contract import OptimizerSteps, Stepped

MOST_LEFT_OUT: Final = 0.5
"""Share of all elements above which a note says how many were left out."""
ROUNDING: Final = {FULL_PRECISION: 2.0**-24, "tf32": 2.0**-24, "amp": 2.0**-24, "bf16": 2.0**-9}
"""Largest relative rounding of a weight by precision, which each step adds to the work of the optimizer.

With `tf32` and `amp`, the weights and the optimizer are in float32.
"""

RULES: Final = {"sgd": 1e-5, "adam": 1e-4, "rmsprop": 1e-5, "adadelta": 1e-5}
"""Largest relative difference from each optimizer's rule in float64.

Frameworks compute in float32, which rounds by less than 1e-6. Adam also takes 0.999 from 1, which leaves float32 five
digits, and its root passes half of that on.
"""
WITH_FEWER_BITS: Final = 0.1
"""The same bar for weights in less than float32, or for a rule that is not known here."""


@dataclass(frozen=True, slots=True)
class BetweenSides:
    """The bars between two sides for the elements that both sampled.

    They are a guard only: the comparison with the rule is the exact one.
    """

    bar: float
    """Largest relative difference of each tensor."""
    least: float
    """Smallest gradient of a compared element, as a share of its tensor's root mean square at each step.

    It applies if the optimizer divides by gradients: rounding that reverses a smaller one reverses a whole step.
    """


EXACT: Final = BetweenSides(bar=0.1, least=0.01)
"""The forms of a rule move small elements differently, which moves the gradients of later steps by up to 0.02."""
LOOSE: Final = BetweenSides(bar=0.5, least=0.1)
"""With batch norm, or in less than float32, gradients may be 0.1 and 0.2 apart, and each step adds to that."""


def differences(one: ParitySide, other: ParitySide) -> Iterator[Difference]:
    """Yield the comparisons of the steps with their rule and between the sides, each at its worst."""
    for side in (one, other):
        if side.result and side.result.optimizer:
            yield from _from_rule(side, side.result.optimizer)
    if not settings_difference(one, other):
        yield from _between(one, other)


def settings_difference(one: ParitySide, other: ParitySide) -> tuple[str, Evidence] | None:
    """Return in one line how the settings of two optimizers differ, or None."""
    described = [
        (side.label, f"{_name(side.result.optimizer)} ({_settings(side.result.optimizer)})")
        for side in (one, other)
        if side.result and side.result.optimizer
    ]
    if len({settings for _, settings in described}) < 2:
        return None
    return "the optimizer is " + ", ".join(f"{settings} in {label}" for label, settings in described), "optimizer"


def notes(one: ParitySide, other: ParitySide) -> Iterator[str]:
    """Yield notes that weaken a verdict, such as steps that were not compared or many elements that were left out.

    The texts name no side, so that a report prints each once for a whole group.
    """
    left_out = max(_left_out(side.result.optimizer) if side.result else 1.0 for side in (one, other))
    if left_out == 1:
        yield "the optimizer is not checked"
        return
    if left_out > MOST_LEFT_OUT:
        yield f"{left_out:.0%} of the elements left out of the comparison of optimizers: their gradients are rounding"
    if any(side.result and side.result.optimizer and _rounds_off(side, side.result.optimizer) for side in (one, other)):
        yield (
            "the optimizer is not checked to its bar: in half of the tensors or more, rounding of bfloat16 exceeds "
            f"{WITH_FEWER_BITS:.0%} of the steps"
        )


def _rounds_off(side: ParitySide, steps: OptimizerSteps) -> bool:
    """Return true if rounding of bfloat16 explains more of the steps than their bar, in half of the tensors or more."""
    rounding = _rounding(side, steps)
    if rounding <= ROUNDING[FULL_PRECISION] * steps.steps**0.5:
        return False
    largest = {
        name: max(each.moved, *(form.moved for form in each.forms.values())) for name, each in steps.tensors.items()
    }
    moving = [name for name, moved in largest.items() if moved]
    hidden = sum(rounding * steps.tensors[name].weights >= WITH_FEWER_BITS * largest[name] for name in moving)
    return bool(moving) and 2 * hidden >= len(moving)


def _left_out(steps: OptimizerSteps | None) -> float:
    tensors = steps.tensors.values() if steps else ()
    elements = sum(tensor.elements for tensor in tensors)
    return sum(tensor.left_out for tensor in tensors) / elements if elements else 1.0


def _name(steps: OptimizerSteps) -> str:
    return str(steps.settings.get("name", "an unnamed optimizer"))


def _settings(steps: OptimizerSteps) -> str:
    own = sorted((name, value) for name, value in steps.settings.items() if name != "name")
    return ", ".join(f"{name} {value if isinstance(value, str) else format(value, 'g')}" for name, value in own)


def _from_rule(side: ParitySide, steps: OptimizerSteps) -> Iterator[Difference]:
    """Yield the tensor that is furthest from the rule, in the form of the rule that fits all tensors best."""
    what, bar = f"{steps.steps} steps of {_name(steps)} from its rule, on", _bar_of_rule(side, steps)
    detail = f"in {side.label} ({_settings(steps)})"
    weights = set(side.result.weights) if side.result else set()
    apart = [(1.0, tensor) for tensor in weights - set(steps.tensors)]
    forms = set.intersection(*(set(tensor.forms) for tensor in steps.tensors.values())) if steps.tensors else set()
    rounding = _rounding(side, steps)
    fits = [
        [(_apart(each, form, rounding), tensor) for tensor, each in steps.tensors.items()] for form in sorted(forms)
    ]
    apart += min(fits, key=max, default=[])
    if apart:
        value, tensor = max(apart)
        yield Difference("optimizer", f"{what} {tensor}", value, bar, detail)


def _rounding(side: ParitySide, steps: OptimizerSteps) -> float:
    """Return the share of a tensor's weights that the rounding of all steps explains."""
    return float(ROUNDING.get(side.precision, ROUNDING[FULL_PRECISION]) * steps.steps**0.5)


def _bar_of_rule(side: ParitySide, steps: OptimizerSteps) -> float:
    in_float32 = ROUNDING.get(side.precision) == ROUNDING[FULL_PRECISION]
    return RULES.get(_name(steps), WITH_FEWER_BITS) if in_float32 else WITH_FEWER_BITS


def _apart(tensor: Stepped, form: str, rounding: float) -> float:
    """Return the relative distance of steps from a rule, less what rounding of the weights explains."""
    largest = max(tensor.moved, tensor.forms[form].moved)
    return max(0.0, tensor.forms[form].apart - rounding * tensor.weights) / largest if largest else 0.0


def _between(one: ParitySide, other: ParitySide) -> Iterator[Difference]:
    """Yield the tensor that the steps of two sides move least alike, by the elements that both sides sampled."""
    a, b, steps = one.sampled, other.sampled, one.result.optimizer if one.result else None
    if a is None or b is None or steps is None:
        return
    what, detail = f"{steps.steps} steps of {_name(steps)} on", f"in {one.label} and {other.label}"
    limits = _limits(one, other, _name(steps))
    if (a.names, a.lengths) != (b.names, b.lengths):
        name = next(iter({*zip(a.names, a.lengths, strict=True)} ^ {*zip(b.names, b.lengths, strict=True)}))[0]
        yield Difference("optimizer", f"{what} {name}", 1.0, limits.bar, f"{detail}, of another size or in one only")
    elif a.names:
        value, name = max(zip(a.apart(b, limits.least), a.names, strict=True))
        yield Difference("optimizer", f"{what} {name}", float(value), limits.bar, detail)


def _limits(one: ParitySide, other: ParitySide, name: str) -> BetweenSides:
    kinds = {kind for side in (one, other) if side.result for kind in layers.kinds(side.result)}
    exact = {one.precision, other.precision} == {FULL_PRECISION} and "batch_norm" not in kinds
    limits = EXACT if exact else LOOSE
    return replace(limits, least=0.0) if name == "sgd" else limits
