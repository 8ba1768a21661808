"""The plan of several sides that do the same work in the same blocks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.regression.pairing import Pairing, merged_images
from orchestrator.regression.sides import Side


@dataclass(frozen=True, slots=True)
class JointPlan:
    """A plan with one cell of each side, and the sides that cannot be planned."""

    plan: Plan
    cells: Mapping[str, str]
    """Id of the cell by `Side.text`, in the order of the sides."""
    reasons: Mapping[str, str]
    """The reason that a side is not in the plan, by `Side.text`."""


def joint_plan(sides: Sequence[Side], pair: Callable[[Side, Side], Pairing], blocks: int) -> JointPlan:
    """Plan each side as a pair with the first one, in so many blocks. Each pairing has one pair of cells.

    Raises `InputError` if no side can be planned with the first one, or two sides would share an image.
    """
    first, *others = sides
    pairings: dict[str, Pairing] = {}
    reasons: dict[str, str] = {}
    for side in others:
        try:
            pairings[side.text] = pair(first, side)
        except InputError as error:
            reasons[side.text] = error.messages[0]
    if not pairings:
        raise InputError(*(reasons.values() or [f"{first.text} has nothing to be measured with"]))
    one = next(iter(pairings.values()))
    cells = {first.text: one.pairs[0].baseline}
    cells |= {text: pairing.pairs[0].candidate for text, pairing in pairings.items()}
    return JointPlan(_merged([pairing.plan for pairing in pairings.values()], blocks), cells, reasons)


def _merged(plans: Sequence[Plan], blocks: int) -> Plan:
    """Return one plan of several that share their first cell, with so many repeats of each cell."""
    cells = {cell.id: replace(cell, repeats=blocks) for plan in plans for cell in plan.cells}
    return replace(
        plans[0],
        cells=tuple(cells.values()),
        images=merged_images(plans),
        skips=tuple({skip.cell_id: skip for plan in plans for skip in plan.skips}.values()),
        models=tuple({model.name: model for plan in plans for model in plan.models}.values()),
        networks=tuple({each.name: each for plan in plans for each in plan.networks}.values()),
        definitions=tuple({(each.model, each.sha256): each for plan in plans for each in plan.definitions}.values()),
        warnings=tuple(dict.fromkeys(warning for plan in plans for warning in plan.warnings)),
    )
