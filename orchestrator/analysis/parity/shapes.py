"""Whether the layers that frameworks made are the same ones, and those of the model's definition."""

from collections.abc import Iterator, Sequence
from typing import Final

from orchestrator.results.parity import NativeLayer, ParityResult

WITH_AN_EDGE: Final = frozenset({"relu", "max_pool"})
"""Where the gradient jumps: at zero, and where two values of a window are equal."""


def kinds(result: ParityResult) -> set[str]:
    """Kinds of layers in a model: `conv2d` of `conv2d_1`."""
    return {layer.name.rpartition("_")[0] for layer in (*result.counted, *result.layers)}


def in_front_of_edges(result: ParityResult) -> frozenset[str]:
    """Layers whose gradients come back through one that jumps: a ReLU, a max pool."""
    names = [layer.name for layer in result.counted]
    edges = [place for place, name in enumerate(names) if name.rpartition("_")[0] in WITH_AN_EDGE]
    return frozenset(names[: edges[-1]]) if edges else frozenset()


def difference(label: str, result: ParityResult, other_label: str, other: ParityResult) -> str:
    """The first thing in which layers differ, in one line; empty where they agree.

    Native layers are held against the definition and against each other, the definitions (which images may hold in
    different states) against each other.
    """
    found = (
        *_against_definition(label, result),
        *_against_definition(other_label, other),
        *_between(label, result.counted, other_label, other.counted, whole=True),
        *_between(label, result.layers, other_label, other.layers, whole=False),
        *_totals(label, result, other_label, other),
    )
    return found[0] if found else ""


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
    """What differs layer by layer; `whole` also asks that each has every layer of the other."""
    mine, theirs = _by_name(layers), _by_name(others)
    for name in dict.fromkeys((*mine, *theirs)):
        if name in mine and name in theirs:
            yield from _unlike(name, label, mine[name], other_label, theirs[name])
        elif whole:
            yield f"{name} is in {label if name in mine else other_label} only"


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
