"""The sizes and axes of the models of a matrix, with what is wrong with them."""

from collections.abc import Iterator, Mapping
from itertools import product

from orchestrator.catalog import ModelInfo
from orchestrator.catalog.source import Loc, Mistake, Source
from orchestrator.errors import did_you_mean
from orchestrator.matrix import file

_MOST_TRIED = 256
"""Sets of axes of one entry that are followed through the model's file."""


def mistakes(source: Source, loc: Loc, entry: file.ModelEntry, info: ModelInfo | None) -> Iterator[Mistake]:
    """Yield a mistake for each size and axis that a model lacks, or for the first axes that do not go together."""
    if info is None:
        return
    if not info.sizes:
        for key in ("size", *entry.axes):
            if getattr(entry, key):
                yield source.mistake((*loc, key), f"{entry.name} has no sizes; drop this", key=True)
        return
    unknown = [size for size in entry.size or () if size not in info.sizes]
    for size in unknown:
        near = did_you_mean(size, tuple(info.sizes)) or f"; there are {', '.join(info.sizes)}"
        yield source.mistake((*loc, "size"), f"{entry.name} has no size {size!r}{near}")
    known = next(iter(info.sizes.values()))
    for axis in entry.axes:
        if axis not in known:
            yield source.mistake((*loc, axis), f"{entry.name} has no axis {axis!r}", key=True)
    if not unknown and entry.axes and set(entry.axes) <= set(known):
        yield from _refused(source, loc, entry, info)


def _refused(source: Source, loc: Loc, entry: file.ModelEntry, info: ModelInfo) -> Iterator[Mistake]:
    for tried, (axes, _) in enumerate(every(info.sizes, entry.size or tuple(info.sizes)[:1], entry.axes)):
        reason = info.refusal(axes) if tried < _MOST_TRIED else ""
        if reason:
            yield source.mistake((*loc, next(iter(entry.axes))), f"{entry.name}: {reason}")
            return


def every(
    known: Mapping[str, Mapping[str, int]], sizes: tuple[str, ...], axes: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[dict[str, int], tuple[str, dict[str, int]]]]:
    """Yield every set of axes of some sizes and of values in their place.

    Each comes with the name of its size and the axes that differ from it, and comes once.
    """
    for size in sizes:
        seen = set()
        for chosen in product(*axes.values()):
            changed = {name: value for name, value in zip(axes, chosen, strict=True) if known[size].get(name) != value}
            if tuple(changed.items()) not in seen:
                seen.add(tuple(changed.items()))
                yield {**known[size], **changed}, (size, changed)
