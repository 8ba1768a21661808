"""The check that each dropout of a model drops in training, as its definition says."""

from collections.abc import Iterator
from typing import Final

from orchestrator.modes.parts.rules import Evidence
from orchestrator.results.parity.contract import Dropout, ParityResult

ROUNDING: Final = 1e-5
"""Relative change of a loss up to which it is rounding, if nothing is learned. It is the bar of any first loss."""


def unasked(result: ParityResult) -> tuple[str, ...]:
    """Return the dropouts of the model whose losses an answer lacks, as older answers do."""
    kinds = {layer.name: layer.name.rpartition("_")[0] for layer in result.counted}
    return tuple(name for name, kind in kinds.items() if kind == "dropout" and name not in result.dropouts)


def difference(label: str, result: ParityResult, other_label: str, other: ParityResult) -> tuple[str, Evidence] | None:
    """Return in one line the first difference of dropouts from the definition or from each other, or None."""
    differences = (
        *_against_definition(label, result),
        *_against_definition(other_label, other),
        *_between(label, result, other_label, other),
    )
    return (differences[0], "dropout") if differences else None


def _against_definition(label: str, result: ParityResult) -> Iterator[str]:
    for name, seen in result.dropouts.items():
        if _drops(seen) and not seen.rate:
            yield f"{label} drops in {name}, whose rate is 0"
        elif seen.rate and not _drops(seen):
            yield f"{label} drops nothing in {name}, whose rate is {seen.rate:g}: the loss stays {seen.losses[0]:.6g}"


def _between(label: str, result: ParityResult, other_label: str, other: ParityResult) -> Iterator[str]:
    for name, seen in result.dropouts.items():
        rate = other.dropouts[name].rate if name in other.dropouts else seen.rate
        if rate != seen.rate:
            yield f"{name} has a rate of {seen.rate:g} in {label}, {rate:g} in {other_label}"


def _drops(seen: Dropout) -> bool:
    """Return true if losses change by more than rounding."""
    return max(seen.losses) - min(seen.losses) > ROUNDING * max(map(abs, seen.losses))
