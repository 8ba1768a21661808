"""The way from the text of `matrix.yaml` to a `Matrix`, or to every mistake in it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

from packaging.utils import canonicalize_name

from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import SYNTHETIC, Catalog, ModelInfo, UnsupportedError
from orchestrator.catalog import own_models as catalog_own_models
from orchestrator.catalog import source as yaml_source
from orchestrator.catalog.source import Loc, Source
from orchestrator.domain import Duration, Framework, OutputLimit, System
from orchestrator.errors import InputError
from orchestrator.files import says_where_it_leads
from orchestrator.matrix import file, files, mistakes, networks, own_data
from orchestrator.matrix.checks import matrix as checks
from orchestrator.matrix.model import FrameworkAxes, Include, Matrix, ModelAxes, Rule, Settings, parse_pin
from orchestrator.matrix.scripts import section as scripts
from orchestrator.matrix.studies import section as studies
from orchestrator.matrix.studies.shapes import StudyFile
from orchestrator.matrix.subjects import section as subjects
from orchestrator.matrix.values import generations, loads
from orchestrator.matrix.values.shapes import OutputEntry, shortening
from orchestrator.modes import AXES
from orchestrator.modes.parts.settings import Feed, Scaling, Shortening

DEFAULT_REPEATS = 3
_SMALLEST = {"version": file.VERSION, "frameworks": ["noop==1"], "models": ["mlp"]}
DEFAULT_TIMEOUT_S = 600.0


def load(path: Path, catalog: Catalog, models: Mapping[str, ModelInfo]) -> Matrix:
    """Read a matrix, whose relative paths start at its own folder.

    Raises `InputError` with all mistakes, each `file:line:column: place: what is wrong`.
    """
    source = yaml_source.read(path, "matrix")
    source.require_version("a matrix", file.VERSION)
    own, broken = _own_models(source, path.parent, models)
    exported = networks.of_matrix(source, path.parent, {**models, **own})
    known = {**models, **own, **exported.models}
    unknown = dict.fromkeys((*broken, *exported.broken))
    beyond_shape = checks.of_meaning(source, catalog, known | unknown, path.parent)
    wrong = {*source.mistakes, *mistakes.of_shape(source), *beyond_shape, *exported.mistakes}
    if wrong or broken:
        raise InputError(*mistakes.lines(source, wrong), *broken.values())
    loaded = _resolved(StudyFile.model_validate(source.value), source, path, catalog, known)
    return replace(loaded, own_models=(*own.values(), *exported.models.values()), networks=exported.placed)


def build_settings(path: Path) -> BuildSettings:
    """Read only the section `build` of a matrix.

    A stored run needs no more of its matrix, because its plan is settled.

    Raises `InputError` with the mistakes of that section.
    """
    source = yaml_source.read(path, "matrix")
    if not isinstance(source.value, dict):
        raise InputError(f"{source.name}:1:1: a matrix is a mapping that begins with `version: {file.VERSION}`")
    section = {"build": source.value.get("build") or {}}
    shaped = mistakes.of_shape(replace(source, value={**_SMALLEST, **section}))
    wrong = {*shaped, *files.missing(source, path.parent, "build")}
    if wrong:
        raise InputError(*mistakes.lines(source, wrong))
    return _build(file.BuildEntry.model_validate(section["build"]), path.parent.absolute())


def own_models(path: Path, shipped: Mapping[str, ModelInfo]) -> dict[str, ModelInfo]:
    """Read only the models of a matrix's `models_folder` and its ONNX files, whatever else is wrong with the matrix.

    Raises `InputError` if the matrix cannot be read, and for every file that is no model or no network.
    """
    source = yaml_source.read(path, "matrix")
    if not isinstance(source.value, dict):
        return {}
    own, broken = _own_models(source, path.parent, shipped)
    exported = networks.of_matrix(source, path.parent, {**shipped, **own})
    wrong = [*files.missing(source, path.parent, "models_folder"), *exported.mistakes]
    if broken or wrong:
        raise InputError(*(mistake.at(source.name) for mistake in wrong), *broken.values())
    return {**own, **exported.models}


def _own_models(
    source: Source, folder: Path, shipped: Mapping[str, ModelInfo]
) -> tuple[dict[str, ModelInfo], dict[str, str]]:
    """Read the models of `models_folder`, if the matrix has one.

    Returns the valid models by name, and the mistakes of the others by name.
    """
    text = source.value.get("models_folder")
    path = files.path_of(text, folder) if isinstance(text, str) and text else None
    if path is None or not files.is_folder(path):
        return {}, {}
    # `files.missing` reports a folder that itself leads elsewhere, once.
    within = folder if says_where_it_leads(path, folder) else None
    return catalog_own_models(path, shipped, str(path), within)


def _resolved(
    entry: StudyFile, source: Source, path: Path, catalog: Catalog, models: Mapping[str, ModelInfo]
) -> Matrix:
    folder = path.parent.absolute()
    steps = 50 if entry.steps is None and entry.epochs is None else entry.steps
    return Matrix(
        name=entry.name or _name(path),
        seed=entry.seed,
        systems=tuple(
            System(
                name,
                cpus=system.cpus,
                gpus=system.gpus,
                memory_bytes=system.memory,
                gpu=system.gpu,
                gpu_memory_bytes=system.gpu_memory,
                mig=system.mig,
            )
            for name, system in entry.systems.items()
        ),
        frameworks=tuple(
            axes
            for index, framework in enumerate(entry.frameworks)
            for axes in _with_python(_framework(framework, folder, _place(source, ("frameworks", index))), catalog)
        ),
        models=tuple(
            _model(model, models[model.name], shortening(entry), _place(source, ("models", index)))
            for index, model in enumerate(entry.models)
        ),
        modes=entry.modes,
        options=tuple((name, tuple(values.items())) for name, values in entry.options.items()),
        repeats=entry.repeats or DEFAULT_REPEATS,
        duration=Duration(entry.warmup_steps or Duration().warmup_steps, steps, entry.epochs),
        timeout_s=entry.timeout or DEFAULT_TIMEOUT_S,
        output=_output(entry.output),
        shortening=shortening(entry),
        parity=entry.parity,
        exclude=tuple(
            replace(_rule(rule, _place(source, ("exclude", index))), reason=rule.reason or "")
            for index, rule in enumerate(entry.exclude)
        ),
        include=tuple(
            Include(_rule(include, _place(source, ("include", index))), _settings(include))
            for index, include in enumerate(entry.include)
        ),
        build=_build(entry.build, folder),
        scripts=tuple(
            scripts.resolved(script, folder, _place(source, ("scripts", index)))
            for index, script in enumerate(entry.scripts)
        ),
        subjects=subjects.resolved(entry, lambda *loc: _place(source, loc)),
        models_folder=str(folder / entry.models_folder) if entry.models_folder else None,
        data_folder=str(folder / entry.data_folder) if entry.data_folder else None,
        own_datasets=own_data.resolved(entry.datasets),
        study=studies.resolved(entry, _rule, lambda loc: _place(source, loc)),
        path=source.name,
    )


def _name(path: Path) -> str:
    """Return the file's name as a word that may stand in paths."""
    word = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in path.stem).strip("-")
    return word or "matrix"


