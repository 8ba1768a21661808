"""Compare what a command says with what is stored: values one by one, prose byte by byte after reviewed changes."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

Sentences = Sequence[Mapping[str, str]]
"""Reviewed changes of prose: `old` as it is stored, `new` as it is said now."""
MOST_DIFFERENCES = 12
_BLOCKS = {
    "address", "article", "aside", "caption", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption", "figure",
    "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre",
    "section", "summary", "table", "tbody", "thead", "title", "tr", "ul", "body", "label", "option", "select", "button",
}  # fmt: skip
_SHAPES = {"circle", "line", "path", "polygon", "polyline", "rect", "text"}
_GEOMETRY = ("x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "d", "points", "width", "height")


def replaced(text: str, sentences: Sentences) -> str:
    """Stored prose as it would be said now."""
    for each in sentences:
        text = text.replace(each["old"], each["new"])
    return text


def differences(kind: str, stored: str, said: str, sentences: Sentences = ()) -> list[str]:
    """Return what differs, a line each with its place; empty where nothing does."""
    read = _READERS.get(kind)
    if read is None:
        return _of_prose(stored, said, sentences)
    try:
        now = read(said)
    except ValueError as error:
        return [f"is no {kind} any more: {error}"]
    return list(_of_values("", _with(read(stored), sentences), now))


def _of_prose(stored: str, said: str, sentences: Sentences) -> list[str]:
    wanted = replaced(stored, sentences)
    if wanted == said:
        return []
    # A changed sentence may break its lines, and pad the columns of a table, elsewhere.
    if sentences and replaced(_words(stored), sentences) == _words(said):
        return []
    ones, others = wanted.splitlines(), said.splitlines()
    found = [
        f"line {number}:\n    stored: {one!r}\n    said:   {other!r}"
        for number, (one, other) in enumerate(zip(ones, others, strict=False), start=1)
        if one != other
    ]
    if len(ones) != len(others):
        found.append(f"{len(ones)} lines are stored, and {len(others)} are said")
    return found or ["it ends otherwise"]


def _words(text: str) -> str:
    return " ".join(text.split())


def _of_values(place: str, stored: Any, said: Any) -> Iterator[str]:
    """Walk two values; the order of keys counts too."""
    if type(stored) is not type(said):
        yield f"{place or '.'}: {_short(stored)} is stored, and {_short(said)} is said"
    elif isinstance(stored, dict):
        yield from _of_keys(place, stored, said)
        for key in (key for key in stored if key in said):
            yield from _of_values(f"{place}.{key}", stored[key], said[key])
    elif isinstance(stored, list):
        for number, (one, other) in enumerate(zip(stored, said, strict=False)):
            yield from _of_values(f"{place}[{number}]", one, other)
        if len(stored) != len(said):
            yield f"{place}: {len(stored)} entries are stored, and {len(said)} are said"
    elif stored != said:
        yield f"{place or '.'}: {_short(stored)} is stored, and {_short(said)} is said"


def _of_keys(place: str, stored: Mapping[str, Any], said: Mapping[str, Any]) -> Iterator[str]:
    for key in stored.keys() - said.keys():
        yield f"{place}.{key}: is missing; {_short(stored[key])} is stored"
    for key in said.keys() - stored.keys():
        yield f"{place}.{key}: is new: {_short(said[key])}"
    if stored.keys() == said.keys() and list(stored) != list(said):
        yield f"{place or '.'}: the keys are in another order: {list(said)}, and stored {list(stored)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _with(value: Any, sentences: Sentences) -> Any:
    """Values with the reviewed changes in their prose, which has a space in it; keys and single words stay."""
    if isinstance(value, str):
        return replaced(value, sentences) if " " in value else value
    if isinstance(value, list):
        return [_with(each, sentences) for each in value]
    if isinstance(value, dict):
        return {key: _with(each, sentences) for key, each in value.items()}
    return value


def _json(text: str) -> Any:
    def not_finite(constant: str) -> float:
        raise ValueError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=not_finite) if text.strip() else None


def _csv(text: str) -> Any:
    return [list(row) for row in csv.reader(io.StringIO(text))]


def _junit(text: str) -> Any:
    if not text.strip():
        return None

    def plain(element: ET.Element) -> dict[str, Any]:
        return {
            "tag": element.tag,
            "attributes": dict(sorted(element.attrib.items())),
            "text": (element.text or "").strip(),
            "children": [plain(child) for child in element],
        }

    try:
        return plain(ET.fromstring(text))
    except ET.ParseError as error:
        raise ValueError(str(error)) from None


_READERS: Mapping[str, Callable[[str], Any]] = {"json": _json, "csv": _csv, "junit": _junit}


def page_text(page: str) -> str:
    """Return the visible text of a page, a line per block and row of a table, with the shapes of its charts."""
    reader = _Page()
    reader.feed(page)
    reader.close()
    lines = (re.sub(r"\s+", " ", line).strip() for line in "".join(reader.pieces).split("\n"))
    return "".join(f"{line}\n" for line in lines if line)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden = ""
        self._preformatted = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "style" or (tag == "script" and given.get("type") != "application/json"):
            self._hidden = tag
        if tag in _BLOCKS:
            self.pieces.append("\n")
        if tag in {"td", "th"}:
            self.pieces.append(" | ")
        if tag in _SHAPES:
            shape = " ".join(f"{name}={given[name]}" for name in _GEOMETRY if given.get(name))
            self.pieces.append(f"\n<{tag} {shape}> ")
        said = [f"{name}={given[name]}" for name in ("id", "href", "title", "aria-label", "value") if given.get(name)]
        if said:
            self.pieces.append(f" [{' '.join(said)}] ")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._hidden:
            self._hidden = ""
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data)
