"""The comparison of a quantised cell with another one, which is never the same work as one in float32.

Both are held to bars of their own: how far logits are moved, and how many labelled samples get another class.
"""

from collections.abc import Iterator
from typing import Final

from orchestrator.analysis.parity.differences import Difference, bars
from orchestrator.analysis.parity.sides import UNQUANTISED, ParitySide
from orchestrator.modes.parts.rules import Evidence
from orchestrator.results.parity.contract import Quantised

LOGITS: Final = 0.1
"""The bar of the relative norm between logits of a quantised side and of any other. 0.9 % to 3 % were measured."""
OTHERWISE_CHOSEN: Final = 0.2
"""The largest share of labelled samples that get another class. Up to 12 % were measured."""


def missing(one: ParitySide, other: ParitySide) -> str:
    """Return in one line the evidence of quantisation that a side lacks, or an empty text."""
    sides = (one, other)
    without = [side.label for side in sides if side.quantisation != UNQUANTISED and _answer(side) is None]
    if without:
        return f"no answer of {' and '.join(without)} about its quantisation"
    lacking = [side.label for side in sides if not side.tensors["logits"].names]
    if lacking:
        return f"no logits of the step that is timed of {' and '.join(lacking)}"
    answers = [answer for side in sides if (answer := _answer(side))]
    if len({(answer.dataset, len(answer.chosen)) for answer in answers}) > 1:
        return "classes were chosen for other samples"
    return ""


def differences(one: ParitySide, other: ParitySide) -> tuple[Difference, ...]:
    """Return everything that is compared of two sides of which one is quantised at least, and nothing is missing."""
    limits = bars(one, other)
    return (
        *_apart("weights", "initial values of", (one, "weights"), (other, "weights"), limits.weights),
        *_apart("logits", "", (one, "logits"), (other, "logits"), LOGITS),
        *_apart(
            "logits",
            "unquantised",
            (one, _without_quantisation(one)),
            (other, _without_quantisation(other)),
            limits.logits,
        ),
        _choices(one, other),
    )


def note(one: ParitySide, other: ParitySide, compared: tuple[Difference, ...]) -> str:
    """Return a sentence about what the quantisation of the sides moves."""
    what = "quantised alike" if one.quantisation == other.quantisation else "quantised, and so other work"
    kinds = ", ".join(f"{side.label}: {side.quantisation}" for side in (one, other))
    logits = next(each for each in compared if each.evidence == "logits" and each.bar == LOGITS)
    chosen = next(each for each in compared if each.evidence == "choices")
    answers = [(side.label, answer) for side in (one, other) if (answer := _answer(side))]
    right = "; ".join(
        f"right in {label}: {_percent(answer.right[0] / len(answer.chosen))}, "
        f"{_percent(answer.right[1] / len(answer.chosen))} without quantisation"
        for label, answer in answers
    )
    return (
        f"{what} ({kinds}): logits {_percent(logits.value)} apart (bar {_percent(LOGITS)}), "
        f"{chosen.what} {chosen.detail} (bar {_percent(1 - OTHERWISE_CHOSEN)}); {right}"
    )


def _answer(side: ParitySide) -> Quantised | None:
    return side.result.quantised if side.result and side.quantisation != UNQUANTISED else None


def _without_quantisation(side: ParitySide) -> str:
    return "logits" if side.quantisation == UNQUANTISED else "unquantised"


def _apart(
    evidence: Evidence, led_by: str, one: tuple[ParitySide, str], other: tuple[ParitySide, str], bar: float
) -> Iterator[Difference]:
    """Yield the worst of the tensors that both sides have."""
    a, b = (side.tensors[name] for side, name in (one, other))
    if not a.names or not b.names:
        return
    if a.names != b.names or a.lengths != b.lengths:
        yield Difference(evidence, f"{led_by} {evidence}".strip(), 1.0, bar, "are of another size")
        return
    value, name = max((float(value), name) for value, name in zip(a.apart(b), a.names, strict=True))
    yield Difference(evidence, f"{led_by} {name}".strip(), value, bar)


def _choices(one: ParitySide, other: ParitySide) -> Difference:
    """Return the share of samples whose classes differ.

    A side without quantisation chooses as the other one does without it, because their unquantised logits are compared.
    """
    a, b = _answer(one), _answer(other)
    first, second = (a or b), (b or a)
    if first is None or second is None:
        raise ValueError("one side must be quantised")
    chosen, others = (a.chosen if a else second.unquantised), (b.chosen if b else first.unquantised)
    unlike = sum(x != y for x, y in zip(chosen, others, strict=True)) / len(chosen)
    detail = f"equal for {_percent(1 - unlike)} of {len(chosen):,} samples of {first.dataset}"
    return Difference("choices", "classes", unlike, OTHERWISE_CHOSEN, detail)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
