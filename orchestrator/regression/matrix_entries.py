"""The matrix entries of both sides, and the Python that they share."""

from collections.abc import Sequence
from dataclasses import replace

from packaging.version import Version

from orchestrator.catalog import Catalog, UnsupportedError
from orchestrator.domain import Framework
from orchestrator.errors import InputError
from orchestrator.matrix import FrameworkAxes, Matrix, pins
from orchestrator.regression.sides import Side


def side_axes(matrix: Matrix, catalog: Catalog, sides: tuple[Side, Side]) -> tuple[FrameworkAxes, FrameworkAxes]:
    """Return the entry of each side. Raises `InputError` if the matrix has none of its framework."""
    entries = [_entry(matrix, catalog, side) for side in sides]
    pythons = _pythons(catalog, sides, entries)
    one, other = (_axes(entry, side, python) for side, entry, python in zip(sides, entries, pythons, strict=True))
    return one, other


def _entry(matrix: Matrix, catalog: Catalog, side: Side) -> FrameworkAxes:
    """Return the entry a side takes its other axes from, that of its release or the first of its framework.

    An image or Dockerfile of the user's own is one release; it lends nothing to others.
    """
    own = [axes for axes in matrix.frameworks if axes.name == side.name]
    for axes in own:
        if pins.release(side.version) in {pins.release(version) for version in axes.versions}:
            return axes
    # A flavour takes the axes of its family where it has none of its own: mxnet-mkl those of mxnet.
    family = [axes for axes in matrix.frameworks if catalog.family(axes.name) == catalog.family(side.name)]
    if not family:
        named = ", ".join(dict.fromkeys(axes.name for axes in matrix.frameworks))
        raise InputError(
            f"{matrix.path}: frameworks: no entry of {side.name!r}, which is what is to be tested; there is {named}"
        )
    lending = (axes for axes in (*own, *family) if not axes.image and not axes.dockerfile)
    return next(lending, FrameworkAxes(side.name, (side.version,), place=family[0].place))


def _axes(entry: FrameworkAxes, side: Side, pythons: tuple[str, ...]) -> FrameworkAxes:
    """Return an entry with the release and the pins of a side."""
    own = bool(entry.image or entry.dockerfile)
    if own and (side.packages or side.backend):
        raise InputError(f"{entry.place}: your own image of {side.pin} decides its packages; drop those of the side")
    pinned = {name: (version,) for name, version in side.packages}
    return replace(
        entry,
        name=side.name,
        versions=(side.version,),
        backends=(side.backend,) if side.backend else (),
        pythons=() if own else pythons,
        packages=tuple(sorted({**dict(entry.packages), **pinned}.items())),
        expect=None,
    )


def _pythons(
    catalog: Catalog, sides: Sequence[Side], entries: Sequence[FrameworkAxes]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the Pythons of both sides, if possible the same."""
    fixed = tuple((side.python,) if side.python else () for side in sides)
    if any(fixed):
        one, other = fixed
        return one or other, other or one
    offered = [_offered(catalog, side, entry) for side, entry in zip(sides, entries, strict=True)]
    if not all(offered):
        return entries[0].pythons, entries[1].pythons
    common = [python for python in offered[0] if python in offered[1]]
    for entry in entries:
        if entry.pythons and set(entry.pythons) <= set(common):
            return entry.pythons, entry.pythons
    if not common:
        return offered[0][:1], offered[1][:1]
    newest = (max(common, key=Version),)
    return newest, newest


def _offered(catalog: Catalog, side: Side, entry: FrameworkAxes) -> tuple[str, ...]:
    """Return the Pythons the catalog has for a side, or none for an image of the user's own."""
    if entry.image or entry.dockerfile:
        return ()
    try:
        return catalog.pythons(Framework(side.name, side.version, Framework(*side.backend) if side.backend else None))
    except UnsupportedError:
        return ()
