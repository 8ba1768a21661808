"""`scripts` of a matrix: foreign programs, and the figures to take from what they print."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from orchestrator.brought import Metric, Script
from orchestrator.catalog.source import Loc, Mistake, Source
from orchestrator.files import says_where_it_leads
from orchestrator.matrix import file, pins
from orchestrator.matrix.hints import did_you_mean
from orchestrator.matrix.model import ScriptAxes, Settings
from orchestrator.matrix.patterns import compiled
from orchestrator.matrix.variables import OURS, name_problem, value_problem


def mistakes(source: Source, models: Any, frameworks: Collection[str], folder: Path) -> Iterator[Mistake]:
    """Every mistake beyond shape: names that are taken or unknown, files that are not there, groups without a name.

    Parts of the wrong shape are passed over: of those the shape tells.
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
        path = entry.get("file")
        if isinstance(path, str) and path and not _is_file(folder / path):
            wrong = f"there is no file {path!r}; relative paths start at the folder of the matrix"
            yield source.mistake((*loc, "file"), wrong)
        elif isinstance(path, str) and path and not says_where_it_leads(folder / path, folder):
            yield source.mistake((*loc, "file"), f"{path!r} leads out of the folder of the matrix through a link")
        for text in _texts(entry.get("framework")):
            found = _framework(text)
            if found is not None and found not in frameworks:
                wrong = f"unknown framework {found!r}{did_you_mean(found, tuple(frameworks))}"
                yield source.mistake((*loc, "framework"), wrong)
        yield from _environment(source, (*loc, "environment"), entry.get("environment"))
        yield from _patterns(source, (*loc, "metrics"), entry.get("metrics"))


def _environment(source: Source, loc: Loc, environment: object) -> Iterator[Mistake]:
    """What `env.NAME` among options may not be, a script's environment may not be either."""
    for name, value in environment.items() if isinstance(environment, dict) else ():
        if name in OURS and (problem := name_problem(name)):
            yield source.mistake((*loc, name), problem, key=True)
        if isinstance(value, str) and (problem := value_problem(str(name), value)):
            yield source.mistake((*loc, name), problem)


def _patterns(source: Source, loc: Loc, metrics: object) -> Iterator[Mistake]:
    for name, metric in metrics.items() if isinstance(metrics, dict) else ():
        text = metric.get("pattern") if isinstance(metric, dict) else None
        try:
            pattern = compiled(text) if isinstance(text, str) else None
        except re.error:
            continue
        if pattern is not None and pattern.groups > 1 and "value" not in pattern.groupindex:
            wrong = f"has {pattern.groups} groups; call the one with the number (?P<value>…)"
            yield source.mistake((*loc, name, "pattern"), wrong)


def _texts(value: object) -> list[str]:
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]


def _framework(text: str) -> str | None:
    try:
        return pins.parse(text).name
    except ValueError:
        return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def resolved(entry: file.ScriptEntry, folder: Path, place: str) -> ScriptAxes:
    """A script as it was meant, its path absolute."""
    metrics = tuple(
        Metric(name, metric.pattern, metric.unit, metric.better, metric.take) for name, metric in entry.metrics.items()
    )
    return ScriptAxes(
        script=Script(
            name=entry.name,
            path=str(folder / entry.file),
            metrics=metrics,
            arguments=tuple(entry.arguments),
            environment=tuple(entry.environment.items()),
        ),
        frameworks=entry.framework or (),
        settings=Settings(timeout_s=entry.timeout, repeats=entry.repeats, expect=entry.expect),
        place=place,
    )


def long_form(axes: ScriptAxes) -> dict[str, Any]:
    """A script as plain values for YAML."""
    script = axes.script
    return {
        "name": script.name,
        "file": script.path,
        "arguments": list(script.arguments),
        "environment": dict(script.environment),
        "framework": list(axes.frameworks) or None,
        "metrics": {
            metric.name: {
                "pattern": metric.pattern,
                "unit": metric.unit,
                "better": metric.better.value,
                "take": metric.take.value,
            }
            for metric in script.metrics
        },
        "timeout": axes.settings.timeout_s,
        "repeats": axes.settings.repeats,
        "expect": axes.settings.expect and axes.settings.expect.value,
    }
