"""The loading of `nightly.yaml`, to values or to every mistake in it."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from orchestrator.catalog import Catalog
from orchestrator.catalog import source as yaml_source
from orchestrator.catalog.source import Loc, Mistake, Source
from orchestrator.errors import InputError, did_you_mean
from orchestrator.matrix import mistakes
from orchestrator.matrix.model import Pin, parse_pin
from orchestrator.regression.history.acknowledged import VERSION
from orchestrator.regression.nightly.settings import ACCEPTED, AnchorEntry, NightlyFile, WebhookEntry
from orchestrator.regression.printed import PREFIX
from orchestrator.regression.rules import BY_NAME, blocks_needed, too_few_blocks
from orchestrator.regression.sides import unknown_name


@dataclass(frozen=True, slots=True)
class Nightly:
    """A nightly as it was configured. Paths are absolute."""

    settings: NightlyFile
    source: Source
    """The file, with the places of its values."""
    matrix: Path
    results: Path
    reports: Path
    acknowledged: Path | None
    distribution: str
    """The name on the package index."""
    is_of_matrix: bool = False
    """True if a package is watched in the environments of the matrix that hold it."""

    @property
    def path(self) -> str:
        """Return the path of the file, as the user wrote it."""
        return self.source.name

    def at(self, *loc: str | int) -> str:
        """Return the place of a value for messages, as in `nightly.yaml:5:10: select`."""
        place = self.source.place(loc)
        return f"{self.path}:{place.line}:{place.column}: {loc[0]}"

    def side(self, version: str) -> str:
        """Return one release as a side of a regression test is written."""
        pin = parse_pin(self.settings.watch)
        on = f" on {pin.backend.name}{pin.backend.versions}" if pin.backend else ""
        if self.settings.package:
            return f"{pin.name}{pin.versions}{on},{self.settings.package}=={version}"
        return f"{pin.name}=={version}{on}"

    @property
    def watched(self) -> str:
        """Return the name people use, `mxnet` or `numpy in mxnet==1.9.1`."""
        return f"{self.settings.package} in {self.settings.watch}" if self.settings.package else self.settings.watch

    @property
    def name(self) -> str:
        """Return the name before `==` of a watched release."""
        return self.settings.package or parse_pin(self.settings.watch).name


Held = Callable[[Path], Collection[str]]
"""Returns the packages that a matrix names, by the path of its file."""


def _none(_matrix: Path) -> Collection[str]:
    return ()


def load(path: Path, catalog: Catalog, held: Held = _none) -> Nightly:
    """Read `nightly.yaml`. Relative paths in it start at its folder.

    `held` is asked if what is watched is no framework. Raises `InputError` with all mistakes, each
    `file:line:column: place: what is wrong`.
    """
    source = yaml_source.read(path, "nightly file")
    source.require_version("a nightly file", VERSION)
    problems = [
        *source.mistakes,
        *mistakes.of_shape(source, NightlyFile, {"webhook": WebhookEntry, "anchor": AnchorEntry}),
    ]
    problems += _meaning(source, catalog, path.parent, held)
    if problems:
        raise InputError(*mistakes.lines(source, problems))
    settings = NightlyFile.model_validate(source.value)
    folder = path.parent.absolute()
    is_of_matrix = catalog.entry(parse_pin(settings.watch).name) is None
    return Nightly(
        settings,
        source,
        matrix=folder / settings.matrix,
        results=folder / settings.results,
        reports=folder / settings.reports,
        acknowledged=folder / settings.acknowledged if settings.acknowledged else None,
        distribution=settings.distribution or settings.package or _distribution(settings.watch, catalog),
        is_of_matrix=is_of_matrix,
    )


def _meaning(source: Source, catalog: Catalog, folder: Path, held: Held) -> Iterator[Mistake]:
    """Yield the mistakes beyond the shape of each value."""
    for key in ("matrix", "acknowledged"):
        given = source.value.get(key, "matrix.yaml" if key == "matrix" else None)
        if isinstance(given, str) and "\0" not in given and not (folder / given).is_file():
            yield source.mistake((key,), f"{given!r}: no such file; it is relative to this one")
    yield from _watch(source, catalog, folder, held)
    yield from _versions(source)
    yield from _anchor(source)
    yield from _metrics(source)
    yield from _single_steps(source)


def _watch(source: Source, catalog: Catalog, folder: Path, held: Held) -> Iterator[Mistake]:
    text = source.value.get("watch")
    try:
        pin = parse_pin(text) if isinstance(text, str) else None
    except ValueError:
        return
    if pin is None:
        return
    loc: Loc = ("watch",)
    package = source.value.get("package")
    entry = catalog.entry(pin.name)
    if entry is None:
        yield from _watched_package(source, pin, catalog, _held(source, folder, held))
        return
    if package is None and pin.versions:
        yield source.mistake(loc, f"names a release; releases of it are what is watched: write {pin.name}")
    if package is not None and pin.version is None:
        yield source.mistake(loc, f"names no one release to watch a package in: write {pin.name}==VERSION")
    if entry.backends and (entry.needs_backend if pin.backend is None else pin.backend.version is None):
        yield source.mistake(loc, f"{pin.name!r} needs a backend: {pin.name} on {entry.backends[0]}==VERSION")
    if not entry.backends and pin.backend is not None:
        yield source.mistake(loc, f"{pin.name!r} runs on no backend; drop 'on {pin.backend.name}'")
    if package is None and not entry.packages[pin.name] and source.value.get("distribution") is None:
        yield source.mistake(loc, f"{pin.name!r} has no package on any index; name a `package` to watch in it")


def _held(source: Source, folder: Path, held: Held) -> Collection[str]:
    """Return the packages of the matrix, or none if there is no such file, which is a mistake of its own."""
    matrix = source.value.get("matrix", NightlyFile.model_fields["matrix"].default)
    is_path = isinstance(matrix, str) and "\0" not in matrix
    return held(folder / matrix) if is_path and (folder / matrix).is_file() else ()


def _watched_package(source: Source, pin: Pin, catalog: Catalog, held: Collection[str]) -> Iterator[Mistake]:
    """Yield the mistakes in a package that is watched in the environments of the matrix."""
    loc: Loc = ("watch",)
    if canonicalize_name(pin.name) not in held:
        yield source.mistake(loc, unknown_name(pin.name, catalog, held))
        return
    if pin.versions:
        yield source.mistake(loc, f"names a release; releases of it are what is watched: write {pin.name}")
    if pin.backend is not None:
        yield source.mistake(loc, f"the package {pin.name!r} runs on no backend; drop 'on {pin.backend.name}'")
    if source.value.get("package") is not None:
        yield source.mistake(loc, f"{pin.name!r} is a package itself; drop `package`, or watch a framework here")


def _versions(source: Source) -> Iterator[Mistake]:
    for key in ("baseline", "first"):
        given = source.value.get(key)
        text = getattr(given, "text", given)
        if isinstance(text, str) and not (key == "baseline" and text == ACCEPTED) and not _is_version(text):
            words = "accepted, or a release such as 1.9.1" if key == "baseline" else "a release such as 1.9.1"
            yield source.mistake((key,), f"{text!r} is no version: write {words}")


def _anchor(source: Source) -> Iterator[Mistake]:
    """Yield an anchor that is no release, or is no older than the release that others are held against."""
    entry = source.value.get("anchor")
    given = entry.get("release") if isinstance(entry, dict) else None
    text = getattr(given, "text", given)
    loc: Loc = ("anchor", "release")
    if not isinstance(text, str):
        return
    if not _is_version(text):
        yield source.mistake(loc, f"{text!r} is no version: write a release such as 1.9.1")
        return
    for key in ("baseline", "first"):
        other = getattr(source.value.get(key), "text", source.value.get(key))
        if isinstance(other, str) and _is_version(other) and Version(text) > Version(other):
            yield source.mistake(loc, f"{text} is newer than the {key} {other}: write an older release, or the same")


def _metrics(source: Source) -> Iterator[Mistake]:
    given = source.value.get("metrics")
    listed = given if isinstance(given, list) else [given]
    for index, text in enumerate(listed):
        name = text.partition("=")[0].partition("@")[0].strip() if isinstance(text, str) else ""
        if name and name not in BY_NAME and not name.startswith(PREFIX):  # the matrix says what scripts print
            loc: Loc = ("metrics", index) if isinstance(given, list) else ("metrics",)
            yield source.mistake(loc, f"unknown metric {name!r}{did_you_mean(name, tuple(BY_NAME))}")


def _single_steps(source: Source) -> Iterator[Mistake]:
    """Yield metrics that have no bounds after as many blocks as a trial may have."""
    given, most = (
        source.value.get("metrics"),
        source.value.get("max_blocks", NightlyFile.model_fields["max_blocks"].default),
    )
    if not isinstance(most, int):
        return
    for index, text in enumerate(given if isinstance(given, list) else [given]):
        name = text.partition("=")[0].partition("@")[0].strip() if isinstance(text, str) else ""
        if reason := too_few_blocks(name, most):
            loc: Loc = ("metrics", index) if isinstance(given, list) else ("metrics",)
            yield source.mistake(loc, f"{reason}: write max_blocks: {blocks_needed(name)} or more")


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def _distribution(watch: str, catalog: Catalog) -> str:
    name = parse_pin(watch).name
    entry = catalog.entry(name)
    return entry.packages[name].partition("[")[0] if entry else canonicalize_name(name)
