"""A side of a regression test, which is a release of a framework or of a package, and the matrix entry of each."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version
from pydantic import Field

from orchestrator.catalog import Catalog, UnsupportedError
from orchestrator.domain import Framework
from orchestrator.errors import InputError, did_you_mean
from orchestrator.matrix import FrameworkAxes, Matrix
from orchestrator.matrix.model import Pin, parse_pin, release_key
from orchestrator.matrix.values.kinds import DISTRIBUTION

_EXAMPLE = "mxnet==1.9.1 or mxnet==1.9.1,numpy==1.22.4"


@dataclass(frozen=True, slots=True)
class Side:
    """One side, a release of a framework or of a package, with further pinned packages."""

    name: str
    """The name in the catalog, or the canonical name of a package."""
    version: str
    """A version of the catalog, or of an entry of the matrix with the user's own image."""
    backend: tuple[str, str] | None = None
    """Name and version of its backend, for Keras."""
    packages: tuple[tuple[str, str], ...] = ()
    """Versions of other packages, sorted by name."""
    python: str = ""
    """The one Python that it must run on; if empty, pairing chooses one for both sides."""
    is_package: Annotated[bool, Field(exclude_if=lambda is_package: not is_package)] = False
    """True if it is a package in the environments of the matrix, whose frameworks stay as they are."""

    @property
    def pin(self) -> str:
        """Return the pin that comes first, as in `keras-mxnet==2.2.4.3 on mxnet==1.5.1`."""
        on = f" on {self.backend[0]}=={self.backend[1]}" if self.backend else ""
        return f"{self.name}=={self.version}{on}"

    @property
    def text(self) -> str:
        """Return the side as it is written, as in `mxnet==1.9.1,numpy==1.22.4`. `parse_side` reads all but Python."""
        return ",".join([self.pin, *(f"{name}=={version}" for name, version in self.packages)])

    @property
    def label(self) -> str:
        """Return the side for people, as in `mxnet 1.9.1 with numpy 1.22.4`."""
        own = self.pin.replace("==", " ")
        beside = " and ".join(f"{name} {version}" for name, version in self.packages)
        return f"{own} with {beside}" if beside else own

    @property
    def pins(self) -> dict[str, str]:
        """Return the versions of all packages that it sets besides a framework's own."""
        return dict(self.packages) | ({self.name: self.version} if self.is_package else {})


def parse_side(text: str, option: str, catalog: Catalog, held: Collection[str] = ()) -> Side:
    """Read a side, such as `mxnet==1.9.1,numpy==1.22.4`. `option` is where it was written, for messages.

    `held` are the packages, besides frameworks, that a side may be a release of: those that the matrix names.
    Raises `InputError` with every mistake, each in a line.
    """
    first, *rest = [part.strip() for part in text.split(",")]
    try:
        pin = parse_pin(first)
    except ValueError:
        raise InputError(f"{option} {text!r}: no pin of a framework; write one such as {_EXAMPLE}") from None
    is_package = catalog.entry(pin.name) is None and canonicalize_name(pin.name) in held
    mistakes = [*_package_mistakes(pin)] if is_package else [*_framework_mistakes(pin, catalog, held)]
    packages: dict[str, str] = {}
    for part in rest:
        names = {pin.name, pin.backend.name if pin.backend else ""}
        problem = _package(part, packages, names, pin.name if is_package else "the framework")
        if problem:
            mistakes.append(problem)
    if mistakes:
        raise InputError(*(f"{option} {text!r}: {mistake}" for mistake in mistakes))
    pinned = tuple(sorted(packages.items()))
    if is_package:
        return Side(canonicalize_name(pin.name), pin.version or "", packages=pinned, is_package=True)
    backend = (pin.backend.name, pin.backend.version or "") if pin.backend else None
    return Side(pin.name, pin.version or "", backend, pinned)


def watched_version(text: str) -> str:
    """Return the version that the text of a side names last, as in `mxnet==1.9.1` and `noop==1,tiny==2.0`."""
    return text.rpartition(",")[2].partition(" on ")[0].rpartition("==")[2]


def framework_version(text: str) -> str:
    """Return the framework's version in the text of a side, as 1.9.1 in `mxnet==1.9.1,numpy==1.22.4`."""
    return text.partition(",")[0].partition(" on ")[0].rpartition("==")[2]


