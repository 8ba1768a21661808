"""The reader of `images/catalog/*.yaml`, which reports every mistake in every file with its place."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version
from pydantic import ValidationError

from orchestrator.catalog import source
from orchestrator.catalog.catalog import Catalog
from orchestrator.catalog.model import Entry, Release
from orchestrator.catalog.model_files.definitions import default_options
from orchestrator.errors import InputError, plain_words


def load(folder: Path) -> Catalog:
    """Read every `*.yaml` of a folder, each under the name of its framework.

    Raises `InputError` with a line for every mistake in every file.
    """
    entries: dict[str, Entry] = {}
    mistakes: list[str] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            entries[path.stem] = _entry(path)
        except InputError as error:
            mistakes.extend(error.messages)
    if not entries and not mistakes:
        raise InputError(f"{folder}: holds no framework; it should be the folder images/catalog")
    if not mistakes:
        mistakes.extend(_contradictions(folder, entries))
    if mistakes:
        raise InputError(*mistakes)
    return Catalog(MappingProxyType(entries))


def _entry(path: Path) -> Entry:
    read = source.read(path, "catalog file")
    value = _texts(read.value)
    mistakes = [*read.mistakes, *(read.mistake(loc, text) for loc, text in _filled(value))]
    try:
        entry = Entry.model_validate(value)
    except ValidationError as error:
        for wrong in error.errors(include_url=False, include_context=False):
            unknown = wrong["type"] == "extra_forbidden"
            text = f"unknown key {wrong['loc'][-1]!r}" if unknown else plain_words(wrong["msg"])
            mistakes.append(read.mistake(wrong["loc"], text, key=unknown))
    else:
        mistakes.extend(read.mistake(loc, text) for loc, text in _wrong(path.stem, entry))
    if mistakes:
        raise InputError(*(mistake.at(read.name) for mistake in sorted(mistakes)))
    return entry


def _filled(value: Any) -> list[tuple[source.Loc, str]]:
    """Give every option the default of its builder, and return the mistakes in the options."""
    if not isinstance(value, dict) or not isinstance(value.get("options"), dict):
        return []
    wrong: list[tuple[source.Loc, str]] = []
    builder = f"benchmarks/frameworks/{value.get('builder')}.py"
    defaults = default_options(str(value.get("builder")))
    for name, option in value["options"].items():
        if not isinstance(option, dict):
            continue
        if "default" in option:
            wrong.append((("options", name, "default"), f"the default stands in OPTIONS of {builder}; remove it here"))
        elif name not in defaults:
            wrong.append((("options", name), f"OPTIONS of {builder} has no option {name!r}"))
        values = option.get("values")
        option["default"] = defaults.get(name, values[0] if isinstance(values, list) and values else "")
    return wrong


def _texts(value: object, key: str = "") -> object:
    """Return versions that were written as numbers as the text that was written, such as `3.10`."""
    if isinstance(value, dict):
        return {name: _texts(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_texts(item, key) for item in value]
    return getattr(value, "text", value) if key in {"python", "known"} else value


def _wrong(name: str, entry: Entry) -> Iterator[tuple[source.Loc, str]]:
    """Yield the mistakes in an entry that its shape cannot rule out."""
    if name not in entry.packages:
        yield ("packages",), f"has no line for {name!r}, the name of the file"
    for option_name, option in entry.options.items():
        if not any(_same(option.default, value) for value in option.values):
            yield ("options", option_name, "values"), f"the builder's default {option.default!r} is none of them"
    for backend in entry.backend_variables:
        if backend not in entry.backends:
            yield ("backend_variables", backend), f"{backend!r} is none of the backends"
    for index, release in enumerate(entry.releases):
        yield from _wrong_release(("releases", index), entry, release)
    yield from _wrong_known(entry)


def _wrong_known(entry: Entry) -> Iterator[tuple[source.Loc, str]]:
    for index, version in enumerate(entry.known):
        if not any(_holds(release, version) for release in entry.releases):
            yield ("known", index), f"{version!r} is in no range of releases"
    for version, pins in entry.known_backends.items():
        if version not in entry.known:
            yield ("known_backends", version), f"{version!r} is not in known"
        for pin in pins:
            if pin.partition("==")[0] not in entry.backends:
                yield ("known_backends", version), f"{pin!r} names none of the backends as BACKEND==VERSION"


def _wrong_release(loc: source.Loc, entry: Entry, release: Release) -> Iterator[tuple[source.Loc, str]]:
    if not (entry.builder or release.unsupported or release.backend_only):
        yield loc, "without a `builder` a range is `backend_only`, or `unsupported`; say why"
    if release.unsupported and release.backend_only:
        yield (*loc, "backend_only"), "what is `unsupported` is no backend either; keep one of them"
    for field in ("backend_versions", "backend_requirements", "without_backends"):
        for backend in getattr(release, field):
            if backend not in entry.backends:
                yield (*loc, field, backend), f"{backend!r} is none of the backends"
    yield from _wrong_requirements(loc, release)


def _wrong_requirements(loc: source.Loc, release: Release) -> Iterator[tuple[source.Loc, str]]:
    lists: dict[source.Loc, tuple[str, ...]] = {
        ("requirements",): (*release.requirements, *(release.gpu.requirements if release.gpu else ())),
        **{("backend_requirements", backend): lines for backend, lines in release.backend_requirements.items()},
    }
    for path, lines in lists.items():
        for line in lines:
            if not _is_requirement(line):
                yield (*loc, *path), f"{line!r} is no pip requirement such as 'numpy<1.24'"


def _is_requirement(line: str) -> bool:
    try:
        Requirement(line)
    except InvalidRequirement:
        return False
    return True


def _same(first: object, second: object) -> bool:
    return type(first) is type(second) and first == second


def _holds(release: Release, version: str) -> bool:
    try:
        return SpecifierSet(release.versions).contains(Version(version), prereleases=True)
    except InvalidVersion:
        return False


def _contradictions(folder: Path, entries: Mapping[str, Entry]) -> Iterator[str]:
    """Yield the contradictions between two files."""
    owner: dict[str, str] = {}
    names = {name for entry in entries.values() for name in entry.packages}
    for family, entry in entries.items():
        path = folder / f"{family}.yaml"
        for name in entry.packages:
            if owner.setdefault(name, family) != family:
                yield f"{path}:1:1: packages: {name!r} is already in {owner[name]}.yaml"
        for backend in entry.backends:
            if backend not in names:
                yield f"{path}:1:1: backends: there is no framework {backend!r} in {folder}"
