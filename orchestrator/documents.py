"""The JSON documents that commands print or write for programs, all in one envelope."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from orchestrator import __version__
from orchestrator.encoded import json_text


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
