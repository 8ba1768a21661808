"""The entries of such a section, with their mistakes, resolved and in their long form."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from orchestrator.catalog.source import Loc, Mistake, Source
from orchestrator.domain import Mode
from orchestrator.matrix.model import Settings, SubjectAxes
from orchestrator.matrix.scripts.section import output_form
from orchestrator.modes import OF_SUBJECTS
from orchestrator.modes.parts.subjects import Subjects


def named(value: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the subjects of every mode that has a section in the text of a matrix."""
    return tuple(name for mode, subjects in OF_SUBJECTS.items() if value.get(mode) for name in subjects.names)


def mistakes(source: Source) -> Iterator[Mistake]:
    """Yield a mistake for each value of an axis that is too large for a subject of its entry."""
    for mode, subjects in OF_SUBJECTS.items():
        section = source.value.get(mode)
        for index, entry in enumerate(section if isinstance(section, list) else ()):
            if isinstance(entry, dict):
                yield from _too_large(source, (mode, index), entry, subjects)


def _too_large(source: Source, loc: Loc, entry: Mapping[str, Any], subjects: Subjects) -> Iterator[Mistake]:
    chosen = [name for name in _listed(entry.get(subjects.kind)) if name in subjects.names] or subjects.names
    for axis in subjects.axes:
        for value in _listed(entry.get(axis.name)):
            excess = [name for name in chosen if isinstance(value, int) and value > axis.most(name)]
            if excess:
                wrong = f"{value:,} is more than the {axis.most(excess[0]):,} that {excess[0]} takes"
                yield source.mistake((*loc, axis.name), wrong)


def resolved(sections: BaseModel, place: Callable[..., str]) -> tuple[SubjectAxes, ...]:
    """Return every entry of the sections, with `place(section, index)` for messages."""
    return tuple(
        _entry(Mode(mode), subjects, entry, place(mode, index))
        for mode, subjects in OF_SUBJECTS.items()
        for index, entry in enumerate(getattr(sections, mode))
    )


def _entry(mode: Mode, subjects: Subjects, entry: Any, place: str) -> SubjectAxes:
    given = {axis.name: getattr(entry, axis.name) for axis in subjects.axes}
    return SubjectAxes(
        mode=mode,
        names=getattr(entry, subjects.kind) or subjects.names,
        axes=tuple((name, values) for name, values in given.items() if values),
        settings=Settings(
            warmup_steps=entry.warmup_steps,
            timeout_s=entry.timeout,
            repeats=entry.repeats,
            output_bytes=entry.output.size if entry.output else None,
            output_files=entry.output.files if entry.output else None,
        ),
        place=place,
    )


def long_form(entries: tuple[SubjectAxes, ...]) -> dict[str, list[dict[str, Any]]]:
    """Return the sections as plain values for YAML, without those that are empty."""
    sections: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        settings = entry.settings
        sections.setdefault(entry.mode.value, []).append({
            OF_SUBJECTS[entry.mode].kind: list(entry.names),
            **{name: list(values) for name, values in entry.axes},
            "warmup_steps": settings.warmup_steps,
            "timeout": settings.timeout_s,
            "repeats": settings.repeats,
            "output": output_form(settings),
        })  # fmt: skip
    return sections


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
