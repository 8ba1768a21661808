"""A package as a side of a regression test, with the environments of a matrix that hold it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from orchestrator.catalog import Catalog, UnsupportedError
from orchestrator.domain import Cell, Environment, Framework
from orchestrator.matrix import FrameworkAxes, Matrix
from orchestrator.matrix.model import ScriptAxes
from orchestrator.planning.axes import frameworks
from orchestrator.regression.sides import Side
from orchestrator.wording import listing

_EVERYWHERE = frozenset({"numpy"})
"""The package that our own code imports in every environment, whether the catalog asks for it or the framework does."""


def held_packages(matrix: Matrix, catalog: Catalog) -> frozenset[str]:
    """Return the canonical names of the packages that environments of a matrix are known to hold.

    The distributions of the frameworks themselves are none of them.
    """
    of_entries = (name for axes in matrix.frameworks for name in _held(axes, catalog))
    of_scripts = (name for axes in matrix.scripts for name, _ in axes.packages)
    own = {name for axes in matrix.frameworks for name in _distributions(axes, catalog)}
    return frozenset({*of_entries, *of_scripts} - own)


def with_package(matrix: Matrix, catalog: Catalog, side: Side) -> Matrix:
    """Return a matrix whose environments that hold a package have it in the version of a side. Frameworks stay."""
    entries = (
        _pinned(axes, side) if side.name in _held(axes, catalog) else replace(axes, pythons=_pythons(axes, side))
        for axes in matrix.frameworks
    )
    return replace(matrix, frameworks=tuple(entries), scripts=tuple(_scripts(matrix.scripts, side)))


def holds(cell: Cell, side: Side) -> bool:
    """Return true if the environment of a cell has the packages of a side in its versions."""
    return side.pins.items() <= dict(cell.framework.packages).items()


def side_label(side: Side, cells: Iterable[Cell]) -> str:
    """Return a side for people. One of a package names the frameworks too, as in `numpy 1.26.4 in torch 2.13.0`."""
    kept = kept_frameworks(side, cells)
    return f"{side.label} in {kept}" if kept else side.label


def kept_frameworks(side: Side, cells: Iterable[Cell]) -> str:
    """Return the frameworks that stay as they are next to a package, or an empty text if a framework is the side."""
    if not side.is_package:
        return ""
    return listing(list(dict.fromkeys(cell.framework.label for cell in cells)))


def _held(axes: FrameworkAxes, catalog: Catalog) -> frozenset[str]:
    """Return the packages besides the framework that the environments of an entry are known to hold."""
    if axes.image or axes.dockerfile:
        return frozenset()
    named = {name for name, _ in axes.packages}
    required = (Requirement(line) for each in _environments(axes, catalog) for line in each.requirements)
    of_catalog = {canonicalize_name(each.name) for each in required}
    return frozenset((named | of_catalog | _EVERYWHERE) - set(_distributions(axes, catalog)))


def _environments(axes: FrameworkAxes, catalog: Catalog) -> Iterator[Environment]:
    for framework in _bare(axes):
        try:
            yield catalog.environment(framework, 0)
        except UnsupportedError:
            continue


def _distributions(axes: FrameworkAxes, catalog: Catalog) -> Iterator[str]:
    """Yield what the catalog installs for a framework and its backend."""
    if axes.image or axes.dockerfile:
        return
    for environment in _environments(axes, catalog):
        yield from (canonicalize_name(name) for name, _ in environment.expected_versions)


def _bare(axes: FrameworkAxes) -> Iterator[Framework]:
    """Yield the releases of an entry, without packages."""
    yield from frameworks(replace(axes, packages=(), pythons=()))


def _pinned(axes: FrameworkAxes, side: Side) -> FrameworkAxes:
    pins = {name: (version,) for name, version in side.pins.items()}
    packages = {**dict(axes.packages), **pins}
    return replace(axes, packages=tuple(sorted(packages.items())), pythons=_pythons(axes, side), expect=None)


def _pythons(axes: FrameworkAxes, side: Side) -> tuple[str, ...]:
    """Return the one Python that a side must run on, or those of the entry."""
    is_own = axes.image or axes.dockerfile
    return (side.python,) if side.python and not is_own else axes.pythons


def _scripts(every: Iterable[ScriptAxes], side: Side) -> Iterator[ScriptAxes]:
    """Yield scripts, those with the package of a side in its version."""
    for axes in every:
        named = dict(axes.packages)
        yield replace(axes, packages=tuple(sorted({**named, **side.pins}.items()))) if side.name in named else axes