def side_of(framework: Framework) -> Side:
    """Return the side of a planned cell, with all packages that are pinned in it."""
    backend = framework.backend
    return Side(
        framework.name, framework.version, (backend.name, backend.version) if backend else None, framework.packages
    )


def _package_mistakes(pin: Pin) -> list[str]:
    mistakes = []
    if pin.backend is not None:
        mistakes.append(f"the package {pin.name!r} runs on no backend; drop 'on {pin.backend.name}'")
    if pin.version is None:
        mistakes.append(f"names no one release; write it with '==', such as {pin.name}==1.22.4")
    elif not _is_version(pin.version):
        mistakes.append(f"{pin.version!r} is no version such as 1.22.4")
    return mistakes


def unknown_name(name: str, catalog: Catalog, held: Collection[str]) -> str:
    """Return the mistake in a name that is no framework, and none of the packages that the matrix names."""
    packages = ", and the matrix names no such package in `packages`" if held else ""
    return f"unknown framework {name!r}{packages}{did_you_mean(name, (*catalog.names(), *sorted(held)))}"


def _framework_mistakes(pin: Pin, catalog: Catalog, held: Collection[str]) -> list[str]:
    entry = catalog.entry(pin.name)
    if entry is None:
        return [unknown_name(pin.name, catalog, held)]
    mistakes = []
    if pin.version is None:
        newest = catalog.newest_known(pin.name) or "1.0"
        mistakes.append(f"names no one release; write it with '==', such as {pin.name}=={newest}")
    if entry.needs_backend and pin.backend is None:
        mistakes.append(f"{pin.name!r} needs a backend: {pin.name}==VERSION on {entry.backends[0]}==VERSION")
    if pin.backend is not None:
        if not entry.backends:
            mistakes.append(f"{pin.name!r} runs on no backend; drop 'on {pin.backend.name}'")
        elif pin.backend.name not in entry.backends:
            mistakes.append(
                f"unknown backend {pin.backend.name!r} of {pin.name}{did_you_mean(pin.backend.name, entry.backends)}"
            )
        elif pin.backend.version is None:
            mistakes.append(f"the backend needs one version: {pin.backend.name}==VERSION")
    return mistakes


def _package(part: str, packages: dict[str, str], frameworks: set[str], what: str) -> str:
    """Add a package to the pinned ones. Return the mistake in it, or an empty text.

    `what` is pinned by the beginning of the side already, for messages.
    """
    name, mark, version = (piece.strip() for piece in part.partition("=="))
    if not mark or not re.fullmatch(DISTRIBUTION, name):
        return f"{part!r} is no package with its version, such as numpy==1.22.4"
    if not _is_version(version):
        return f"{version!r} in {part!r} is no version such as 1.22.4"
    canonical = canonicalize_name(name)
    if canonical in {canonicalize_name(framework) for framework in frameworks if framework}:
        return f"{part!r} pins {what} once more; its version stands at the beginning"
    if canonical in packages:
        return f"{name!r} is pinned twice; keep one"
    packages[canonical] = version
    return ""


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


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
        if release_key(side.version) in {release_key(version) for version in axes.versions}:
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


def side_pythons(matrix: Matrix, catalog: Catalog, side: Side) -> tuple[str, ...]:
    """Return the Pythons that the catalog has for a side, of those that its entry of the matrix names, if it names any.

    A matrix has the default Python of a release written out, which names none for other releases. There is none for an
    image of the user's own. Raises `InputError` if the matrix has no entry of its framework.
    """
    entry = _entry(matrix, catalog, side)
    offered = _offered(catalog, side, entry)
    if _is_default(catalog, entry):
        return offered
    return tuple(python for python in offered if python in entry.pythons)


def _is_default(catalog: Catalog, entry: FrameworkAxes) -> bool:
    """Return true if the Pythons of an entry are those that the catalog has for its releases by default."""
    releases = (
        Side(entry.name, version, backend) for version in entry.versions for backend in entry.backends or (None,)
    )
    defaults = {_offered(catalog, release, entry)[:1] for release in releases}
    return not entry.pythons or entry.pythons in defaults