def _place(source: Source, loc: Loc) -> str:
    place = source.place(loc)
    return f"{source.name}:{place.line}:{place.column}"


def _framework(entry: file.FrameworkEntry, folder: Path, place: str) -> FrameworkAxes:
    backends = [parse_pin(text) for text in entry.backend or ()]
    return FrameworkAxes(
        name=entry.name,
        versions=entry.version or (_image_version(entry.image),),
        backends=tuple((pin.name, pin.version or "") for pin in backends),
        pythons=entry.python or (),
        packages=tuple(sorted((canonicalize_name(name), versions) for name, versions in entry.packages.items())),
        options=tuple(entry.options.items()),
        image=entry.image,
        dockerfile=str(folder / entry.dockerfile) if entry.dockerfile else None,
        expect=entry.expect,
        place=place,
    )


def _with_python(axes: FrameworkAxes, catalog: Catalog) -> Iterator[FrameworkAxes]:
    """Yield an entry with the catalog's default Python written out.

    Releases with different defaults become entries of their own. Python stays open in the user's own image, and for a
    release that the catalog does not have.
    """
    if axes.pythons or axes.image or axes.dockerfile:
        yield axes
        return
    releases = list(product(axes.versions, axes.backends or (None,)))
    pythons = [
        _default_python(Framework(axes.name, version, Framework(*backend) if backend else None), catalog)
        for version, backend in releases
    ]
    if len(set(pythons)) == 1:
        yield replace(axes, pythons=pythons[0])
        return
    for (version, backend), python in zip(releases, pythons, strict=True):
        yield replace(axes, versions=(version,), backends=(backend,) if backend else (), pythons=python)


