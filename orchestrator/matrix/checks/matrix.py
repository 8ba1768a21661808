"""Checks of a matrix beyond its shape.

Names must exist, and some keys exclude each other.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from orchestrator.catalog import DATASETS, SYNTHETIC, Catalog, ModelInfo, Option
from orchestrator.catalog.source import Loc, Mistake, Source
from orchestrator.domain import OptionValue
from orchestrator.errors import did_you_mean
from orchestrator.matrix import file, files, own_data
from orchestrator.matrix import sizes as model_sizes
from orchestrator.matrix.checks import cuda_images, durations, fixed_variables
from orchestrator.matrix.checks import generation as generation_checks
from orchestrator.matrix.checks import load as load_checks
from orchestrator.matrix.mistakes import entries, named_entries
from orchestrator.matrix.model import EVERY_FRAMEWORK, parse_pin, pin_key, release_key
from orchestrator.matrix.scripts import section as scripts
from orchestrator.matrix.studies import section as studies
from orchestrator.matrix.subjects import section as subjects
from orchestrator.matrix.values import generations, loads
from orchestrator.matrix.values.shapes import SettingsShape, keys_of
from orchestrator.matrix.values.variables import is_variable, name_problem, value_problem
from orchestrator.modes import AXES
from orchestrator.modes.parts.frontier import FRONTIER
from orchestrator.modes.parts.settings import Feed, Scaling
from orchestrator.modes.parts.sizes import SIZE

Mistakes = Iterator[Mistake]


@dataclass(frozen=True, slots=True)
class _Checks:
    """The source of a matrix with the names that it may use."""

    source: Source
    catalog: Catalog
    models: Mapping[str, ModelInfo | None]

    def at(self, loc: Loc, text: str, *, key: bool = False) -> Mistake:
        """Return a mistake at a place of the file, or at the key itself with `key`."""
        return self.source.mistake(loc, text, key=key)

    def writes(self, loc: Loc, key: str) -> bool:
        """Return true if the entry at `loc` sets a key to something, valid or not."""
        if (*loc, key) not in self.source.places:
            return False
        entry: Any = self.source.value
        for step in loc:
            entry = entry[step]
        return entry[key] is not None

    def unknown(self, loc: Loc, kind: str, word: str, known: Any, *, key: bool = False) -> Mistakes:
        """Yield a mistake if a word is not among the known ones."""
        if word not in known:
            yield self.at(loc, f"unknown {kind} {word!r}{did_you_mean(word, tuple(known))}", key=key)


def of_meaning(source: Source, catalog: Catalog, models: Mapping[str, ModelInfo | None], folder: Path) -> Mistakes:
    """Yield every mistake beyond shape, in those parts of the file that have the right shape.

    Relative paths start at `folder`. A model that maps to None is known to be broken: its own mistake is reported
    elsewhere.
    """
    checks = _Checks(source, catalog, models)
    yield from durations.mistakes(source, (), source.value)
    yield from _systems(checks)
    yield from _frameworks(checks)
    yield from own_data.mistakes(checks.source)
    yield from _models(checks)
    yield from _options(checks)
    yield from fixed_variables.mistakes(source, catalog)
    yield from cuda_images.mistakes(source, catalog)
    yield from files.missing(source, folder)
    yield from files.outside(source, folder)
    yield from scripts.mistakes(source, models, catalog.names(), folder)
    yield from subjects.mistakes(source)
    if "models" not in source.value and not any(source.value.get(section) for section in file.SECTIONS[1:]):
        yield checks.at((), "'models' is missing")
    for key, shape in (("exclude", file.ExcludeEntry), ("include", file.IncludeEntry)):
        for loc, rule in entries(source, key, shape):
            yield from _rule(checks, loc, rule)
    yield from studies.mistakes(source)
    for loc, rule in studies.rules(source):
        yield from _rule(checks, loc, rule)
    for loc, include in entries(source, "include", file.IncludeEntry):
        yield from durations.mistakes(source, loc, include.model_dump(exclude_unset=True))
        if not is_complete(include) and not any(checks.writes(loc, key) for key in _SETTINGS):
            yield checks.at(loc, "sets nothing, and adds nothing without framework==version, system and model")


_SETTINGS = frozenset(SettingsShape.model_fields) | {"expect"}


def is_complete(include: file.IncludeEntry) -> bool:
    """Return true if an entry names whole cells, so that it adds them."""
    named = [parse_pin(text) for text in include.framework or ()]
    return bool(include.system and include.model and named and all(pin.version for pin in named))


def _systems(checks: _Checks) -> Mistakes:
    for loc, system in named_entries(checks.source, "systems", file.SystemEntry):
        for key in ("gpu", "gpu_memory", "mig"):
            if getattr(system, key) is not None and not system.gpus:
                yield checks.at((*loc, key), "says which GPUs to take, and the system has none; set gpus", key=True)
        if system.mig is not None and system.gpus > 1:
            yield checks.at((*loc, "mig"), "a process sees one part of a divided GPU only; set gpus: 1", key=True)


def _frameworks(checks: _Checks) -> Mistakes:
    seen: dict[object, Loc] = {}
    for loc, entry in entries(checks.source, "frameworks", file.FrameworkEntry):
        yield from checks.unknown(_key(checks, loc, "name"), "framework", entry.name, checks.catalog.names())
        if entry.image and entry.dockerfile:
            yield checks.at((*loc, "dockerfile"), "image and dockerfile exclude each other; keep one", key=True)
        yield from (_own_environment if entry.image or entry.dockerfile else _catalog_environment)(checks, loc, entry)
        for name, values in entry.options.items():
            yield from _option(checks, (*loc, "options", name), values, checks.catalog.options(entry.name), entry.name)
        packages = frozenset(
            (canonicalize_name(name), tuple(map(release_key, versions))) for name, versions in entry.packages.items()
        )
        key = (entry.name, entry.image, entry.dockerfile, entry.python, packages)
        for version, backend in product(entry.version or ("",), entry.backend or (None,)):
            first = seen.setdefault((key, release_key(version), backend and pin_key(backend)), loc)
            if first != loc:
                named = f"{entry.name} {version}".strip()
                yield checks.at(loc, f"{named} is already on line {checks.source.place(first).line}")


def _own_environment(checks: _Checks, loc: Loc, entry: file.FrameworkEntry) -> Mistakes:
    for key in ("backend", "python", "packages"):
        if getattr(entry, key):
            yield checks.at((*loc, key), f"your own image decides its {key}; drop this", key=True)
    if entry.version and len(entry.version) > 1:
        yield checks.at((*loc, "version"), "your own image holds one version; write an entry for each image")


def _catalog_environment(checks: _Checks, loc: Loc, entry: file.FrameworkEntry) -> Mistakes:
    known = checks.catalog.entry(entry.name)
    if not entry.version and not checks.writes(loc, "version"):
        version = checks.catalog.newest_known(entry.name) or "1.0"
        yield checks.at(loc, f"{entry.name!r} needs a version, such as {entry.name}=={version}")
    for version in entry.version or ():
        yield from _version(checks, _key(checks, loc, "version"), version)
    yield from _packages(checks, loc, entry)
    if known is None:
        return
    if known.needs_backend and not entry.backend and not checks.writes(loc, "backend"):
        backend = known.backends[0]
        yield checks.at(loc, f"{entry.name!r} needs a backend: {entry.name}==VERSION on {backend}==VERSION")
    for text in entry.backend or ():
        pin = parse_pin(text)
        place = _key(checks, loc, "backend")
        if not known.backends:
            yield checks.at(place, f"{entry.name!r} runs on no backend; drop 'on {text}'")
        else:
            yield from checks.unknown(place, f"backend of {entry.name}", pin.name, known.backends)
            if pin.version is None:
                yield checks.at(place, f"{text!r} needs one version: {pin.name}==VERSION")
            else:
                yield from _version(checks, place, pin.version)


def _packages(checks: _Checks, loc: Loc, entry: file.FrameworkEntry) -> Mistakes:
    names: dict[str, str] = {}
    for name, versions in entry.packages.items():
        first = names.setdefault(canonicalize_name(name), name)
        if first != name:
            yield checks.at((*loc, "packages", name), f"{name!r} is the same package as {first!r}; keep one", key=True)
        for version in versions:
            yield from _version(checks, (*loc, "packages", name), version)


def _key(checks: _Checks, loc: Loc, key: str) -> Loc:
    """Return the place of a key if the entry is a mapping, else the place of the entry."""
    return (*loc, key) if checks.writes(loc, key) else loc


def _version(checks: _Checks, loc: Loc, text: str) -> Mistakes:
    try:
        Version(text)
    except InvalidVersion:
        yield checks.at(loc, f"{text!r} is no version such as '1.9.1'")


def _dataset_names(checks: _Checks) -> tuple[str, ...]:
    section = checks.source.value.get("datasets")
    own = [name for name in section if isinstance(name, str)] if isinstance(section, dict) else []
    return (*DATASETS, *own)


def _models(checks: _Checks) -> Mistakes:
    seen: dict[object, Loc] = {}
    for loc, entry in entries(checks.source, "models", file.ModelEntry):
        yield from checks.unknown(_key(checks, loc, "name"), "model", entry.name, checks.models)
        yield from durations.mistakes(checks.source, loc, entry.model_dump(), checks.models.get(entry.name))
        for dataset in entry.dataset or ():
            yield from checks.unknown((*loc, "dataset"), "dataset", dataset, _dataset_names(checks))
        if any(entry.workers or ()) and Feed.LOADER not in (entry.feed or ()):
            yield checks.at(
                (*loc, "workers"), "workers belong to the feed 'loader'; add feed: loader, or drop this", key=True
            )
        of_frontier = FRONTIER in (entry.batch_size or ())
        if of_frontier and len(entry.batch_size or ()) > 1:
            yield checks.at((*loc, "batch_size"), "'frontier' stands for all batch sizes; drop the others")
        free = frozenset({"latency_limit"} if of_frontier else ())
        yield from load_checks.mistakes(checks.source, loc, entry, free)
        info = checks.models.get(entry.name)
        yield from generation_checks.mistakes(checks.source, loc, entry, info)
        yield from model_sizes.mistakes(checks.source, loc, entry, info)
        sizes = entry.batch_size or ((info.batch_size,) if info else ())
        shapes = tuple(product(entry.size or ("",), *entry.axes.values()))
        ways = product(
            entry.feed or (Feed.PLACED,),
            entry.workers or (0,),
            entry.scaling or (Scaling.WEAK,),
            loads.axes(entry).loads,
            generations.axes(entry).generations,
            shapes,
        )
        for size, dataset, way in product(sizes, entry.dataset or (SYNTHETIC.name,), tuple(ways)):
            first = seen.setdefault((entry.name, entry.file, size, dataset, way), loc)
            if first != loc:
                line = checks.source.place(first).line
                yield checks.at(loc, f"{entry.name} with batch size {size} is already on line {line}")


def _options(checks: _Checks) -> Mistakes:
    section = checks.source.value.get("options")
    for owner, names in section.items() if isinstance(section, dict) else ():
        loc: Loc = ("options", owner)
        if owner == EVERY_FRAMEWORK:
            known: Mapping[str, Option] = _every_option(checks.catalog)
        elif owner in checks.catalog.names():
            known = checks.catalog.options(owner)
        else:
            yield from checks.unknown(loc, "framework", owner, checks.catalog.names(), key=True)
            continue
        for name, values in names.items() if isinstance(names, dict) else ():
            listed = values if isinstance(values, list) else [values]
            yield from _option(checks, (*loc, name), tuple(listed), known, owner)


def _every_option(catalog: Catalog) -> dict[str, Option]:
    """Return the options of all frameworks by name.

    An option that several frameworks have takes the values of all of them.
    """
    options: dict[str, Option] = {}
    for entry in catalog.entries.values():
        for name, option in entry.options.items():
            other = options.get(name)
            values = (*other.values, *option.values) if other else option.values
            options[name] = Option(values=values, default=option.default, help=option.help)
    return options


def _option(checks: _Checks, loc: Loc, values: tuple[Any, ...], known: Mapping[str, Option], owner: str) -> Mistakes:
    name = str(loc[-1])
    if is_variable(name):
        if problem := name_problem(name):
            yield checks.at(loc, problem, key=True)
        for value in values:
            if problem := value_problem(name, value):
                yield checks.at(loc, problem)
        return
    if name not in known:
        kind = "option" if owner == EVERY_FRAMEWORK else f"{owner} option"
        yield from checks.unknown(loc, kind, name, known, key=True)
        return
    for value in values:
        if isinstance(value, (bool, int, float, str)) and not _among(value, known[name].values):
            listed = ", ".join(_yaml(item) for item in known[name].values)
            yield checks.at(loc, f"{_yaml(value)} is no value of {name}; there is {listed}")


def _among(value: OptionValue, values: tuple[OptionValue, ...]) -> bool:
    """Return true if a value is listed, where true and 1 are different values."""
    return any(isinstance(value, bool) == isinstance(item, bool) and value == item for item in values)


def _yaml(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _rule(checks: _Checks, loc: Loc, rule: file.RuleEntry) -> Mistakes:
    selectors = set(file.RuleEntry.model_fields) & rule.model_fields_set
    if not selectors and not rule.options and not checks.source.value[loc[0]][loc[1]]:
        yield checks.at(loc, "names no cells; give a framework, system, model, …")
    known: Mapping[str, Callable[[], Any]] = {
        "system": lambda: _names(checks.source.value.get("systems", {"cpu": {}})),
        "model": lambda: (*checks.models, *scripts.named(checks.source.value), *subjects.named(checks.source.value)),
        "dataset": lambda: _dataset_names(checks),
    }
    for key, names in known.items():
        for word in getattr(rule, key) or ():
            yield from checks.unknown((*loc, key), key, word, names())
    for text in rule.framework or ():
        pin = parse_pin(text)
        yield from checks.unknown((*loc, "framework"), "framework", pin.name, checks.catalog.names())
        if pin.backend:
            yield from checks.unknown((*loc, "framework"), "framework", pin.backend.name, checks.catalog.names())
    options = _every_option(checks.catalog)
    for name, values in rule.options.items():
        if name in AXES:
            yield from _axis(checks, (*loc, name), values)
        elif name in options or is_variable(name):
            yield from _option(checks, (*loc, name), values, options, EVERY_FRAMEWORK)
        else:
            keys = (*keys_of(type(rule)), *options, *sorted(AXES))
            yield checks.at((*loc, name), f"unknown key or option {name!r}{did_you_mean(name, keys)}", key=True)


def _axis(checks: _Checks, loc: Loc, values: tuple[OptionValue, ...]) -> Mistakes:
    names = tuple(dict.fromkeys(name for info in checks.models.values() if info for name in info.sizes))
    for value in values:
        if loc[-1] == SIZE and value in names:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            wrong = f"{_yaml(value)} is no {loc[-1]} of an operator, which is a whole number of 1 or more"
            wrong += f", and no size of a model: {', '.join(names)}" if loc[-1] == SIZE and names else ""
            yield checks.at(loc, wrong)


def _names(systems: object) -> tuple[str, ...]:
    return tuple(systems) if isinstance(systems, dict) else ()
