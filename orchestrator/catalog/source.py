"""A YAML file as plain values, with the place of each one, whatever the bytes.

Scalars follow YAML 1.2's core schema: `on` and `yes` are words, `010` is ten, and a number keeps the text it was
written as, so that the version `1.10` does not become 1.1.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from orchestrator.errors import InputError

MAX_BYTES = 256 * 1024
MAX_DEPTH = 24
MAX_VALUES = 50_000
"""Counted after aliases are expanded, as a bomb of a few lines holds billions."""

Loc = tuple[str | int, ...]
"""The location of a value, as keys and indices from the top."""


class WrittenInt(int):
    """An integer that keeps its text."""

    text: str


class WrittenFloat(float):
    """A float that keeps its text."""

    text: str


@dataclass(frozen=True, order=True, slots=True)
class Place:
    """A position in a file, counted from 1."""

    line: int = 1
    column: int = 1


@dataclass(frozen=True, order=True, slots=True)
class Mistake:
    """A mistake at a place, sorted by its place in the file."""

    place: Place
    text: str

    def at(self, name: str) -> str:
        """Return the mistake as one line with the name of the file, its line and its column."""
        return f"{name}:{self.place.line}:{self.place.column}: {_in_one_line(self.text)}"


@dataclass(frozen=True, slots=True)
class Source:
    """A file that could be read, with its values and the mistakes in its YAML beyond syntax."""

    name: str
    """The path as the user wrote it."""
    value: Any
    places: Mapping[Loc, Place] = field(default_factory=dict)
    keys: Mapping[Loc, Place] = field(default_factory=dict)
    """The place of the key itself, for a value under one."""
    mistakes: tuple[Mistake, ...] = ()

    def place(self, loc: Loc) -> Place:
        """Return the place of the value at `loc`, or of the nearest value around it that has a place."""
        while loc and loc not in self.places:
            loc = loc[:-1]
        return self.places.get(loc, Place())

    def mistake(self, loc: Loc, text: str, *, key: bool = False) -> Mistake:
        """Return a mistake in the value at `loc`, or in its `key`, whose text begins with the names on the way."""
        place = self.keys[loc] if key and loc in self.keys else self.place(loc)
        path = _path(loc[:-1] if key else loc)
        return Mistake(place, f"{path}: {text}" if path else text)

    def require_version(self, what: str, newest: int) -> None:
        """Raise `InputError` if the file, which messages call `what`, is no mapping or of a newer version."""
        if not isinstance(self.value, dict):
            raise InputError(f"{self.name}:1:1: {what} is a mapping that begins with `version: {newest}`")
        version = self.value.get("version")
        if isinstance(version, int) and not isinstance(version, bool) and version > newest:
            newer = f"{version} is newer than this orchestrator reads ({newest}): upgrade it"
            raise InputError(self.mistake(("version",), newer).at(self.name))


def _path(loc: Loc) -> str:
    return ".".join(part for part in loc if isinstance(part, str))


def _in_one_line(text: str) -> str:
    """Return the text with characters escaped that break the line or steer a terminal, as a file may hold anything."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def read(path: Path, what: str) -> Source:
    """Read a YAML file, which messages call `what`.

    Raises `InputError` if it cannot be read, is no YAML, or grows beyond reason.
    """
    name = str(path)
    text = _decode(name, _bytes(path, what))
    try:
        node = _Loader(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        raise InputError(_marked(name, error)) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        raise InputError(
            f"{name}:{line}:{column}: not YAML: the character {error.character:#x} is not allowed"
        ) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # The scanner passes on errors of `chr` and `int` too ("\UFFFFFFFF").
        raise InputError(f"{name}:1:1: not YAML: {_first_line(error)}") from None
    if node is None:
        raise InputError(f"{name}:1:1: the file is empty")
    converter = _Converter(name)
    value = converter.convert(node, ())
    return Source(name, value, converter.places, converter.keys, tuple(converter.mistakes))


def _bytes(path: Path, what: str) -> bytes:
    try:
        if path.is_dir():
            raise InputError(f"{path}: is a folder, not a {what}")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: no such {what}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > MAX_BYTES:
        raise InputError(f"{path}: is larger than {MAX_BYTES // 1024} KiB; a {what} of that size is a mistake")
    return content


def _decode(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - (content.rfind(b"\n", 0, error.start) + 1) + 1
        raise InputError(
            f"{name}:{line}:{column}: byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from None


def _marked(name: str, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    place = f"{mark.line + 1}:{mark.column + 1}" if mark else "1:1"
    problem = error.problem or error.context or "not YAML"
    if r"'\t'" in problem:
        problem = "a tab; YAML is indented with spaces only"
    elif error.context:
        problem = f"{problem} ({error.context})"
    return f"{name}:{place}: not YAML: {' '.join(problem.split())}"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


class _Loader(yaml.SafeLoader):
    """A loader that only composes nodes, so that no alias is expanded and nothing is constructed."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            mark = self.get_mark()
            raise yaml.MarkedYAMLError(problem=f"nested deeper than {MAX_DEPTH} levels", problem_mark=mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        """Mark plain scalars, whose type `_plain` decides."""
        del value
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else _TEXT
        return _SEQUENCE if kind is yaml.SequenceNode else _MAPPING


_SURROGATE = re.compile(r"[\ud800-\udfff]")
_NO_CHARACTER = "holds half of a surrogate pair, which is no character; write the character itself"
_PLAIN = "plain"
_TEXT = "tag:yaml.org,2002:str"
_SEQUENCE = "tag:yaml.org,2002:seq"
_MAPPING = "tag:yaml.org,2002:map"
_MERGE = "<<"
_INTEGER = re.compile(r"[-+]?[0-9]{1,30}")
_FLOAT = re.compile(
    r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_CONSTANTS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def _plain(text: str) -> Any:
    """Return a plain scalar by YAML 1.2's core schema, with decimal numbers only.

    The schema is https://yaml.org/spec/1.2.2/#103-core-schema.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    number: WrittenInt | WrittenFloat
    if _INTEGER.fullmatch(text):
        number = WrittenInt(text)
    elif _FLOAT.fullmatch(text):
        number = WrittenFloat(text.replace(".", "") if text[-1] in "fFnN" else text)
    else:
        return text
    number.text = text
    return number


class _Converter:
    """A converter of nodes to values that records places and limits what aliases expand to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.places: dict[Loc, Place] = {}
        self.keys: dict[Loc, Place] = {}
        self.mistakes: list[Mistake] = []

    def convert(self, node: yaml.Node, loc: Loc) -> Any:
        place = _place(node)
        if len(loc) > MAX_DEPTH or len(self.places) >= MAX_VALUES:
            raise InputError(
                f"{self.name}:{place.line}:{place.column}: aliases expand beyond {MAX_VALUES} values or "
                f"{MAX_DEPTH} levels; write the values out"
            )
        self.places[loc] = place
        if node.tag not in (_PLAIN, _TEXT, _SEQUENCE, _MAPPING):
            self._wrong(place, loc, f"tags such as {node.tag.replace('tag:yaml.org,2002:', '!!')!r} mean nothing here")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, loc)
        if isinstance(node, yaml.SequenceNode):
            return [self.convert(item, (*loc, index)) for index, item in enumerate(node.value)]
        if _SURROGATE.search(node.value):
            self._wrong(place, loc, _NO_CHARACTER)
            return ""
        return _plain(node.value) if node.tag == _PLAIN else node.value

    def _mapping(self, node: yaml.MappingNode, loc: Loc) -> dict[str, Any]:
        values: dict[str, Any] = {}
        first: dict[str, Place] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._wrong(_place(key), loc, "a key must be a word, not a list or a mapping")
            elif _SURROGATE.search(key.value):
                self._wrong(_place(key), loc, _NO_CHARACTER)
            elif key.value in first:
                line = first[key.value].line
                self._wrong(_place(key), loc, f"duplicate key {key.value!r}; the first is on line {line}")
            elif not (key.value == _MERGE and key.tag == _PLAIN):
                first[key.value] = self.keys[*loc, key.value] = _place(key)
                values[key.value] = self.convert(value, (*loc, key.value))
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value == _MERGE and key.tag == _PLAIN:
                self._merge(value, values, loc)
        return values

    def _merge(self, node: yaml.Node, values: dict[str, Any], loc: Loc) -> None:
        """Add the keys of a merged mapping (`<<`) that the mapping itself does not set."""
        for source in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if not isinstance(source, yaml.MappingNode):
                self._wrong(_place(source), loc, "'<<' merges a mapping; this is none")
                continue
            for key, value in _scalar_keys(source):
                if key.value == _MERGE:
                    self._wrong(_place(key), loc, "'<<' within a merged mapping; write its keys out")
                elif key.value not in values:
                    self.keys[*loc, key.value] = _place(key)
                    values[key.value] = self.convert(value, (*loc, key.value))

    def _wrong(self, place: Place, loc: Loc, text: str) -> None:
        path = _path(loc)
        self.mistakes.append(Mistake(place, f"{path}: {text}" if path else text))


def _scalar_keys(node: yaml.MappingNode) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
    yield from ((key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode))


def _place(node: yaml.Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)