def _default_python(framework: Framework, catalog: Catalog) -> tuple[str, ...]:
    try:
        return (catalog.default_python(framework),)
    except UnsupportedError:
        return ()


def _image_version(image: str | None) -> str:
    """Return the word that serves as the version of the user's own image.

    It is the tag of the image, or the head of its digest.
    """
    if image is None:
        return "local"
    name, _, digest = image.partition("@")
    last = name.rpartition("/")[2]
    return digest.rpartition(":")[2][:12] or last.partition(":")[2] or "latest"


def _model(entry: file.ModelEntry, info: ModelInfo, of_matrix: Shortening, place: str) -> ModelAxes:
    settings = _settings(entry)
    return ModelAxes(
        name=entry.name,
        batch_sizes=entry.batch_size or (info.batch_size,),
        datasets=entry.dataset or (SYNTHETIC.name,),
        settings=replace(settings, shortening=settings.shortening.over(of_matrix).over(info.shortening)),
        place=place,
        feeds=entry.feed or (Feed.PLACED,),
        workers=entry.workers or (0,),
        scalings=entry.scaling or (Scaling.WEAK,),
        load=loads.axes(entry),
        generation=generations.axes(entry),
        sizes=entry.size or tuple(info.sizes)[:1],
        axes=tuple(entry.axes.items()),
    )


def _settings(entry: file.ModelEntry | file.IncludeEntry) -> Settings:
    return Settings(
        warmup_steps=entry.warmup_steps,
        steps=entry.steps,
        epochs=entry.epochs,
        timeout_s=entry.timeout,
        repeats=entry.repeats,
        expect=entry.expect if isinstance(entry, file.IncludeEntry) else None,
        output_bytes=entry.output.size if entry.output else None,
        output_files=entry.output.files if entry.output else None,
        shortening=shortening(entry),
    )


def _output(entry: OutputEntry | None) -> OutputLimit:
    default = OutputLimit()
    if entry is None:
        return default
    return OutputLimit(entry.size or default.size_bytes, entry.files or default.files)


def _rule(entry: file.RuleEntry, place: str) -> Rule:
    return Rule(
        frameworks=entry.framework or (),
        systems=entry.system or (),
        models=entry.model or (),
        modes=entry.mode or (),
        batch_sizes=entry.batch_size or (),
        datasets=entry.dataset or (),
        feeds=entry.feed or (),
        workers=entry.workers or (),
        scalings=entry.scaling or (),
        load=loads.axes(entry),
        generation=generations.axes(entry),
        pythons=entry.python or (),
        options=tuple((name, values) for name, values in entry.options.items() if name not in AXES),
        axes=tuple((name, values) for name, values in entry.options.items() if name in AXES),
        place=place,
    )


def _build(entry: file.BuildEntry, folder: Path) -> BuildSettings:
    proxy = entry.proxy.model_dump(exclude_none=True) if entry.proxy else {}
    return BuildSettings(
        base_image=entry.base_image,
        base_images=tuple(sorted(entry.base_images.items())),
        cuda_images=tuple(sorted(entry.cuda_images.items())),
        pip_index=entry.pip_index,
        extra_indexes=entry.extra_indexes or (),
        find_links=tuple(_path_or_url(text, folder) for text in entry.find_links or ()),
        no_index=entry.no_index,
        trusted_hosts=entry.trusted_hosts or (),
        ca_bundle=str(folder / entry.ca_bundle) if entry.ca_bundle else None,
        proxies=tuple((f"{scheme}_proxy", str(url)) for scheme, url in proxy.items()),
        apt_mirror=entry.apt_mirror,
        registry=entry.registry,
    )


def _path_or_url(text: str, folder: Path) -> str:
    return text if "://" in text else str(folder / text)
