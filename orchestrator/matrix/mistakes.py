"""Sentences with places for what pydantic rejects in the shape of a matrix."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from orchestrator.catalog.source import Loc, Mistake, Source
from orchestrator.errors import did_you_mean, plain_words
from orchestrator.matrix import file
from orchestrator.matrix.studies import shapes
from orchestrator.matrix.subjects.shapes import entry
from orchestrator.matrix.values import kinds
from orchestrator.matrix.values.kinds import shown
from orchestrator.matrix.values.shapes import OutputEntry, SettingsShape, keys_of
from orchestrator.modes import OF_SUBJECTS

MAX_SHOWN = 50
_SHAPES: dict[str, type[BaseModel]] = {
    "systems": file.SystemEntry,
    "frameworks": file.FrameworkEntry,
    "models": file.ModelEntry,
    "scripts": file.ScriptEntry,
    "build": file.BuildEntry,
    "study": shapes.StudyEntry,
    "claims": shapes.ClaimEntry,
    **{mode: entry(mode, subjects, SettingsShape) for mode, subjects in OF_SUBJECTS.items()},
}
_DEEPER: dict[str, type[BaseModel]] = {
    "output": OutputEntry,
    "published": shapes.PublishedEntry,
    "stand_ins": shapes.StandInEntry,
    "left_out": shapes.LeftOutEntry,
}
"""Mappings below another one, by the key that they stand under."""
_EXPECTED = {
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "a word",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_SHORT_FORMS = {
    "frameworks": "a pin such as mxnet==1.9.1",
    "models": "a name such as lenet",
    **{mode: f"a name such as {subjects.names[0]}" for mode, subjects in OF_SUBJECTS.items()},
    "proxy": "a URL",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "below"),
}
_PLAIN = {
    "too_short": "is empty",
    "string_too_short": "is empty",
}
_PATTERNS = {
    kinds.SYSTEM_NAME: "lowercase letters, digits, '_', '-' and '.'",
    kinds.METRIC: "a name of letters, digits, '_', '-' and '.' that begins with a letter",
    kinds.VARIABLE: "the name of an environment variable",
    kinds.DISTRIBUTION: "the name of a Python package",
    kinds.PYTHON: "a Python version such as '3.11'",
    kinds.CUDA: "a release of CUDA such as '10.1'",
    kinds.IMAGE: "an image such as registry.example/torch:2.1",
    kinds.UNIT: "text on one line, without control characters, such as samples/s",
    kinds.ARGUMENT: "text without control characters",
    shapes.LINK: "an address that begins with https:// or http://",
    shapes.LINE: "text on one line, without control characters",
}


def lines(source: Source, mistakes: Iterable[Mistake]) -> list[str]:
    """Return a line for each mistake in the order of the file, at most `MAX_SHOWN` and one for the rest."""
    ordered = sorted(set(mistakes))
    shown = [mistake.at(source.name) for mistake in ordered[:MAX_SHOWN]]
    if len(ordered) > MAX_SHOWN:
        shown.append(f"{source.name}: and {len(ordered) - MAX_SHOWN} more mistakes")
    return shown


def of_shape(
    source: Source, shape: type[BaseModel] = shapes.StudyFile, nested: Mapping[str, type[BaseModel]] = _SHAPES
) -> Iterator[Mistake]:
    """Yield every mistake against `shape`, with `nested` as the shapes below its keys."""
    try:
        shape.model_validate(source.value)
    except ValidationError as error:
        for details in error.errors(include_url=False):
            yield _mistake(source, details, shape, nested)


def _mistake(
    source: Source, details: ErrorDetails, shape: type[BaseModel], nested: Mapping[str, type[BaseModel]]
) -> Mistake:
    loc: Loc = details["loc"]
    kind = details["type"]
    if kind == "extra_forbidden":
        hint = did_you_mean(str(loc[-1]), _keys(loc, shape, nested))
        return source.mistake(loc, f"unknown key {loc[-1]!r}{hint}", key=True)
    if kind == "missing":
        return source.mistake(loc[:-1], f"{loc[-1]!r} is missing")
    if loc and loc[-1] == "[key]":
        return source.mistake(loc[:-1], _sentence(details), key=True)
    return source.mistake(loc, _sentence(details))


def _keys(loc: Loc, shape: type[BaseModel], nested: Mapping[str, type[BaseModel]]) -> list[str]:
    """Return the keys that may stand in place of an unknown one."""
    if loc[0] == "scripts" and "metrics" in loc[:-1]:
        return keys_of(file.MetricEntry)
    for key, deeper in _DEEPER.items():
        if key in loc[:-1]:
            return keys_of(deeper)
    if len(loc) == 1 and shape is shapes.StudyFile:
        return [*keys_of(file.MatrixFile), *shapes.StudyFile.__annotations__]
    below = file.ProxyEntry if "proxy" in loc[:-1] else nested.get(str(loc[0]), shape)
    return keys_of(below if len(loc) > 1 else shape)


def _short_form(loc: Loc) -> str:
    """Return the words for what may stand in place of a mapping, or "" if nothing may."""
    if loc and loc[-1] == "output":
        return ""
    return _SHORT_FORMS.get(str(loc[-1] if "proxy" in loc else loc[0]), "") if loc else ""


def _sentence(details: ErrorDetails) -> str:
    context: dict[str, Any] = details.get("ctx", {})
    kind, value = details["type"], details["input"]
    if kind in {"model_type", "model_attributes_type"} and (short := _short_form(details["loc"])):
        return f"should be {short}, or a mapping, not {shown(value)}"
    if kind in _EXPECTED:
        return f"should be {_EXPECTED[kind]}, not {shown(value)}"
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        return f"should be {words} {context[bound]}, not {shown(value)}"
    if kind in {"enum", "literal_error"}:
        return _no_choice(str(context["expected"]), value)
    if kind == "string_pattern_mismatch":
        wanted = _PATTERNS.get(context["pattern"], "a word of letters, digits, '.', '_', '+' and '-'")
        return f"{shown(value)} should be {wanted}"
    too_long = f"is longer than {context['max_length']:,} characters" if kind == "string_too_long" else ""
    return too_long or _PLAIN.get(kind, plain_words(details["msg"]))


def _no_choice(expected: str, value: object) -> str:
    # Pydantic writes members as code if an enumeration is named in part.
    expected = re.sub(r"<\w+\.\w+: ('[^']*')>", r"\1", expected)
    words = [word.strip(" '") for word in expected.replace(" or ", ",").split(",")]
    hint = did_you_mean(value, words) if isinstance(value, str) else ""
    return f"should be {expected}, not {shown(value)}{hint if 'did you mean' in hint else ''}"


def entries(source: Source, key: str, shape: type[BaseModel]) -> Iterator[tuple[Loc, Any]]:
    """Yield every entry of a list of the file with its place, without the keys that are wrong by themselves."""
    section = source.value.get(key)
    for index, item in enumerate(section if isinstance(section, list) else ()):
        yield from (((key, index), entry) for entry in without_wrong_keys(item, shape))


def named_entries(source: Source, key: str, shape: type[BaseModel]) -> Iterator[tuple[Loc, Any]]:
    """Yield every entry of a mapping of the file with its place, without the keys that are wrong by themselves."""
    section = source.value.get(key)
    for name, item in section.items() if isinstance(section, dict) else ():
        yield from (((key, name), entry) for entry in without_wrong_keys(item, shape))


def without_wrong_keys(item: object, shape: type[BaseModel]) -> Iterator[Any]:
    """Yield an entry without the keys that are wrong by themselves, or nothing if the rest is no entry either."""
    adapter = TypeAdapter(shape)
    try:
        yield adapter.validate_python(item)
    except ValidationError as error:
        wrong = {details["loc"][0] for details in error.errors(include_url=False) if details["loc"]}
        valid = {name: value for name, value in item.items() if name not in wrong} if isinstance(item, dict) else item
        with suppress(ValidationError):
            yield adapter.validate_python(valid)
