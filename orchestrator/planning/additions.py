"""The cells that `include` adds.

An entry that names framework==version, system and model spans a small product of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from orchestrator.catalog import SYNTHETIC, Catalog, ModelInfo
from orchestrator.errors import InputError
from orchestrator.matrix import FrameworkAxes, Matrix, ModelAxes, Rule, Settings
from orchestrator.matrix.load_axes import LoadAxes
from orchestrator.matrix.model import GenerationAxes, Pin, parse_pin, release_key
from orchestrator.modes.parts.sizes import SIZE
from orchestrator.planning import axes
from orchestrator.planning.axes import Grid


def grids(matrix: Matrix, catalog: Catalog, models: Mapping[str, ModelInfo]) -> tuple[Grid, ...]:
    """Return every grid of a matrix, its own first and then those that `include` adds."""
    return (axes.main_grid(matrix), *added_grids(matrix, catalog, models))


def added_grids(matrix: Matrix, catalog: Catalog, models: Mapping[str, ModelInfo]) -> Iterator[Grid]:
    """Yield a grid for each framework of each entry of `include` that names whole cells.

    Axes that the entry leaves open are as in the matrix, or at their defaults if the matrix has no such entry.
    """
    for include in matrix.include:
        rule = include.rule
        framework_pins = [parse_pin(text) for text in rule.frameworks]
        if not (rule.systems and rule.models and framework_pins and all(pin.version for pin in framework_pins)):
            continue
        for pin in framework_pins:
            yield Grid(
                frameworks=(_framework(matrix, rule, pin, catalog),),
                systems=tuple(system for system in matrix.systems if system.name in rule.systems),
                models=tuple(
                    entry for name in rule.models if name in models for entry in _models(matrix, rule, models[name])
                ),
                modes=rule.modes or matrix.modes,
                options=dict(matrix.options),
            )


def _framework(matrix: Matrix, rule: Rule, pin: Pin, catalog: Catalog) -> FrameworkAxes:
    version = pin.version or ""
    entry = next((axes for axes in matrix.frameworks if _has_release(axes, pin)), None)
    if entry is None:
        entry = FrameworkAxes(pin.name, (version,), place=rule.place)
        known = catalog.entry(pin.name)
        if known and known.needs_backend and (pin.backend is None or pin.backend.version is None):
            wanted = f"{pin.name}=={version} on {known.backends[0]}==VERSION"
            raise InputError(f"{rule.place}: include: {pin.name!r} needs a backend: {wanted}")
    backends = ((pin.backend.name, pin.backend.version or ""),) if pin.backend else entry.backends
    return replace(
        entry,
        versions=(_spelled(entry, pin) or version,),
        backends=backends,
        pythons=rule.pythons or entry.pythons,
        options=tuple((dict(entry.options) | dict(rule.options)).items()),
    )


def _has_release(axes: FrameworkAxes, pin: Pin) -> bool:
    """Return true if an entry has the release of a pin, however either one spells it."""
    if axes.name != pin.name or _spelled(axes, pin) is None:
        return False
    return pin.backend is None or any(
        (pin.backend.name, release_key(pin.backend.version or "")) == (name, release_key(version))
        for name, version in axes.backends
    )


def _spelled(axes: FrameworkAxes, pin: Pin) -> str | None:
    """Return the version of a pin as an entry spells it, or None if the entry lacks it.

    One spelling gives a release one id.
    """
    wanted = release_key(pin.version or "")
    return next((version for version in axes.versions if release_key(version) == wanted), None)


def _models(matrix: Matrix, rule: Rule, info: ModelInfo) -> Iterator[ModelAxes]:
    entries = [entry for entry in matrix.models if entry.name == info.name]
    if not entries:
        settings = Settings(shortening=matrix.shortening.over(info.shortening))
        entries = [ModelAxes(info.name, (info.batch_size,), (SYNTHETIC.name,), settings)]
    is_narrower = rule.batch_sizes or rule.datasets or rule.feeds or rule.workers or rule.scalings or rule.axes
    if is_narrower or rule.load != LoadAxes() or rule.generation != GenerationAxes():
        entries = entries[:1]
    named = dict(rule.axes) if info.sizes else {}
    sizes = tuple(str(size) for size in named.pop(SIZE, ()) if size in info.sizes)
    known = next(iter(info.sizes.values()), {})
    own = {name: tuple(int(value) for value in values) for name, values in named.items() if name in known}
    for entry in entries:
        yield replace(
            entry,
            batch_sizes=rule.batch_sizes or entry.batch_sizes,
            datasets=rule.datasets or entry.datasets,
            feeds=rule.feeds or entry.feeds,
            workers=rule.workers or entry.workers,
            scalings=rule.scalings or entry.scalings,
            load=rule.load.over(entry.load),
            generation=rule.generation.over(entry.generation),
            sizes=sizes or entry.sizes,
            axes=tuple((dict(entry.axes) | own).items()),
        )
