"""The section `scripts` of a matrix, with foreign programs and the figures to take from their output."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from orchestrator.catalog import DATASETS
from orchestrator.catalog.source import Loc, Mistake, Source
from orchestrator.errors import did_you_mean
from orchestrator.files import size_and_sum
from orchestrator.matrix import file
from orchestrator.matrix.model import ScriptAxes, Settings, parse_pin
from orchestrator.matrix.scripts import files as script_files
from orchestrator.matrix.scripts.files import groups_problem
from orchestrator.matrix.values.variables import OURS, name_problem, value_problem
from orchestrator.user_files import PrintedMetric, Script, ScriptFile, Workdir


def mistakes(source: Source, models: Any, frameworks: Collection[str], folder: Path) -> Iterator[Mistake]:
    """Yield every mistake beyond shape in the section `scripts`.

    They are names that are taken or unknown, files that do not exist, and groups without a name. Parts of the wrong
    shape are passed over: the check of the shape reports them.
    """
    seen: dict[str, int] = {}
    section = source.value.get("scripts")
    for index, entry in enumerate(section if isinstance(section, list) else ()):
        loc: Loc = ("scripts", index)
        if not isinstance(entry, dict):
            continue
        name = entry.get("name")
        if isinstance(name, str):
            line = source.place(loc).line
            if name in models:
                yield source.mistake((*loc, "name"), f"a model is called {name!r} already; call the script otherwise")
            if seen.setdefault(name, line) != line:
                yield source.mistake((*loc, "name"), f"{name!r} is already on line {seen[name]}")
        yield from _files(source, loc, entry, folder)
        for text in _texts(entry.get("framework")):
            framework = _framework(text)
            if framework is not None and framework not in frameworks:
                wrong = f"unknown framework {framework!r}{did_you_mean(framework, tuple(frameworks))}"
                yield source.mistake((*loc, "framework"), wrong)
        yield from _environment(source, (*loc, "environment"), entry.get("environment"))
        yield from _patterns(source, (*loc, "metrics"), entry.get("metrics"))
        yield from _written_files(source, loc, entry, folder)
        yield from _packages(source, (*loc, "packages"), entry.get("packages"))
        yield from _data(source, loc, entry)


def named(value: Mapping[str, Any]) -> list[str]:
    """Return the names of the scripts in the text of a matrix."""
    listed = value.get("scripts")
    names = [entry.get("name") for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    return [name for name in names if isinstance(name, str)]


def _files(source: Source, loc: Loc, entry: dict[str, Any], folder: Path) -> Iterator[Mistake]:
    """Yield the mistakes in the file of a script, in those that it declares, and in all of them together."""
    text = entry.get("file")
    if not isinstance(text, str) or not text:
        return
    path = folder / text
    if wrong := script_files.unusable(path, text, folder):
        yield source.mistake((*loc, "file"), wrong)
    else:
        yield from _declared(source, loc, path, entry.get("files"))


def _declared(source: Source, loc: Loc, path: Path, listed: object) -> Iterator[Mistake]:
    patterns = {
        index: text
        for index, text in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(text, str) and text
    }
    paths, mistakes = script_files.find(path.parent, path.name, tuple(patterns.values()))
    places = tuple(patterns)
    for index, wrong in mistakes:
        yield source.mistake((*loc, "files", places[index]), wrong)
    if not mistakes and (excess := script_files.too_much(path.parent, paths)):
        yield source.mistake((*loc, "files" if patterns else "file"), excess)


def _environment(source: Source, loc: Loc, environment: object) -> Iterator[Mistake]:
    """Yield the mistakes in a script's environment, which must obey the rules of `env.NAME` among options."""
    for name, value in environment.items() if isinstance(environment, dict) else ():
        if name in OURS and (problem := name_problem(name)):
            yield source.mistake((*loc, name), problem, key=True)
        if isinstance(value, str) and (problem := value_problem(str(name), value)):
            yield source.mistake((*loc, name), problem)


def _patterns(source: Source, loc: Loc, metrics: object) -> Iterator[Mistake]:
    for name, metric in metrics.items() if isinstance(metrics, dict) else ():
        text = metric.get("pattern") if isinstance(metric, dict) else None
        try:
            wrong = groups_problem(text) if isinstance(text, str) else None
        except re.error:
            continue
        if wrong:
            yield source.mistake((*loc, name, "pattern"), wrong)


