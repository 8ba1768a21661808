"""`scripts` of a matrix: foreign programs, and the figures to take from what they print."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orchestrator.catalog.source import Mistake, Source
from orchestrator.domain import Metric, Script
from orchestrator.matrix import file
from orchestrator.matrix.mistakes import entries
from orchestrator.matrix.model import ScriptAxes, Settings


def mistakes(source: Source, models: Any, folder: Path) -> Iterator[Mistake]:
    """Every mistake beyond shape: names that are taken, files that are not there, patterns that give no number."""
    seen: dict[str, int] = {}
    for loc, entry in entries(source, "scripts", file.ScriptEntry):
        if entry.name in models:
            yield source.mistake((*loc, "name"), f"a model is called {entry.name!r} already; call the script otherwise")
        first = seen.setdefault(entry.name, source.place(loc).line)
        if first != source.place(loc).line:
            yield source.mistake((*loc, "name"), f"{entry.name!r} is already on line {first}")
        if not _is_file(folder / entry.file):
            place = (*loc, "file")
            yield source.mistake(
                place, f"there is no file {entry.file!r}; relative paths start at the folder of the matrix"
            )
        for name, metric in entry.metrics.items():
            pattern = re.compile(metric.pattern)
            if pattern.groups > 1 and "value" not in pattern.groupindex:
                wrong = f"has {pattern.groups} groups; call the one with the number (?P<value>…)"
                yield source.mistake((*loc, "metrics", name, "pattern"), wrong)


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
