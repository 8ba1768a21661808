"""The comparison of the layers of a model with its definition, and of two sides with each other."""

from collections.abc import Iterator, Sequence
from typing import Final

from orchestrator.modes.parts.rules import Evidence
from orchestrator.results.parity.contract import Dropout, NativeLayer, ParityResult

WITH_AN_EDGE: Final = frozenset({"relu", "max_pool"})
"""Layers whose gradient jumps, at zero or where two values of a window are equal."""
ROUNDING: Final = 1e-5
"""Relative change of a loss up to which it is rounding, if nothing is learned. It is the bar of any first loss."""


def kinds(result: ParityResult) -> set[str]:
    """Return the kinds of layers in a model, such as `conv2d` for `conv2d_1`."""
    return {layer.name.rpartition("_")[0] for layer in (*result.counted, *result.layers)}


def in_front_of_edges(result: ParityResult) -> frozenset[str]:
    """Return the layers whose gradients come back through a ReLU or a max pool, where they jump."""
    names = [layer.name for layer in result.counted]
    edges = [place for place, name in enumerate(names) if name.rpartition("_")[0] in WITH_AN_EDGE]
    return frozenset(names[: edges[-1]]) if edges else frozenset()


def shape_difference(label: str, result: ParityResult, other_label: str, other: ParityResult) -> str:
    """Return in one line the first difference between layers, or "" if they agree.

    Native layers are compared with the definition and with each other. Definitions are compared with each other, as
    images may hold different versions of them.
    """
    differences = (
        *_against_definition(label, result),
        *_against_definition(other_label, other),
        *_between(label, result.counted, other_label, other.counted, whole=True),
        *_between(label, result.layers, other_label, other.layers, whole=False),
        *_totals(label, result, other_label, other),
    )
    return differences[0] if differences else ""


def _against_definition(label: str, result: ParityResult) -> Iterator[str]:
    native, counted = _by_name(result.layers), _by_name(result.counted)
    for name, layer in counted.items():
        if name in native:
            yield from _unlike(name, label, native[name], "the model's definition", layer)
        elif layer.parameters and "native_layers" not in result.lacking:
            yield f"{label} made no {name}, which the model's definition has"
    yield from (f"{label} made {name}, which the model's definition has not" for name in native if name not in counted)
    if result.parameters != result.counted_parameters:
        yield f"{label} made {result.parameters:,} parameters of a model that has {result.counted_parameters:,}"


def _between(
    label: str, layers: Sequence[NativeLayer], other_label: str, others: Sequence[NativeLayer], *, whole: bool
) -> Iterator[str]:
    """Yield the differences layer by layer.

    With `whole`, each side also needs every layer of the other.
    """
    by_name, others_by_name = _by_name(layers), _by_name(others)
    for name in dict.fromkeys((*by_name, *others_by_name)):
        if name in by_name and name in others_by_name:
            yield from _unlike(name, label, by_name[name], other_label, others_by_name[name])
        elif whole:
            yield f"{name} is in {label if name in by_name else other_label} only"


def _totals(label: str, result: ParityResult, other_label: str, other: ParityResult) -> Iterator[str]:
    if result.parameters != other.parameters:
        yield f"{result.parameters:,} parameters in {label}, {other.parameters:,} in {other_label}"


def _unlike(name: str, label: str, layer: NativeLayer, other_label: str, other: NativeLayer) -> Iterator[str]:
    if layer.shape != other.shape:
        yield f"{name} yields {_shape(layer)} in {label}, {_shape(other)} in {other_label}"
    elif layer.parameters != other.parameters:
        yield f"{name} has {layer.parameters:,} parameters in {label}, {other.parameters:,} in {other_label}"


def _shape(layer: NativeLayer) -> str:
    return "×".join(str(extent) for extent in layer.shape) or "scalars"


def _by_name(layers: Sequence[NativeLayer]) -> dict[str, NativeLayer]:
    return {layer.name: layer for layer in layers}


def unasked_dropouts(result: ParityResult) -> tuple[str, ...]:
    """Return the dropouts of the model whose losses an answer lacks, as older answers do."""
    kinds = {layer.name: layer.name.rpartition("_")[0] for layer in result.counted}
    return tuple(name for name, kind in kinds.items() if kind == "dropout" and name not in result.dropouts)


def dropout_difference(
    label: str, result: ParityResult, other_label: str, other: ParityResult
) -> tuple[str, Evidence] | None:
    """Return in one line the first difference of dropouts from the definition or from each other, or None."""
    differences = (
        *_drops_against_definition(label, result),
        *_drops_against_definition(other_label, other),
        *_drops_between(label, result, other_label, other),
    )
    return (differences[0], "dropout") if differences else None


def _drops_against_definition(label: str, result: ParityResult) -> Iterator[str]:
    for name, seen in result.dropouts.items():
        if _drops(seen) and not seen.rate:
            yield f"{label} drops in {name}, whose rate is 0"
        elif seen.rate and not _drops(seen):
            yield f"{label} drops nothing in {name}, whose rate is {seen.rate:g}: the loss stays {seen.losses[0]:.6g}"


def _drops_between(label: str, result: ParityResult, other_label: str, other: ParityResult) -> Iterator[str]:
    for name, seen in result.dropouts.items():
        rate = other.dropouts[name].rate if name in other.dropouts else seen.rate
        if rate != seen.rate:
            yield f"{name} has a rate of {seen.rate:g} in {label}, {rate:g} in {other_label}"


def _drops(seen: Dropout) -> bool:
    """Return true if losses change by more than rounding."""
    return max(seen.losses) - min(seen.losses) > ROUNDING * max(map(abs, seen.losses))