def _written_files(source: Source, loc: Loc, entry: dict[str, Any], folder: Path) -> Iterator[Mistake]:
    """Yield the mistakes in the files that figures are read from."""
    metrics, text, listed = entry.get("metrics"), entry.get("file"), entry.get("files")
    files: tuple[str, ...] = ()
    if isinstance(text, str) and text and script_files.is_file(folder / text):
        patterns = [each for each in (listed if isinstance(listed, list) else ()) if isinstance(each, str) and each]
        files, _ = script_files.find((folder / text).parent, (folder / text).name, patterns)
    for name, metric in metrics.items() if isinstance(metrics, dict) else ():
        path = metric.get("file") if isinstance(metric, dict) else None
        if isinstance(path, str) and path:
            has_copy = entry.get("workdir") == Workdir.COPY
            if wrong := script_files.written_file_problem(path, files, has_copy=has_copy):
                yield source.mistake((*loc, "metrics", name, "file"), wrong)


def _data(source: Source, loc: Loc, entry: dict[str, Any]) -> Iterator[Mistake]:
    """Yield the mistake of a dataset that is not known, or of one that has no folder."""
    own, name = source.value.get("datasets"), entry.get("data")
    own_names = tuple(map(str, own)) if isinstance(own, dict) else ()
    of_files = (*(each.name for each in DATASETS.values() if each.formats), *own_names)
    if not isinstance(name, str) or not name:
        return
    if name in DATASETS and name not in of_files:
        wrong = f"{name!r} has no files to show a script; there is {', '.join(of_files)}"
        yield source.mistake((*loc, "data"), wrong)
    elif name not in of_files:
        wrong = f"unknown dataset {name!r}, and `datasets` describes none of that name{did_you_mean(name, of_files)}"
        yield source.mistake((*loc, "data"), wrong)


def _packages(source: Source, loc: Loc, packages: object) -> Iterator[Mistake]:
    first: dict[str, str] = {}
    for name, version in packages.items() if isinstance(packages, dict) else ():
        if first.setdefault(canonicalize_name(str(name)), name) != name:
            same = first[canonicalize_name(str(name))]
            yield source.mistake((*loc, name), f"{name!r} is the same package as {same!r}; keep one", key=True)
        try:
            Version(str(version))
        except InvalidVersion:
            if isinstance(version, str) and version:
                yield source.mistake((*loc, name), f"{version!r} is no version such as '1.9.1'")


def _texts(value: object) -> list[str]:
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]


def _framework(text: str) -> str | None:
    try:
        return parse_pin(text).name
    except ValueError:
        return None


def resolved(entry: file.ScriptEntry, folder: Path, place: str) -> ScriptAxes:
    """Return a script with the hashes of its files, or raise `InputError` if a file has gone meanwhile."""
    metrics = tuple(
        PrintedMetric(name, metric.pattern, metric.unit, metric.better, metric.take, metric.file or "")
        for name, metric in entry.metrics.items()
    )
    path = folder / entry.file
    paths, _ = script_files.find(path.parent, path.name, entry.files)
    return ScriptAxes(
        script=Script(
            name=entry.name,
            metrics=metrics,
            entry=path.name,
            files=tuple(ScriptFile(each, *size_and_sum(path.parent / each)) for each in paths),
            arguments=tuple(entry.arguments),
            environment=tuple(entry.environment.items()),
            workdir=entry.workdir,
        ),
        folder=str(path.parent),
        dataset=entry.data or "",
        packages=tuple(sorted((canonicalize_name(name), version) for name, version in entry.packages.items())),
        frameworks=entry.framework or (),
        settings=Settings(
            timeout_s=entry.timeout,
            repeats=entry.repeats,
            expect=entry.expect,
            output_bytes=entry.output.size if entry.output else None,
            output_files=entry.output.files if entry.output else None,
        ),
        place=place,
    )


def long_form(axes: ScriptAxes) -> dict[str, Any]:
    """Return a script as plain values for YAML."""
    script = axes.script
    return {
        "name": script.name,
        "file": str(Path(axes.folder) / script.entry),
        "files": [file.path for file in script.files if file.path != script.entry],
        **({"workdir": script.workdir.value} if script.has_copy else {}),
        "arguments": list(script.arguments),
        "environment": dict(script.environment),
        "framework": list(axes.frameworks) or None,
        **({"data": axes.dataset} if axes.dataset else {}),
        **({"packages": dict(axes.packages)} if axes.packages else {}),
        "metrics": {
            metric.name: {
                "pattern": metric.pattern,
                "unit": metric.unit,
                "better": metric.better.value,
                "take": metric.take.value,
                **({"file": metric.file} if metric.file else {}),
            }
            for metric in script.metrics
        },
        "timeout": axes.settings.timeout_s,
        "repeats": axes.settings.repeats,
        "expect": axes.settings.expect and axes.settings.expect.value,
        "output": output_form(axes.settings),
    }


def output_form(settings: Settings) -> dict[str, int] | None:
    """Return the limit on output as plain values for YAML, or None if an entry sets none."""
    limits = {"size": settings.output_bytes, "files": settings.output_files}
    return {key: value for key, value in limits.items() if value is not None} or None
