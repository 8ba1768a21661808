"""JSON text that is fit for a terminal, a pipe and a file alike, and documents for programs, all in one envelope."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from orchestrator import __version__

_STEERING = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that `json` leaves as they are: delete and the second set of control characters, marks of direction, ends
of lines that are none to JSON, and halves of surrogate pairs, which UTF-8 cannot hold. In JSON they stand inside a
string only."""


def json_text(document: Any, indent: int | None = None) -> str:
    """Encode plain values, other languages readable, whatever could steer a terminal or disguise a line escaped.

    The document means the same to a program. Raises `ValueError` where there is a number that JSON does not know.
    """
    return _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", _encoder(indent).encode(document))


@cache
def _encoder(indent: int | None) -> json.JSONEncoder:
    return json.JSONEncoder(indent=indent, ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True, slots=True)
class DocumentKind:
    """A kind of JSON document, which `orchestrator schema NAME` publishes."""

    name: str
    version: int
    """Rises when a key goes or changes its meaning. A new key leaves it as it is."""
    content: Any
    """The type of `data`. The schema is made from it."""
    mode: Literal["serialization", "validation"] = "serialization"
    """Schema of the values that the type writes, or of those that it reads."""

    @property
    def label(self) -> str:
        """The name with the version, such as `plan/1`."""
        return f"{self.name}/{self.version}"

    def envelope(self, data: Any) -> "Envelope":
        """Put plain values into an envelope."""
        return Envelope(self, (json_text(data, indent=1),))


@dataclass(frozen=True, slots=True)
class Envelope:
    """A document with its kind and the version of the program, as programs read it."""

    kind: DocumentKind
    data: Iterable[str]
    """JSON text in pieces."""

    def texts(self) -> Iterator[str]:
        """Yield the envelope as JSON text in pieces, so that a long document is never whole in memory."""
        yield f'{{\n "schema": {json_text(self.kind.label)},\n "orchestrator": {json_text(__version__)},\n "data": '
        for piece in self.data:
            yield piece.replace("\n", "\n ")
        yield "\n}\n"
